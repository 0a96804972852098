//! The question of a page as code: for the library, and for Python.

use oneread_planner::parse;

/// Code that gives the same answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Snippets {
    pub(super) rust: String,
    pub(super) python: String,
}

impl Snippets {
    pub(super) fn new(words: &[String], rust: String) -> Self {
        Self { rust, python: python(words) }
    }
}

/// Python asks the command, which prints one JSON document.
fn python(words: &[String]) -> String {
    let quoted = |word: &str| serde_json::Value::from(word).to_string();
    let mut arguments: Vec<String> = vec![quoted("oneread")];
    arguments.extend(words.iter().map(|word| quoted(word)));
    arguments.push(quoted("--json"));
    format!(
        "import json, subprocess\n\nplan = json.loads(subprocess.check_output([{}]))\nprint(plan)\n",
        arguments.join(", ")
    )
}

/// The value of a flag among the words of a command line.
pub(super) fn value<'a>(words: &'a [String], flag: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| word == flag)?;
    words.get(at + 1).map(String::as_str)
}

/// A whole number as Rust writes it: `1_000_000`.
pub(super) fn whole(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.len() > 4 {
            out.push('_');
        }
        out.push(digit);
    }
    out
}

/// The number of a flag, as Rust writes it.
pub(super) fn number(words: &[String], flag: &str) -> Option<String> {
    value(words, flag).and_then(|text| parse::whole(text).ok()).map(whole)
}

/// The bytes of a flag, as Rust writes them.
pub(super) fn bytes(words: &[String], flag: &str) -> Option<String> {
    value(words, flag).and_then(|text| parse::bytes(text).ok()).map(whole)
}

/// A fraction as Rust writes it.
pub(super) fn fraction(words: &[String], flag: &str) -> Option<String> {
    value(words, flag).and_then(|text| text.parse::<f64>().ok()).map(|number| format!("{number:?}"))
}

/// Lines of a program whose errors go out of `main`.
pub(super) fn program(uses: &str, lines: &str) -> String {
    let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    format!("{uses}\n\nfn main() -> Result<(), Box<dyn std::error::Error>> {{\n{lines}    Ok(())\n}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_in_rust() {
        assert_eq!([999, 1000, 10_000, 1_000_000].map(whole), ["999", "1000", "10_000", "1_000_000"]);
    }

    #[test]
    fn python_gets_the_words_quoted() {
        let words: Vec<String> = ["plan", "x\"y", "100 GB"].map(str::to_owned).into();
        assert!(python(&words).contains(r#"["oneread", "plan", "x\"y", "100 GB", "--json"]"#));
    }
}
