//! Questions made of the fields of a form: each field is a flag.
//!
//! Fields come from strangers. Only flags that change numbers are taken, none that names a file, so
//! that a form can read and write nothing.

use anyhow::{Result, anyhow, bail, ensure};
use clap::{ArgAction, Args, FromArgMatches};

use crate::{Question, Simulated};

/// Flags of a command that are no fields: they name files, or print something else.
const NOT_FIELDS: [&str; 7] = ["json", "sweep", "log", "layout", "layout-out", "plot", "help"];

/// The most fields of a form, and the most bytes of each.
const MAX_FIELDS: usize = 64;
const MAX_BYTES: usize = 2048;

/// A question, and the words of the command line that asks it.
#[derive(Debug)]
pub struct Asked<Q> {
    /// The question.
    pub question: Q,
    /// The words after `oneread`: `plan`, `bloom`, `--items`, `1e6`.
    pub words: Vec<String>,
}

/// Asks the planner: `subcommand` has the words after `oneread plan`.
///
/// # Errors
/// If there is no such subcommand, or a field is no flag of it, or its value is none: a sentence.
pub fn plan(subcommand: &[&str], fields: &[(String, String)]) -> Result<Asked<Question>> {
    asked("plan", subcommand, fields)
}

/// Asks the simulator: `subcommand` has the words after `oneread simulate`.
///
/// # Errors
/// As [`plan`].
pub fn simulate(subcommand: &[&str], fields: &[(String, String)]) -> Result<Asked<Simulated>> {
    asked("simulate", subcommand, fields)
}

fn asked<Q: Args + FromArgMatches>(
    name: &'static str,
    subcommand: &[&str],
    fields: &[(String, String)],
) -> Result<Asked<Q>> {
    let command = Q::augment_args(clap::Command::new(name).no_binary_name(true));
    let mut words: Vec<String> = subcommand.iter().map(|word| (*word).to_owned()).collect();
    words.extend(flags(&command, subcommand, fields)?);
    let question = command
        .try_get_matches_from(&words)
        .and_then(|matches| Q::from_arg_matches(&matches))
        .map_err(|error| anyhow!("{}", sentence(&error)))?;
    words.insert(0, name.to_owned());
    Ok(Asked { question, words })
}

/// The flags that fields stand for.
fn flags(command: &clap::Command, subcommand: &[&str], fields: &[(String, String)]) -> Result<Vec<String>> {
    let mut leaf = command;
    for word in subcommand {
        let found = leaf.get_subcommands().find(|command| command.get_name() == *word);
        leaf = found.ok_or_else(|| anyhow!("there is nothing to {} about {word:?}", command.get_name()))?;
    }
    ensure!(
        !leaf.has_subcommands(),
        "{} of what? See `oneread {} --help`",
        leaf.get_name(),
        command.get_name()
    );
    ensure!(fields.len() <= MAX_FIELDS, "expected at most {MAX_FIELDS} fields, found {}", fields.len());
    let is_plan = command.get_name() == "plan";
    let mut words = Vec::new();
    for (name, value) in fields {
        ensure!(value.len() <= MAX_BYTES, "expected at most {MAX_BYTES} bytes for a field");
        let long = name.replace('_', "-");
        let is_named = |arg: &&clap::Arg| {
            arg.get_long() == Some(&long)
                || arg.get_visible_aliases().is_some_and(|names| names.contains(&&*long))
        };
        let arg = leaf.get_arguments().find(is_named);
        let is_output = NOT_FIELDS.contains(&&*long) || (is_plan && long == "steps");
        let Some(arg) = arg.filter(|_| !is_output) else {
            bail!(
                "there is no field {name:?}: see `oneread {} {} --help`",
                command.get_name(),
                subcommand.join(" ")
            );
        };
        match (arg.get_action(), value.trim()) {
            (_, "") => {}
            (ArgAction::SetTrue, "on" | "true" | "yes" | "1") => words.push(format!("--{long}")),
            (ArgAction::SetTrue, "off" | "false" | "no" | "0") => {}
            (ArgAction::SetTrue, other) => bail!("{name}: expected on or off, found {other:?}"),
            // A value that looks like a flag is still one.
            (_, value) if value.starts_with('-') => words.push(format!("--{long}={value}")),
            (_, value) => words.extend([format!("--{long}"), value.to_owned()]),
        }
    }
    Ok(words)
}

/// The first sentence of an error, without suggestions and usage.
fn sentence(error: &clap::Error) -> String {
    let message = error.render().to_string();
    let sentence = message.split("\n\n").next().unwrap_or_default();
    let sentence: Vec<_> = sentence.lines().map(str::trim).collect();
    sentence.join(" ").trim_start_matches("error: ").to_owned()
}

/// The command line of some words, quoted for a shell.
#[must_use]
pub fn command_line(words: &[String]) -> String {
    let mut line = "oneread".to_owned();
    for word in words {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.,:+=/@%-".contains(&byte);
        if !word.is_empty() && word.bytes().all(is_plain) {
            line += &format!(" {word}");
        } else {
            line += &format!(" '{}'", word.replace('\'', "'\\''"));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn fields_are_flags() {
        let fields = pairs(&[
            ("items", "1e6"),
            ("rate", " 0.01"),
            ("delete", "on"),
            ("threads", "off"),
            ("bytes", ""),
        ]);
        let asked = plan(&["solve", "filter"], &fields).unwrap();
        assert_eq!(command_line(&asked.words), "oneread plan solve filter --items 1e6 --rate 0.01 --delete");
        let answer = asked.question.answer_with_pictures().unwrap();
        assert!(answer.text().unwrap().contains("LineFilter"));
        let fields = pairs(&[("items", "1e6"), ("memory", "100 GB"), ("one_line", "1")]);
        let asked = plan(&["solve", "filter"], &fields).unwrap();
        assert_eq!(
            command_line(&asked.words),
            "oneread plan solve filter --items 1e6 --memory '100 GB' --one-line"
        );
    }

    #[test]
    fn no_field_names_a_file_or_another_output() {
        for name in [
            "layout",
            "layout_out",
            "layout-out",
            "plot",
            "json",
            "sweep",
            "steps",
            "log",
            "help",
            "version",
            "",
        ] {
            for subcommand in [&["bloom"][..], &["multilevel"], &["solve", "table"], &["solve", "summary"]] {
                let refused = plan(subcommand, &pairs(&[(name, "x")])).err().expect(name);
                assert!(refused.to_string().contains("there is no field"), "{name}: {refused}");
            }
        }
        assert!(simulate(&["table"], &pairs(&[("steps", "10"), ("items", "8"), ("levels", "3")])).is_ok());
    }

    #[test]
    fn what_is_no_question_is_a_sentence() {
        let message = |subcommand: &[&str], fields: &[(&str, &str)]| {
            plan(subcommand, &pairs(fields)).err().expect("an error").to_string()
        };
        assert!(message(&["solve"], &[]).contains("of what"));
        assert!(message(&["sovle", "filter"], &[]).contains("sovle"));
        assert!(message(&["bloom"], &[("items", "-5")]).contains("not negative"));
        assert!(message(&["bloom"], &[("items", "--bits")]).contains("whole number"));
        assert!(message(&["bloom"], &[("items", "5"), ("items", "6")]).contains("multiple times"));
        assert!(message(&["solve", "filter"], &[("delete", "maybe")]).contains("on or off"));
        assert!(!message(&["bloom"], &[("scheme", "x")]).contains('\n'));
    }
}
