//! The tests of datasets that need a server of the S3 protocol, on loopback.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure as require};

use crate::needs::s3_python;
use crate::shell::{cargo, step};

/// Makes the bucket of the tests; the server checks no signatures.
const MAKE_BUCKET: &str = "import sys, urllib.request; \
    urllib.request.urlopen(urllib.request.Request(sys.argv[1] + '/oneread', method='PUT'))";

/// A server of the S3 protocol; ended when dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// The tests of the crate and of the command, with all features: a step of `cargo xtask test --all`.
pub(crate) fn test() -> Result<()> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let server = Command::new(s3_python())
        .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _server = Server(server.context("cannot start the S3 server")?);
    let deadline = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        require!(Instant::now() < deadline, "the S3 server does not start");
        std::thread::sleep(Duration::from_millis(50));
    }
    let url = format!("http://127.0.0.1:{port}");
    step("the bucket", Command::new(s3_python()).args(["-c", MAKE_BUCKET, &url]))?;
    let tests = ["test", "--all-features", "-p", "oneread-dataset", "--", "--include-ignored"];
    step("tests of the crate", cargo(tests).env("ONEREAD_S3", &url))?;
    let tests = ["test", "--all-features", "-p", "oneread-cli", "dataset", "--", "--include-ignored"];
    step("tests of the command", cargo(tests).env("ONEREAD_S3", &url))?;
    let lints = ["clippy", "--all-targets", "--all-features", "-p", "oneread-dataset", "-p", "oneread-cli"];
    step("lints", cargo(lints).args(["--", "-D", "warnings"]))
}
