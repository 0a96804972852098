//! Compares the documents with their sources: `docs/results.md` and its pictures with
//! `docs/results.json`, and all of them and `docs/papers.md` with the experiments.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use oneread_lab::picture::svg;
use oneread_lab::results::{Results, html, pictures, report};
use oneread_lab::{Paper, Verdict, papers, questions};

fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn results() -> Results {
    let text = fs::read_to_string(docs().join("results.json")).expect("docs/results.json");
    serde_json::from_str(&text).expect("results")
}

/// If this variable is set, the documents are written instead of compared.
const UPDATE: &str = "ONEREAD_UPDATE";

#[test]
fn the_results_are_those_of_all_experiments_there_are() {
    let results = results();
    let found: Vec<_> = results
        .claims
        .iter()
        .map(|claim| (claim.id.as_str(), claim.claim.as_str(), claim.printed.as_str()))
        .collect();
    let experiments = papers::all();
    let expected: Vec<_> = experiments
        .iter()
        .map(|experiment| (experiment.id(), experiment.claim(), experiment.printed().text()))
        .collect();
    assert_eq!(
        found, expected,
        "docs/results.json is of other claims: run `oneread reproduce --out DIR` and copy its results.json there"
    );
    let found: Vec<_> =
        results.answers.iter().map(|answered| (answered.id.as_str(), answered.question.as_str())).collect();
    let questions = questions::all();
    let expected: Vec<_> = questions.iter().map(|question| (question.id(), question.question())).collect();
    assert_eq!(found, expected);
    assert_eq!(results.version, env!("CARGO_PKG_VERSION"));
    assert!(results.none_fails());
}

#[test]
fn the_document_of_results_is_made_of_the_results() {
    let results = results();
    let mut files = vec![("results.md".to_owned(), report::markdown(&results))];
    for picture in pictures::all(&results) {
        files.push((format!("pictures/{}.svg", picture.id), svg::file(&picture)));
    }
    if std::env::var_os(UPDATE).is_some() {
        fs::create_dir_all(docs().join("pictures")).unwrap();
        for (name, contents) in &files {
            fs::write(docs().join(name), contents).unwrap();
        }
    }
    for (name, contents) in &files {
        let there = fs::read_to_string(docs().join(name)).unwrap_or_default();
        assert!(
            there == *contents,
            "docs/{name} is stale: write it anew with `{UPDATE}=1 cargo test -p oneread-lab --test documents`"
        );
    }
    let expected: BTreeSet<_> = files[1..].iter().map(|(name, _)| name.clone()).collect();
    let there = fs::read_dir(docs().join("pictures")).unwrap();
    let there: BTreeSet<_> =
        there.map(|file| format!("pictures/{}", file.unwrap().file_name().to_string_lossy())).collect();
    assert_eq!(there, expected, "a picture that nobody shows");
}

#[test]
fn every_picture_of_the_page_has_points_words_and_a_name_of_its_own() {
    let results = results();
    let all = pictures::all(&results);
    assert!(all.len() >= 15, "{} pictures", all.len());
    let mut ids = BTreeSet::new();
    for picture in &all {
        assert!(ids.insert(picture.id.clone()), "{} is there twice", picture.id);
        assert!(picture.series.iter().all(|series| !series.points.is_empty()), "{}", picture.id);
        assert!(
            !picture.caption.is_empty() && !picture.across.label.is_empty() && !picture.up.label.is_empty()
        );
        let drawn = svg::part(picture);
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{}", picture.id);
    }
    let page = html::page(&results);
    assert_eq!(page.matches("<figure ").count(), all.len());
}

fn papers_document() -> String {
    fs::read_to_string(docs().join("papers.md")).expect("docs/papers.md")
}

/// The texts between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The table "What is judged": prefixes of ids, and the number of claims and questions with each
/// prefix.
#[test]
fn every_claim_is_in_the_document_of_papers_and_the_other_way_round() {
    let document = papers_document();
    let section =
        document.split("\n## ").find(|section| section.starts_with("What is judged")).expect("the section");
    let mut ids: Vec<String> = papers::all().iter().map(|experiment| experiment.id().to_owned()).collect();
    ids.extend(questions::all().iter().map(|question| question.id().to_owned()));
    let mut counted = 0;
    for line in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let beginning = cells[0].trim_matches('`');
        let count = ids.iter().filter(|id| id.starts_with(beginning)).count();
        assert_eq!(cells[1], count.to_string(), "{line}");
        counted += count;
    }
    // The counts match and each id has at least one prefix, so each has exactly one.
    assert_eq!(counted, ids.len(), "a claim is in no row, or in two");
    let beginnings: Vec<&str> = section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| quoted(line).next())
        .collect();
    for id in &ids {
        let rows = beginnings.iter().filter(|beginning| id.starts_with(**beginning)).count();
        assert_eq!(rows, 1, "{id} is in {rows} rows of \"What is judged\"");
    }
    for name in quoted(&document) {
        let is_id = Paper::ALL
            .iter()
            .any(|paper| name.strip_prefix(paper.name()).is_some_and(|rest| rest.starts_with('/')));
        assert!(
            !is_id || ids.iter().any(|id| id.starts_with(name)),
            "the document names {name}, which is no claim"
        );
    }
}

#[test]
fn what_is_undecided_is_told_in_the_document_of_papers() {
    let document = papers_document();
    let section = document
        .split("Some could not be reproduced")
        .nth(1)
        .expect("the table")
        .split("\n## ")
        .next()
        .expect("one");
    let told: Vec<&str> = quoted(section).filter(|name| name.contains('/')).collect();
    let results = results();
    for claim in results.claims.iter().filter(|claim| claim.verdict == Verdict::Undecided) {
        assert!(told.iter().any(|name| claim.id.starts_with(name)), "{} is undecided and not told", claim.id);
    }
    for name in told {
        let undecided = results.claims.iter().filter(|claim| claim.id.starts_with(name));
        let count = undecided.filter(|claim| claim.verdict == Verdict::Undecided).count();
        assert!(count > 0, "{name} is told to be undecided and is not");
    }
}
