//! Drives `oneread studio` in a browser: fills forms, drags a bar, compares the answers with the
//! command's, and looks at every page in three widths and two themes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure as require};

use crate::needs::axe;
use crate::shell::{cargo, root, step};

/// A program that is ended when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

pub(crate) fn run() -> Result<()> {
    let with = ["-p", "oneread-server", "-p", "oneread-cli", "--features", "oneread-cli/server"];
    step("tests of the pages", cargo(["test", "--quiet"]).args(with).args(["--test", "studio"]))?;
    let beside = ["--test", "it", "studio", "--", "--include-ignored"];
    step("tests beside the command", cargo(["test", "--quiet"]).args(with).args(beside))?;
    step("the command", cargo(["build", "--quiet"]).args(with))?;
    let command = root().join("target/debug/oneread");
    let mut studio = Running(
        Command::new(&command)
            .args(["studio", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the studio")?,
    );
    let mut line = String::new();
    BufReader::new(studio.0.stdout.take().context("it has no output")?).read_line(&mut line)?;
    let address = line.split_whitespace().find_map(|word| word.strip_suffix("/;"));
    let address = address.with_context(|| format!("the studio does not say its address: {line}"))?;

    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let driver = Command::new("chromedriver")
        .arg(format!("--port={port}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _driver = Running(driver.context("cannot start chromedriver")?);
    let deadline = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        require!(Instant::now() < deadline, "chromedriver does not start");
        std::thread::sleep(Duration::from_millis(50));
    }
    let shots = root().join("target/studio");
    fs::create_dir_all(&shots)?;
    let mut browser = Command::new("node");
    browser
        .arg(root().join("xtask/src/studio.mjs"))
        .env("STUDIO", address)
        .env("DRIVER", format!("http://127.0.0.1:{port}"))
        .env("ONEREAD", &command)
        .env("AXE", axe())
        .env("OUT", &shots);
    step("the browser", &mut browser)
}
