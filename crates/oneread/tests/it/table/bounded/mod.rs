//! The bounded map: against a model, under churn, with keys that panic, and its own features.

// Many millions of steps.
#[cfg(not(miri))]
mod churn;
mod model;
mod panics;
mod surface;
