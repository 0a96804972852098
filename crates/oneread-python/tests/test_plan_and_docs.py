"""The planner, the docstrings and the guide."""

import dataclasses
import doctest
import pathlib
import re

import pytest

import oneread
from oneread import plan

ROOT = pathlib.Path(__file__).parents[3]


def test_plans():
    best = plan.filter(items=10**6, rate=0.001, remove=True)
    assert best.structure == "LineFilter" and best.rate <= 0.001
    assert abs(best.bits_per_key - best.bits / best.items) < 1e-9
    seen = getattr(oneread, best.structure)(10**6, 0.001)
    assert abs(seen.bits - best.bits) < 0.01 * best.bits
    assert "LineFilter" in best._repr_html_() and "1,000,000" in best._repr_html_()
    with pytest.raises(dataclasses.FrozenInstanceError):
        best.items = 1
    store = plan.store(items=10**6, ram_bytes=2 * 10**6)
    assert store.reads_per_miss <= 0.01 and store.ram_bytes < 1_200_000
    for wrong in [{"rate": float("nan")}, {"rate": 2.0}, {}, {"rate": 0.01, "max_bytes": 10}]:
        with pytest.raises(ValueError):
            plan.filter(items=10**6, **wrong)
    with pytest.raises(ValueError):
        plan.store(items=0)


def test_docstrings():
    finder, runner = doctest.DocTestFinder(exclude_empty=True), doctest.DocTestRunner()
    modules = [oneread, plan]
    objects = {getattr(oneread, name) for name in oneread.__all__ if name != "plan"}
    tests = [test for module in modules for test in finder.find(module)]
    tests += [test for thing in objects for test in finder.find(thing, thing.__name__, globs={})]
    for test in tests:
        runner.run(test)
    assert runner.tries > 30 and runner.failures == 0


@pytest.mark.parametrize("page", ["docs/guide/python.md", "crates/oneread-python/README.md"])
def test_the_blocks_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
