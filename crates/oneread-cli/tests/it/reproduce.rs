//! `oneread reproduce` from a user's view.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use serde_json::Value;

const FIELDS: [&str; 9] =
    ["paper", "id", "claim", "printed", "calculated", "measured", "standard_error", "verdict", "note"];

/// The claims of one paper, judged once for all tests.
static LECTURE: LazyLock<Value> = LazyLock::new(|| lecture_by_threads("3"));

fn lecture_by_threads(threads: &str) -> Value {
    let output = oneread().args(["lecture", "--json"]).env("RAYON_NUM_THREADS", threads).output();
    document(&output.expect("the command starts"))
}

fn reproduce(args: &[&str]) -> Output {
    oneread().args(args).output().expect("the command starts")
}

fn oneread() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oneread"));
    command.arg("reproduce");
    command
}

#[track_caller]
fn document(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    assert_eq!(stderr(output), "", "no progress bar away from a terminal");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn claims(document: &Value) -> &Vec<Value> {
    document["claims"].as_array().expect("claims")
}

/// Finds a claim by its ID.
#[track_caller]
fn claim<'a>(document: &'a Value, id: &str) -> &'a Value {
    claims(document).iter().find(|claim| claim["id"] == id).unwrap_or_else(|| panic!("no {id}"))
}

#[test]
fn the_claims_of_the_lecture_are_judged_and_none_fails() {
    let document = &*LECTURE;
    assert_eq!((&document["seed"], &document["effort"]), (&Value::from(1), &Value::from("quick")));
    assert!(claims(document).len() > 20);
    for claim in claims(document) {
        for field in FIELDS {
            assert!(claim.get(field).is_some(), "{claim} has no {field}");
        }
        assert_eq!(claim["paper"], "lecture");
        assert_ne!(claim["verdict"], "fails", "{claim}");
    }
    let bands = claim(document, "lecture/6.4/multi-band-memory");
    assert_eq!((&bands["printed"], &bands["calculated"]), (&Value::from("14 Mb"), &Value::from(14.0)));
    assert_eq!(bands["verdict"], "holds");
    assert_eq!(claim(document, "lecture/6.1/polynomial-degree")["verdict"], "misprint");
}

#[test]
#[ignore = "long: about 8 s"]
fn the_number_of_threads_does_not_change_a_digit() {
    assert_eq!(lecture_by_threads("1"), *LECTURE);
}

#[test]
fn a_list_has_the_claims_and_no_verdicts() {
    let all = document(&reproduce(&["--list", "--json"]));
    let lecture = document(&reproduce(&["--list", "lecture", "--json"]));
    assert!(claims(&all).len() > claims(&lecture).len());
    assert!(claims(&all).iter().all(|claim| claim["id"].is_string() && claim.get("verdict").is_none()));
    let text = reproduce(&["--list"]).stdout;
    let questions = all["questions"].as_array().expect("questions");
    assert!(
        questions
            .iter()
            .all(|question| question["question"].as_str().is_some_and(|text| text.ends_with('?')))
    );
    let lines = String::from_utf8(text).unwrap().lines().count();
    assert_eq!(lines, 1 + claims(&all).len() + questions.len());
}

