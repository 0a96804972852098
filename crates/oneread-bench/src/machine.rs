//! Records where the numbers come from: machine, compiler, commit.

use std::process::Command;

use serde::Serialize;

/// Printed with every table.
#[derive(Serialize)]
pub(crate) struct Machine {
    processor: String,
    cores: usize,
    compiler: String,
    commit: String,
}

impl Machine {
    pub(crate) fn look() -> Self {
        Self {
            processor: processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            compiler: output("rustc", &["--version"]).unwrap_or_else(|| "unknown compiler".to_owned()),
            commit: commit().unwrap_or_else(|| "unknown commit".to_owned()),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {} cores; {}; commit {}", self.processor, self.cores, self.compiler, self.commit)
    }
}

fn processor() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let field = |name: &str| {
        info.lines()
            .find(|line| line.starts_with(name))
            .and_then(|line| line.split(':').nth(1))
            .map(str::trim)
    };
    let model = field("model name")?;
    // Some hypervisors hide the model's name, but not the family and model numbers.
    Some(match (field("cpu family"), field("model\t")) {
        (Some(family), Some(number)) => format!("{model} (family {family}, model {number})"),
        _ => model.to_owned(),
    })
}

fn commit() -> Option<String> {
    let hash = output("git", &["rev-parse", "--short", "HEAD"])?;
    let changed = output("git", &["status", "--porcelain"]).is_some_and(|status| !status.is_empty());
    Some(if changed { format!("{hash} with changes") } else { hash })
}

fn output(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
