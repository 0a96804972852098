//! Prose that a stranger can read: lines of at most 100 columns, links that lead somewhere, and
//! none of the words that once made the docs a private language.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::shell::root;

const MAX_COLUMNS: usize = 100;

/// How many findings are shown.
const MAX_SHOWN: usize = 400;

/// Made by programs, or verbatim from one release to the next.
const GENERATED: [&str; 2] = ["docs/results.md", "docs/measured"];

/// Sources whose printed text repeats another program's, to the letter.
const QUOTED: [&str; 1] = ["crates/oneread-redis/src/commands/table.rs"];

/// Phrases that must not come back, and what to write instead.
const PHRASES: [(&str, &str); 12] = [
    ("so many", "name the parameter"),
    ("so much", "name the parameter or the amount"),
    ("the peer", "name the peer"),
    ("nearby", "cache-resident"),
    ("for good", "saturated, permanently"),
    ("ask for lines", "prefetch"),
    ("asks for lines", "prefetch"),
    ("gathered", "sorted, partitioned or bucketed by cache block"),
    ("told bit", "implied bit"),
    ("whoever", "name who it is"),
    ("what is there", "name it"),
    ("for ever", "permanently, endlessly"),
];

/// Rates take *per*: "bits per key".
const UNITS: [&str; 12] =
    ["bit", "bits", "byte", "bytes", "read", "reads", "page", "pages", "line", "lines", "ns", "times"];
const BASES: [&str; 9] = ["hit", "miss", "key", "lookup", "item", "bucket", "entry", "record", "segment"];

/// In printed text these are units, too. In prose they would find "gives items a second chance".
const PRINTED_UNITS: [&str; 5] = ["rows", "keys", "items", "lookups", "operations"];
const PRINTED_BASE: &str = "second";

/// Checks all Markdown, and the comments and the printed text of all sources.
pub(super) fn check() -> Result<()> {
    let mut findings = Vec::new();
    let mut files = Vec::new();
    for start in ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "crates", "fuzz", "xtask"] {
        collect(&root().join(start), &mut files)?;
    }
    for path in &files {
        let text = fs::read_to_string(path)?;
        let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
        let is_generated = GENERATED.iter().any(|start| name.starts_with(start));
        let prose = if name.ends_with(".md") { markdown(&text) } else { comments(&text) };
        let mut find = |line: usize, what: String| findings.push(format!("{name}:{line}: {what}"));
        for (line, prose) in prose {
            if prose.chars().count() > MAX_COLUMNS && !may_be_long(prose) && !is_generated {
                find(line, format!("{} columns: wrap at {MAX_COLUMNS}", prose.chars().count()));
            }
            if !is_generated {
                words(prose).into_iter().for_each(|what| find(line, what));
            }
        }
        let prints = name.contains("/src/") && !name.starts_with("xtask") && !QUOTED.contains(&&*name);
        if name.ends_with(".rs") && prints {
            for (line, printed) in literals(&text) {
                rates(&printed.to_lowercase(), true).into_iter().for_each(|what| find(line, what));
            }
        }
        if name.ends_with(".md") {
            links(path, &text).into_iter().for_each(|(line, what)| find(line, what));
        }
    }
    if findings.is_empty() {
        return Ok(());
    }
    let shown = findings.iter().take(MAX_SHOWN).map(|finding| format!("\n  {finding}")).collect::<String>();
    let rest = findings.len().saturating_sub(MAX_SHOWN);
    bail!("{} lines of prose to rewrite:{shown}\n  and {rest} more", findings.len());
}

/// All Markdown and Rust files under a path, without what builds leave.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_dir() {
        if ["target", "corpus", "artifacts"].iter().any(|name| path.ends_with(name)) {
            return Ok(());
        }
        let mut entries: Vec<_> = fs::read_dir(path)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(fs::DirEntry::path);
        entries.into_iter().try_for_each(|entry| collect(&entry.path(), files))
    } else {
        if path.extension().is_some_and(|extension| extension == "md" || extension == "rs") {
            files.push(path.to_owned());
        }
        Ok(())
    }
}

/// The lines of Markdown outside of code, with their numbers.
fn markdown(text: &str) -> Vec<(usize, &str)> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            lines.push((at + 1, line));
        }
    }
    lines
}

