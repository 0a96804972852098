//! Filters built offline, from all keys at once.

mod balance;

pub use balance::{Balance, BalanceError, insert_balanced};
