//! The questions of `oneread plan` and `oneread simulate`, and their answers.
//!
//! The command prints them and the studio shows them: both parse the same flags, and call the same
//! functions. So a page of the studio has the digits of a command line.
//!
//! | item | is |
//! | --- | --- |
//! | [`Question`], [`Answer`] | a subcommand of `oneread plan` with its flags, and what it prints |
//! | [`Simulated`] | a subcommand of `oneread simulate` with its flags |
//! | [`Report`], [`Document`] | named numbers, for people and for programs |
//! | [`fields`] | questions made of the fields of a form |
//! | [`peers`] | what other libraries build for a request |
//! | [`parse`] | numbers with units |

mod args;
mod document;
pub mod fields;
pub mod peers;
mod plan;
mod report;
mod simulate;

pub use args::parse;
pub use document::{Align, Document, table};
pub use plan::{Answer, Question};
pub use report::{Report, Shown};
pub use simulate::{Outcome, Simulated};
