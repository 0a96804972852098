//! The planner's numbers; `python/oneread/plan.py` makes dataclasses of them.

use oneread::plan::solve::{self, FilterTargets, Needs, Unsolved};
use oneread_store::plan::{StoreTargets, solve as solve_store};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

fn unsolved(error: Unsolved) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The smallest filter for a rate, or the one with the lowest rate in some bytes.
#[pyfunction]
#[pyo3(signature = (items, rate, max_bytes, remove, growth, threads, one_line, one_page))]
#[expect(clippy::too_many_arguments, reason = "plan.py names them")]
pub(crate) fn plan_filter<'py>(
    py: Python<'py>,
    items: u64,
    rate: Option<f64>,
    max_bytes: Option<u64>,
    remove: bool,
    growth: bool,
    threads: bool,
    one_line: bool,
    one_page: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let needs = Needs { delete: remove, growth, threads, one_line, one_page };
    let solve = || {
        let rate = match (rate, max_bytes) {
            (Some(rate), _) => rate,
            (None, Some(bytes)) => solve::lowest_rate(items, needs, bytes).map_err(unsolved)?,
            (None, None) => return Err(PyValueError::new_err("give a rate or max_bytes")),
        };
        let targets = FilterTargets { items, rate, needs, bytes: max_bytes };
        Ok(solve::filter(&targets).map_err(unsolved)?.best)
    };
    let best = py.detach(solve)?;
    let plan = PyDict::new(py);
    plan.set_item("structure", best.structure)?;
    plan.set_item("items", best.items)?;
    plan.set_item("rate", best.false_positive)?;
    plan.set_item("bits", best.bits)?;
    plan.set_item("bits_per_key", best.bits_per_key())?;
    plan.set_item("bits_over_optimum", best.bits_over_optimum())?;
    plan.set_item("lines_per_hit", best.lines_per_hit)?;
    plan.set_item("lines_per_miss", best.lines_per_miss)?;
    Ok(plan)
}

/// The smallest store for its targets.
#[pyfunction]
pub(crate) fn plan_store<'py>(
    py: Python<'py>,
    items: u64,
    key_bytes: u64,
    value_bytes: u64,
    reads_per_miss: f64,
    ram_bytes: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let targets = StoreTargets { items, key_bytes, value_bytes, reads_per_miss, ram_bytes };
    let best = py.detach(|| solve_store(&targets)).map_err(unsolved)?.best;
    let plan = PyDict::new(py);
    plan.set_item("items", best.items)?;
    plan.set_item("page_records", best.page_records)?;
    plan.set_item("reads_per_hit", best.reads_per_hit)?;
    plan.set_item("reads_per_miss", best.plan.reads_per_miss())?;
    plan.set_item("ram_bytes", best.ram_bytes)?;
    plan.set_item("ram_bytes_per_key", best.ram_bytes as f64 / best.items as f64)?;
    plan.set_item("disk_bytes", best.disk_bytes)?;
    plan.set_item("utilisation", best.utilisation)?;
    Ok(plan)
}
