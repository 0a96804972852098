//! What filters could gain from knowing all keys beforehand.

mod balance;

pub use balance::{Balance, BalanceError, insert_balanced};
