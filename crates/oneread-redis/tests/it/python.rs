//! The module driven by redis-py's own clients for RedisBloom.

use std::process::Command;

use super::server::{Server, engines};

#[test]
fn the_python_client_finds_what_it_expects() {
    let python = std::env::var_os("ONEREAD_PYTHON")
        .expect("ONEREAD_PYTHON names no python with the client `redis`: `cargo xtask test` installs one");
    for engine in engines() {
        let server = Server::start(engine, &[]);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients.py");
        for protocol in ["2", "3"] {
            let output = Command::new(&python).args([script, &server.port().to_string(), protocol]).output();
            let output = output.expect("python does not start");
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{engine:?}, RESP{protocol}: {told}");
            let _: String = server.connect().ask("FLUSHALL").expect("an empty server");
        }
    }
}
