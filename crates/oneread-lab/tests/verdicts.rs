//! The verdicts, beside what `docs/papers.md` tells people about them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use oneread_lab::experiment::{Effort, Run};
use oneread_lab::results::{self, Claim};
use oneread_lab::{Experiment, Verdict, papers};

const RUN: Run = Run { seed: 1, effort: Effort::Quick };

/// The ids in the document's table of wrong figures: the last cell of its rows.
fn wrong_in_the_document() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers.md");
    let text = fs::read_to_string(path).expect("the document");
    let section =
        text.split("\n## ").find(|section| section.starts_with("Printed figures")).expect("the section");
    let id = |line: &str| Some(line.strip_suffix("` |")?.rsplit_once('`')?.1.to_owned());
    section.lines().filter_map(id).collect()
}

fn ids<'a>(claims: &'a [Claim], verdict: Verdict) -> impl Iterator<Item = String> + 'a {
    claims.iter().filter(move |claim| claim.verdict == verdict).map(|claim| claim.id.clone())
}

#[test]
fn what_the_document_calls_wrong_is_judged_a_misprint() {
    let wrong = wrong_in_the_document();
    assert!(wrong.len() > 5, "{wrong:?}");
    let is_wrong = |experiment: &Experiment| wrong.contains(experiment.id());
    let experiments: Vec<_> = papers::all().into_iter().filter(is_wrong).collect();
    let claims = results::run(&experiments, RUN, |_| ());
    assert_eq!(ids(&claims, Verdict::Misprint).collect::<BTreeSet<_>>(), wrong);
}

#[test]
#[ignore = "takes a minute: all experiments"]
fn nothing_else_is_a_misprint_and_nothing_fails() {
    let claims = results::run(&papers::all(), RUN, |_| ());
    assert!(results::none_fails(&claims), "{:?}", ids(&claims, Verdict::Fails).collect::<Vec<_>>());
    assert_eq!(ids(&claims, Verdict::Misprint).collect::<BTreeSet<_>>(), wrong_in_the_document());
    // Figures that the text has lost, or whose process or family it does not tell.
    let undecided = [
        "moves/table-i/no-move-n8192",
        "moves/table-i/no-move-n32768",
        "moves/table-i/no-move-n8192-max",
        "moves/table-i/hint-1-move-n16384",
        "moves/table-i/hint-1-move-n32768",
        "moves/table-i/hint-1-move-n16384-max",
        "moves/table-i/hint-1-move-n32768-max",
        "moves/table-ii/greedy-n8192",
        "moves/table-ii/greedy-n16384",
        "moves/table-ii/greedy-n32768",
        "lecture/6.3/probes-four-independent",
    ];
    assert_eq!(ids(&claims, Verdict::Undecided).collect::<Vec<_>>(), undecided);
}
