//! A server for a test.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use redis::{Connection, FromRedisValue, RedisResult, ToRedisArgs};
use tempfile::TempDir;

/// Which program serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Redis,
    Valkey,
}

impl Engine {
    /// Debian's Redis, or the Valkey of the Python package; `cargo xtask test` sets its path.
    fn program(self) -> PathBuf {
        match self {
            Self::Redis => "redis-server".into(),
            Self::Valkey => std::env::var_os("ONEREAD_VALKEY_SERVER")
                .expect("ONEREAD_VALKEY_SERVER names no valkey-server: `cargo xtask test` installs one")
                .into(),
        }
    }
}

/// The engines to test with; Valkey only where it is installed, as by `cargo xtask test`.
pub(crate) fn engines() -> Vec<Engine> {
    let mut engines = vec![Engine::Redis];
    engines.extend(std::env::var_os("ONEREAD_VALKEY_SERVER").map(|_| Engine::Valkey));
    engines
}

/// The module, which cargo builds beside the test.
pub(crate) fn module() -> PathBuf {
    let test = std::env::current_exe().expect("the test is a file");
    let module = test.with_file_name("liboneread_redis.so");
    assert!(module.exists(), "{} is missing: cargo builds it with the test", module.display());
    module
}

/// A server with the module, in its own folder; killed when dropped.
pub(crate) struct Server {
    engine: Engine,
    arguments: Vec<String>,
    folder: TempDir,
    port: u16,
    child: Option<Child>,
    /// The limit on the program's address space.
    most_kibibytes: Option<u64>,
}

impl Server {
    /// Starts a server with additional arguments.
    pub(crate) fn start(engine: Engine, arguments: &[&str]) -> Self {
        Self::start_with_module(engine, arguments, &[])
    }

    /// Like [`start`](Self::start), with arguments for the module.
    pub(crate) fn start_with_module(engine: Engine, arguments: &[&str], of_module: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut all: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        all.push("--loadmodule".into());
        all.push(module().display().to_string());
        all.extend(of_module.iter().map(|&argument| argument.to_owned()));
        let mut server =
            Self { engine, arguments: all, folder, port: free_port(), child: None, most_kibibytes: None };
        server.spawn();
        server
    }

    /// Restarts the server in the same folder with at most `most_kibibytes` of address space.
    pub(crate) fn restart_limited(&mut self, most_kibibytes: u64) {
        self.kill();
        self.most_kibibytes = Some(most_kibibytes);
        self.spawn();
    }

    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// The process number of the program.
    pub(crate) fn process(&self) -> u32 {
        self.child.as_ref().expect("a program that runs").id()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn command(&self) -> Command {
        let log = std::fs::File::options().create(true).append(true).open(self.folder.path().join("log"));
        let log = log.expect("a log");
        let mut command = match self.most_kibibytes {
            None => Command::new(self.engine.program()),
            Some(most) => {
                let mut command = Command::new("sh");
                command.args(["-c", "ulimit -v $0; exec \"$@\"", &most.to_string()]);
                command.arg(self.engine.program());
                command
            }
        };
        command
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--enable-debug-command", "yes", "--dir"])
            .arg(self.folder.path())
            .args(&self.arguments)
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .stdin(Stdio::null());
        command
    }

    /// Starts the program on the files in the folder.
    pub(crate) fn spawn(&mut self) {
        let spawned = self.command().spawn();
        self.child = Some(spawned.unwrap_or_else(|error| {
            panic!(
                "{} does not start ({error}): `cargo xtask test` installs it",
                self.engine.program().display()
            )
        }));
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            if let Ok(mut connection) = self.try_connect()
                && redis::cmd("PING").query::<String>(&mut connection).is_ok()
            {
                return;
            }
            let ended = self.child.as_mut().and_then(|child| child.try_wait().ok()).flatten();
            assert!(
                ended.is_none() && Instant::now() < deadline,
                "the server does not serve:\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Starts the program and returns its log if it exits by itself within some seconds.
    pub(crate) fn refuses(engine: Engine, arguments: &[&str], of_module: &[&str]) -> String {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut all: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        all.push("--loadmodule".into());
        all.push(module().display().to_string());
        all.extend(of_module.iter().map(|&argument| argument.to_owned()));
        let server =
            Self { engine, arguments: all, folder, port: free_port(), child: None, most_kibibytes: None };
        let mut child = server.command().spawn().expect("a server");
        let deadline = Instant::now() + Duration::from_secs(120);
        while Instant::now() < deadline {
            if child.try_wait().expect("a child").is_some() {
                return server.log();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        _ = child.kill();
        _ = child.wait();
        panic!("the server goes on:\n{}", server.log());
    }

    /// Kills it with SIGKILL.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            _ = child.kill();
            _ = child.wait();
        }
    }

    fn try_connect(&self) -> RedisResult<Connection> {
        redis::Client::open(("127.0.0.1", self.port))?.get_connection_with_timeout(Duration::from_secs(60))
    }

    pub(crate) fn connect(&self) -> Client {
        Client(self.try_connect().expect("a connection"))
    }

    /// A connection that speaks RESP3.
    pub(crate) fn connect_resp3(&self) -> Client {
        let mut client = self.connect();
        let _: redis::Value = client.call("HELLO", &["3"]).expect("RESP3");
        client
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_port() -> u16 {
    // A cluster's bus uses the port plus 10,000.
    loop {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = port.expect("a free port").port();
        if port < 50_000 {
            return port;
        }
    }
}

/// A connection that sends commands as one line.
pub(crate) struct Client(Connection);

impl Client {
    pub(crate) fn call<T: FromRedisValue>(
        &mut self,
        command: &str,
        arguments: &[impl ToRedisArgs],
    ) -> RedisResult<T> {
        let mut call = redis::cmd(command);
        for argument in arguments {
            call.arg(argument);
        }
        call.query(&mut self.0)
    }

    /// Sends a line, split into words, as a command.
    pub(crate) fn ask<T: FromRedisValue>(&mut self, line: &str) -> RedisResult<T> {
        let mut words = line.split_whitespace();
        let command = words.next().expect("a command");
        self.call(command, &words.collect::<Vec<_>>())
    }

    /// Checks the reply of a command.
    #[track_caller]
    pub(crate) fn expect<T: FromRedisValue + PartialEq + std::fmt::Debug>(
        &mut self,
        line: &str,
        expected: T,
    ) {
        assert_eq!(self.ask::<T>(line).unwrap_or_else(|error| panic!("{line}: {error}")), expected, "{line}");
    }

    /// Checks the words of a command's error.
    #[track_caller]
    pub(crate) fn expect_error(&mut self, line: &str, words: &str) {
        let error = self.ask::<redis::Value>(line).expect_err(line);
        // The client parses the first word as a code, and sets it off with quotes and a colon.
        let plain = |text: &str| text.replace(['"', ':'], "");
        let found = error.to_string();
        assert!(plain(&found).contains(&plain(words)), "{line}: {found:?} does not say {words:?}");
    }

    /// Fields of a reply, which RESP2 sends as a flat array.
    pub(crate) fn fields(&mut self, line: &str) -> std::collections::HashMap<String, redis::Value> {
        self.ask(line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.0
    }
}
