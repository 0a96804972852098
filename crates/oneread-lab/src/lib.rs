//! The experiments of the papers, run on `oneread` through its public API.
//!
//! A paper makes a claim, often a number. An [`Experiment`] holds what is [`Printed`] and a
//! function that tests it: it calculates with `oneread::plan`, measures the real structures, or
//! does both. It returns a [`Finding`], and one rule, [`verdict::judge`], judges all findings.
//!
//! | module | holds |
//! | --- | --- |
//! | [`experiment`] | experiments, and what they may use: a seed and an effort |
//! | [`printed`] | printed figures, and the values that agree with them |
//! | [`finding`] | findings of experiments, and means of measurements |
//! | [`verdict`] | the rule for verdicts |
//! | [`question`] | open questions of the papers, and their answers |
//! | [`picture`] | numbers with axes, and how they are drawn |
//! | [`digits`] | number formatting |
//! | [`results`] | judged claims, run in parallel, stored in a folder, written as a report |
//! | [`papers`] | the experiments, by paper |
//! | [`questions`] | the open questions, by paper |
//!
//! The only numbers written here are the printed ones and the experiments' parameters.
//!
//! ```
//! use oneread_lab::experiment::{Effort, Run};
//! use oneread_lab::{Paper, Verdict, papers, results};
//!
//! let mut experiments = papers::of(Paper::Lecture);
//! experiments.retain(|experiment| experiment.id() == "lecture/6.4/multi-band-memory");
//! let claims = results::run(&experiments, Run { seed: 1, effort: Effort::Quick }, |_| ());
//! assert_eq!((claims[0].printed.as_str(), claims[0].calculated), ("14 Mb", Some(14.0)));
//! assert_eq!(claims[0].verdict, Verdict::Holds);
//! ```

pub mod digits;
pub mod experiment;
pub mod finding;
mod paper;
pub mod papers;
pub mod picture;
pub mod printed;
pub mod question;
pub mod questions;
pub mod results;
pub mod verdict;

pub use experiment::Experiment;
pub use finding::Finding;
pub use paper::{Paper, UnknownPaper};
pub use printed::Printed;
pub use question::Question;
pub use verdict::Verdict;
