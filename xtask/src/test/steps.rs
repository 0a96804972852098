//! The steps, ordered so that a bad change fails early.

use anyhow::Result;

use super::{Effort, Step, tree, words};
use crate::needs::Need;
use crate::shell::{cargo, step};
use crate::{dataset, fuzz, loom, miri, package, python, redis, report, server, studio};

/// All targets share this time.
const FUZZ_SECONDS: u64 = 60;

/// Cases per property test without `--all`; proptest's default is 256.
const QUICK_CASES: &str = "32";

/// The features of what the quick steps build: all but `dataset`, `cloud` and `parquet` of the
/// command, whose dependencies take longer to compile than all others. The step `dataset` has
/// these.
const LIGHT: [&str; 2] = ["--features", "oneread/serde,oneread-store/tracing"];

/// Part of the name of each test that runs the Python reader.
const PYTHON_TESTS: &str = "python";

pub(super) const STEPS: [Step; 20] = [
    Step {
        name: "tree",
        checks: "no stray files in the root",
        is_quick: true,
        is_aside: false,
        seconds: 0,
        needs: &[],
        run: |_| tree::check(),
    },
    Step {
        name: "words",
        checks: "plain English in Markdown and comments: columns, links, a list of words",
        is_quick: true,
        is_aside: false,
        seconds: 0,
        needs: &[],
        run: |_| words::check(),
    },
    Step {
        name: "formatting",
        checks: "cargo fmt",
        is_quick: true,
        is_aside: false,
        seconds: 1,
        needs: &[Need::Rustfmt],
        run: |_| step("formatting", &mut cargo(["fmt", "--all", "--check"])),
    },
    Step {
        name: "lints",
        checks: "clippy on what users build, warnings are errors",
        is_quick: true,
        is_aside: false,
        seconds: 60,
        needs: &[Need::Clippy],
        run: |_| lints(&LIGHT),
    },
    Step {
        name: "no-std",
        checks: "the library and the study crate without std: lints and build",
        is_quick: true,
        is_aside: false,
        seconds: 25,
        needs: &[Need::Clippy],
        run: |_| {
            // Alone, because features of the other crates would enable std.
            let alone = ["-p", "oneread", "-p", "oneread-study", "--no-default-features"];
            step("lints", cargo(["clippy"]).args(alone).args(["--", "-D", "warnings"]))?;
            // Not optimized: only whether it builds is asked.
            step("build", cargo(["build"]).args(alone).env("CARGO_PROFILE_DEV_OPT_LEVEL", "0"))
        },
    },
    Step {
        name: "docs",
        checks: "rustdoc, warnings are errors",
        is_quick: true,
        is_aside: false,
        seconds: 15,
        needs: &[],
        run: |_| docs(&LIGHT),
    },
    Step {
        name: "tests",
        checks: "unit, integration and doc tests of what users build",
        is_quick: true,
        is_aside: false,
        seconds: 400,
        needs: &[],
        run: tests,
    },
    Step {
        name: "workspace",
        checks: "lints and docs of the benches, the Redis module and the chores; tests of the benches and chores",
        is_quick: false,
        is_aside: false,
        seconds: 180,
        needs: &[Need::Clippy, Need::Libclang],
        run: |_| {
            lints(&["--workspace", "--all-features"])?;
            docs(&["--workspace", "--all-features"])?;
            step("tests", &mut cargo(["test", "--quiet", "-p", "oneread-bench", "-p", "xtask"]))
        },
    },
    Step {
        name: "long",
        checks: "long tests: statistics, crashes, killed processes, full disks, forged files",
        is_quick: false,
        is_aside: true,
        seconds: 1000,
        needs: &[],
        run: |_| {
            // The `long` profile is optimized and keeps the checks of debug builds.
            let long = ["test", "--profile", "long", "--lib", "--bins", "--tests"];
            step("long tests", cargo(long).args(LIGHT).args(["--", "--ignored", "--skip", PYTHON_TESTS]))
        },
    },
    Step {
        name: "python",
        checks: "saved files, read by a Python program written from docs/format.md",
        is_quick: false,
        is_aside: false,
        seconds: 60,
        needs: &[Need::Python],
        run: |_| {
            let tests = ["test", "--all-features", "-p", "oneread", "--test", "structures", "--"];
            step("the reader", cargo(tests).args([PYTHON_TESTS, "--ignored"]))
        },
    },
    Step {
        name: "python-package",
        checks: "the package for Python: built, installed and tested",
        is_quick: false,
        is_aside: false,
        seconds: 150,
        needs: &[Need::Python, Need::PythonPackages],
        run: |_| python::test(),
    },
    Step {
        name: "dataset",
        checks: "datasets: the crate and its command with all features, and a server of the S3 protocol",
        is_quick: false,
        is_aside: false,
        seconds: 400,
        needs: &[Need::Python, Need::S3Server],
        run: |_| dataset::test(),
    },
    Step {
        name: "redis",
        checks: "the module in real servers of Redis and Valkey",
        is_quick: false,
        is_aside: false,
        seconds: 150,
        needs: &[Need::Python, Need::Libclang, Need::Redis, Need::RedisClients],
        run: |_| redis::test(),
    },
    Step {
        name: "server",
        checks: "the server on loopback: clients, hot swaps, hostile and slow ones",
        is_quick: false,
        is_aside: false,
        seconds: 180,
        needs: &[Need::Python, Need::Redis, Need::RedisClients],
        run: |_| server::test(),
    },
    Step {
        name: "report",
        checks: "the report of the papers' claims in a browser",
        is_quick: false,
        is_aside: false,
        seconds: 90,
        needs: &[Need::Chromium],
        run: |_| report::run(),
    },
    Step {
        name: "studio",
        checks: "the planner's pages in a browser, and a thousand questions beside the command",
        is_quick: false,
        is_aside: false,
        seconds: 150,
        needs: &[Need::Chromium, Need::Chromedriver, Need::Axe],
        run: |_| studio::run(),
    },
    Step {
        name: "loom",
        checks: "every interleaving of two threads in a tiny filter",
        is_quick: false,
        is_aside: false,
        seconds: 80,
        needs: &[],
        run: |_| loom::run(),
    },
    Step {
        name: "miri",
        checks: "undefined behaviour in all unsafe code",
        is_quick: false,
        is_aside: true,
        seconds: 420,
        needs: &[Need::Nightly, Need::Miri],
        run: |_| miri::subset(),
    },
    Step {
        name: "fuzz",
        checks: "a minute of fuzzing, shared by all targets",
        is_quick: false,
        is_aside: false,
        seconds: 180,
        needs: &[Need::Nightly, Need::CargoFuzz],
        run: |_| fuzz::share(FUZZ_SECONDS),
    },
    Step {
        name: "package",
        checks: "cargo package of every crate that is published",
        is_quick: false,
        is_aside: false,
        seconds: 120,
        needs: &[],
        run: |_| package::run(),
    },
];

fn tests(effort: Effort) -> Result<()> {
    let mut tests = cargo(["test"]);
    tests.args(LIGHT);
    if effort == Effort::Quick {
        tests.env("PROPTEST_CASES", QUICK_CASES);
    }
    step("tests", &mut tests)
}

fn lints(what: &[&str]) -> Result<()> {
    step("lints", cargo(["clippy", "--all-targets"]).args(what).args(["--", "-D", "warnings"]))
}

fn docs(what: &[&str]) -> Result<()> {
    let mut docs = cargo(["doc", "--no-deps"]);
    step("docs", docs.args(what).env("RUSTDOCFLAGS", "-D warnings"))
}
