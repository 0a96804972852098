mod blocked;
mod bloom;
mod count_min;
mod counting;
mod error;
mod growing;