/// The lines of Rust that hold nothing but a comment, outside of the code of examples.
fn comments(text: &str) -> Vec<(usize, &str)> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let start = line.trim_start();
        if !start.starts_with("//") {
            in_code = false;
        } else if start.trim_start_matches(['/', '!']).trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            lines.push((at + 1, line));
        }
    }
    lines
}

/// What stands between quotes in the code of Rust, line by line. Text of several lines is missed.
fn literals(text: &str) -> Vec<(usize, &str)> {
    let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.flat_map(|(at, line)| line.split('"').skip(1).step_by(2).map(move |quoted| (at + 1, quoted)))
        .collect()
}

/// Tables, pictures and lines with an address cannot be wrapped.
fn may_be_long(line: &str) -> bool {
    let start = line.trim_start().trim_start_matches(['/', '!']).trim_start();
    start.starts_with('|') || start.starts_with("![") || start.starts_with('[') || line.contains("://")
}

/// What of a line is not plain English.
fn words(line: &str) -> Vec<String> {
    // What stands in code is no prose.
    let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let lower = prose.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let padded = format!(" {} ", words.join(" "));
    let mut found = Vec::new();
    for (phrase, instead) in PHRASES {
        if padded.contains(&format!(" {phrase} ")) {
            found.push(format!("\"{phrase}\": {instead}"));
        }
    }
    found.extend(rates(&lower, false));
    let bytes = prose.as_bytes();
    let is_bare = |at: usize| {
        bytes[at] == b'.'
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
            && (at == 0 || matches!(bytes[at - 1], b' ' | b'(' | b'|' | b'<' | b'>'))
    };
    if (0..bytes.len()).any(is_bare) {
        found.push("a decimal without a leading zero".to_owned());
    }
    found
}

/// Rates with "a" or "an" where there should be "per". Takes text in lower case.
fn rates(lower: &str, is_printed: bool) -> Vec<String> {
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_unit = |word: &str| UNITS.contains(&word) || is_printed && PRINTED_UNITS.contains(&word);
    let is_base = |word: &str| BASES.contains(&word) || is_printed && word == PRINTED_BASE;
    let is_rate =
        |three: &&[&str]| matches!(**three, [unit, "a" | "an", base] if is_unit(unit) && is_base(base));
    let rates = words.windows(3).filter(is_rate);
    rates.map(|three| format!("\"{}\": write \"per\"", three.join(" "))).collect()
}

/// Relative links of a page that lead nowhere.
fn links(page: &Path, text: &str) -> Vec<(usize, String)> {
    let folder = page.parent().expect("a page lies in a folder");
    let mut broken = Vec::new();
    for (line, prose) in markdown(text) {
        for rest in prose.split("](").skip(1) {
            let target = rest.split([')', '#', ' ']).next().unwrap_or_default();
            let is_relative = !target.is_empty() && !target.contains("://");
            if is_relative && !folder.join(target).exists() {
                broken.push((line, format!("the link to {target} leads nowhere")));
            }
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::{comments, links, literals, markdown, may_be_long, rates, words};

    #[test]
    fn private_words_and_bare_decimals_are_found() {
        assert_eq!(words("a store of so many keys").len(), 1);
        assert_eq!(words("16 bits a key, one read a hit").len(), 2);
        assert_eq!(words("a rate of .01").len(), 1);
        assert!(words("16 bits per key at 0.01; `.0` and `bits a key` are code").is_empty());
    }

    #[test]
    fn code_is_no_prose_and_tables_may_be_long() {
        assert_eq!(markdown("a\n```\nb\n```\nc"), [(1, "a"), (5, "c")]);
        assert_eq!(comments("let a = 1; // b\n  /// c"), [(2, "  /// c")]);
        assert_eq!(comments("/// a\n/// ```\n/// b\n/// ```\n/// c"), [(1, "/// a"), (5, "/// c")]);
        assert!(may_be_long("/// | a table |") && may_be_long("//! <https://example.org>"));
        assert!(!may_be_long("/// prose"));
    }

    #[test]
    fn rates_in_printed_text_are_found() {
        let code = "let a = 'b'; // \"c\"\n  print(\"{} rows a second\", \"reads per hit\");\n// \"d\"";
        let printed = [(1, "c"), (2, "{} rows a second"), (2, "reads per hit")];
        assert_eq!(literals(code), printed);
        assert_eq!(rates(printed[1].1, true).len(), 1);
        assert!(rates(printed[2].1, true).is_empty());
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert_eq!(links(&page, "[a](src/main.rs) [b](src/none.rs#x)").len(), 1);
    }
}
