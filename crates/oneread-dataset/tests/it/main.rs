//! The tests of datasets, against stores that count, fail, delay and damage.

mod bad;
mod build;
mod common;
mod faults;
mod golden;
mod http;
mod probe;
mod publish;
mod races;
mod requests;
mod s3;
mod versions;