#[test]
fn people_get_a_table_with_a_line_a_claim_and_a_summary() {
    // From a folder that has the results already, which is quick.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("results.json"), LECTURE.to_string()).unwrap();
    let output = reproduce(&["lecture", "--out", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("lecture: Lecture notes"), "{text}");
    let line = text.lines().find(|line| line.contains("6.1/polynomial-degree")).unwrap();
    assert!(line.starts_with("misprint") && line.contains("(all cases)"), "{line}");
    let summary = text.lines().last().unwrap();
    assert!(summary.contains("claims: ") && summary.contains(" hold, "), "{summary}");
}

#[test]
fn an_unknown_paper_is_bad_use() {
    let output = reproduce(&["knuth"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let message = stderr(&output);
    assert!(message.contains("knuth") && message.contains("less-hashing"), "{message}");
    assert_eq!(message.lines().take_while(|line| !line.is_empty()).count(), 1);
}

fn results(folder: &Path) -> Option<Value> {
    let bytes = fs::read(folder.join("results.json")).ok()?;
    Some(serde_json::from_slice(&bytes).expect("whole or not at all"))
}

/// Marks claims of a folder with a note that no experiment writes, to distinguish them from new
/// results.
fn mark(folder: &Path, select: impl Fn(&[Value]) -> Vec<Value>) -> Vec<Value> {
    let mut results = results(folder).expect("results");
    let mut kept = select(claims(&results));
    kept.iter_mut().for_each(|claim| claim["note"] = "kept".into());
    results["claims"] = kept.clone().into();
    fs::write(folder.join("results.json"), results.to_string()).unwrap();
    kept
}

#[test]
#[ignore = "long: about 15 s"]
fn a_folder_keeps_what_was_found() {
    let directory = tempfile::tempdir().unwrap();
    let (folder, path) = (directory.path(), directory.path().to_str().unwrap());
    let first = document(&reproduce(&["lecture", "--json", "--out", path]));
    assert_eq!(first, *LECTURE);
    assert_eq!(results(folder).unwrap(), first);
    let report = fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(report.contains("## lecture") && report.contains("`lecture/6.4/stuck-counter`"), "{report}");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("lecture/6.4/stuck-counter"), "{page}");
    let table = fs::read_to_string(folder.join("claims.csv")).unwrap();
    assert!(table.lines().count() > claims(&first).len(), "{table}");
    for file in ["lecture-constants.svg", "lecture-constants.csv"] {
        assert!(folder.join("pictures").join(file).exists(), "{file}");
    }

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::write(folder.join("plain"), "").unwrap();
        let mode = |name: &str| fs::metadata(folder.join(name)).unwrap().permissions().mode();
        for file in ["results.json", "report.html", "pictures/lecture-constants.svg"] {
            assert_eq!(mode(file), mode("plain"), "{file}");
        }
    }

    let kept = mark(folder, |claims| claims[1..].to_vec());
    let second = document(&reproduce(&["lecture", "--json", "--out", path]));
    assert_eq!(claims(&second)[0], claims(&first)[0]);
    assert_eq!(claims(&second)[1..], kept);

    let third = reproduce(&["lecture", "--json", "--out", path, "--seed", "2"]);
    assert!(stderr(&third).contains("another version, seed or effort"), "{}", stderr(&third));
    let third: Value = serde_json::from_slice(&third.stdout).unwrap();
    assert!(claims(&third).iter().all(|claim| claim["note"] != "kept"));
    assert_ne!(claims(&third), claims(&first), "another seed measures with other random numbers");
}

#[test]
#[ignore = "long: about 10 s"]
fn an_interrupted_run_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let (folder, path) = (directory.path(), directory.path().to_str().unwrap());
    let mut first = oneread().args(["lecture", "--out", path]).stdout(Stdio::null()).spawn().unwrap();
    while results(folder).is_none_or(|results| claims(&results).len() < 3) {
        assert!(first.try_wait().unwrap().is_none(), "it ended without results");
        thread::sleep(Duration::from_millis(1));
    }
    first.kill().unwrap();
    first.wait().unwrap();

    let kept = mark(folder, <[_]>::to_vec);
    let second = document(&reproduce(&["lecture", "--json", "--out", path]));
    assert_eq!(claims(&second).len(), claims(&LECTURE).len());
    for (claim, uninterrupted) in claims(&second).iter().zip(claims(&LECTURE)) {
        let expected = kept.iter().find(|kept| kept["id"] == claim["id"]).unwrap_or(uninterrupted);
        assert_eq!(claim, expected);
    }
}

#[test]
fn a_damaged_folder_is_a_failure_that_names_the_file() {
    let directory = tempfile::tempdir().unwrap();
    for damaged in ["", "not JSON", "{\"version\": 1}"] {
        fs::write(directory.path().join("results.json"), damaged).unwrap();
        let output = reproduce(&["lecture", "--out", directory.path().to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2));
        let message = stderr(&output);
        assert!(message.contains("results.json") && message.contains("choose another folder"), "{message}");
        assert_eq!(message.lines().take_while(|line| !line.is_empty()).count(), 1);
        assert_eq!(fs::read_to_string(directory.path().join("results.json")).unwrap(), damaged);
    }
}
