//! Datasets: the tests that need a server of the S3 protocol on loopback, and measurements.

use std::io::{BufWriter, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::needs::{Need, s3_python};
use crate::shell::{cargo, root, step};
use anyhow::{Context, Result, ensure as require};

/// Makes the bucket of the tests.
const MAKE_BUCKET: &str = "import boto3, sys; boto3.client('s3', endpoint_url=sys.argv[1], region_name='us-east-1', \
    aws_access_key_id='test', aws_secret_access_key='test').create_bucket(Bucket='oneread')";

/// A server of the S3 protocol; ended when dropped.
struct Server {
    process: Child,
    url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

impl Server {
    /// Starts it, with the bucket of the tests.
    fn start() -> Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let process = Command::new(s3_python())
            .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let process = process.context("cannot start the S3 server")?;
        let server = Self { process, url: format!("http://127.0.0.1:{port}") };
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            require!(Instant::now() < deadline, "the S3 server does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        step("the bucket", Command::new(s3_python()).args(["-c", MAKE_BUCKET, &server.url]))?;
        Ok(server)
    }
}

/// The tests of the crate and of the command, with all features: a step of `cargo xtask test
/// --all`.
pub(crate) fn test() -> Result<()> {
    let server = Server::start()?;
    let tests = ["test", "--all-features", "-p", "oneread-dataset", "--", "--include-ignored"];
    step("tests of the crate", cargo(tests).env("ONEREAD_S3", &server.url))?;
    let tests = ["test", "--all-features", "-p", "oneread-cli", "dataset", "--", "--include-ignored"];
    step("tests of the command", cargo(tests).env("ONEREAD_S3", &server.url))?;
    let lints = ["clippy", "--all-targets", "--all-features", "-p", "oneread-dataset", "-p", "oneread-cli"];
    step("lints", cargo(lints).args(["--", "-D", "warnings"]))
}

/// The command under measurement.
struct Oneread {
    program: PathBuf,
    /// The folder of datasets and temporary files.
    folder: PathBuf,
    server: String,
}

/// What a build used.
struct Built {
    seconds: f64,
    peak_mib: Option<f64>,
}

impl Oneread {
    fn command(&self, args: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("dataset").args(args.split_whitespace()).current_dir(&self.folder);
        command
            .env("AWS_ENDPOINT", &self.server)
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_REGION", "us-east-1");
        command.env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test");
        command
    }

    /// Builds a dataset of numbers with names, from rows on stdin.
    fn build(&self, url: &str, keys: u64, args: &str) -> Result<Built> {
        eprintln!("building {url}: {keys} keys");
        let args = format!("build {url} - --format csv --key id --temporary . --publish --json {args}");
        let mut command = self.command(&args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let status = PathBuf::from(format!("/proc/{}/status", child.id()));
        let mut rows = BufWriter::with_capacity(1 << 20, child.stdin.take().context("stdin is piped")?);
        writeln!(rows, "id,name,score")?;
        let start = Instant::now();
        let watched = std::thread::spawn(move || {
            let mut peak = None;
            // Until the process ends, whose peak only grows.
            while let Some(now) = peak_mib(&status) {
                peak = Some(now);
                std::thread::sleep(Duration::from_millis(100));
            }
            peak
        });
        for number in 0..keys {
            writeln!(rows, "{number},name of {number},{}", number % 1000)?;
        }
        drop(rows);
        let output = child.wait_with_output()?;
        require!(output.status.success(), "the build failed");
        let seconds = start.elapsed().as_secs_f64();
        let report = Report(String::from_utf8(output.stdout)?);
        require!(report.number("items") == keys as f64, "the build lost keys: {}", report.0);
        Ok(Built { seconds, peak_mib: watched.join().ok().flatten() })
    }

    fn bench(&self, url: &str, lookups: u64) -> Result<Report> {
        let output = self.command(&format!("bench {url} --lookups {lookups} --json")).output()?;
        require!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(Report(String::from_utf8(output.stdout)?))
    }
}

/// A JSON document that the command prints, with a field on each line.
struct Report(String);

impl Report {
    fn number(&self, field: &str) -> f64 {
        let name = format!("\"{field}\": ");
        let found = self
            .0
            .lines()
            .find_map(|line| line.trim().strip_prefix(&name)?.trim_end_matches(',').parse().ok());
        found.unwrap_or(f64::NAN)
    }
}

/// A folder that is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(path: PathBuf) -> Result<Self> {
        _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The peak memory of a process that runs, on Linux.
fn peak_mib(status: &Path) -> Option<f64> {
    let status = std::fs::read_to_string(status).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}

/// What the page says about its figures.
const NOTE: &str = "The process of each build is the whole command, whose peak memory Linux tells; the writer\n\
    of a shard has 128 MiB for its records. In a folder a lookup reads a file in one step, where\n\
    `object_store` takes two.";

/// `cargo xtask bench dataset`: prints a page of `docs/measured`.
pub(crate) fn bench(is_quick: bool) -> Result<()> {
    Need::Python.ensure("bench dataset")?;
    Need::S3Server.ensure("bench dataset")?;
    let keys: u64 = if is_quick { 1_000_000 } else { 100_000_000 };
    step("the command", &mut cargo(["build", "--release", "-p", "oneread-cli", "--features", "cloud"]))?;
    let server = Server::start()?;
    let folder = Folder::new(root().join("target/dataset-bench"))?;
    let oneread = Oneread {
        program: root().join("target/release/oneread"),
        folder: folder.0.clone(),
        server: server.url.clone(),
    };
    let large = oneread.build("large", keys, "--shards 64")?;
    let in_large = oneread.bench("large", 100_000)?;
    std::fs::remove_dir_all(folder.0.join("large"))?;
    let writer = oneread.build("shard", keys / 64, "--shards 1")?;
    oneread.build("less", 1_000_000, "--shards 8 --rate 0.1")?;
    let less = oneread.bench("less", 20_000)?;
    oneread.build("s3://oneread/set", 100_000, "--shards 8")?;
    let s3 = oneread.bench("s3://oneread/set", 5_000)?;

    let commit = Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(root()).output()?;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let peak = |built: &Built| built.peak_mib.map_or("not known".to_owned(), |peak| format!("{peak:.0} MiB"));
    println!("## dataset: builds, requests and memory of datasets\n");
    println!("{cpus} cores; commit {}. {NOTE}\n", String::from_utf8_lossy(&commit.stdout).trim());
    println!("| build | time | peak memory |\n| --- | --- | --- |");
    println!("| {keys} keys in 64 shards, one process | {:.0} s | {} |", large.seconds, peak(&large));
    println!("| the writer of one such shard | {:.1} s | {} |\n", writer.seconds, peak(&writer));
    println!(
        "| dataset | GETs per hit | GETs per miss | RAM bytes per key | `get_many`, GETs per second | raw, GETs per \
         second | ratio |\n| --- | --- | --- | --- | --- | --- | --- |"
    );
    for (name, found) in [
        (format!("{keys} keys in a folder"), in_large),
        ("1000000 keys in a folder, `--rate 0.1`".to_owned(), less),
        ("100000 keys in moto, an S3 server in Python".to_owned(), s3),
    ] {
        let number = |field: &str| found.number(field);
        println!(
            "| {name} | {:.3} | {:.4} | {:.3} | {:.0} | {:.0} | {:.2} |",
            number("requests_per_hit"),
            number("requests_per_miss"),
            number("ram_bytes_per_key"),
            number("many_requests_per_second"),
            number("raw_requests_per_second"),
            number("ratio_to_raw"),
        );
    }
    Ok(())
}
