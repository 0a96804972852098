//! The report for people: what differs from print, what the papers could not know, then a table per
//! paper.

use super::{Answered, Claim, Results, pictures};
use crate::digits::{number, with_error};
use crate::experiment::Run;
use crate::picture::Picture;
use crate::{Paper, Verdict};

/// The measured value with its error, or nothing.
#[must_use]
pub fn measured(claim: &Claim) -> String {
    match (claim.measured, claim.standard_error) {
        (Some(value), Some(error)) if error > 0.0 => with_error(value, error),
        (Some(value), _) => format!("{} (all cases)", number(value)),
        (None, _) => String::new(),
    }
}

/// "4 claims: 2 hold, 1 misprint, 1 fails": the number of claims per verdict, without unused
/// verdicts.
#[must_use]
pub fn summary<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> String {
    let claims: Vec<_> = claims.into_iter().collect();
    let counted = Verdict::ALL.into_iter().filter_map(|verdict| {
        let count = claims.iter().filter(|claim| claim.verdict == verdict).count();
        let (one, more) = match verdict {
            Verdict::Holds => ("holds", "hold"),
            Verdict::Misprint => ("misprint", "misprints"),
            Verdict::Undecided => ("undecided", "undecided"),
            Verdict::Fails => ("fails", "fail"),
        };
        (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { more }))
    });
    format!("{} claims: {}", claims.len(), counted.collect::<Vec<_>>().join(", "))
}

/// Claims by paper, in the order of the papers. Papers without claims are skipped.
pub fn by_paper(claims: &[Claim]) -> impl Iterator<Item = (Paper, Vec<&Claim>)> {
    Paper::ALL.into_iter().filter_map(|paper| {
        let claims: Vec<_> = claims.iter().filter(|claim| claim.paper == paper).collect();
        (!claims.is_empty()).then_some((paper, claims))
    })
}

/// "one paper", "5 papers".
#[must_use]
pub fn told(count: usize, one: &str, more: &str) -> String {
    if count == 1 { format!("one {one}") } else { format!("{count} {more}") }
}

/// The calculated value, else the measured one, with both where there are both.
#[must_use]
pub fn found(claim: &Claim) -> String {
    match (claim.calculated.map(number), measured(claim)) {
        (Some(calculated), measured) if measured.is_empty() => calculated,
        (Some(calculated), measured) => format!("{calculated} (measured {measured})"),
        (None, measured) => measured,
    }
}

/// The report: what differs from print, what the papers could not know, then pictures and a table
/// per paper. Pictures are read from a folder beside it.
#[must_use]
pub fn markdown(results: &Results) -> String {
    let Results { version, run: Run { seed, effort }, claims, answers } = results;
    let mut text = format!(
        "# The papers' claims, judged by oneread {version}\n\n{}. Effort: {effort}, seed {seed}.\n\n\
         - A claim **holds** if what was calculated agrees with the printed figure, within the rounding of its digits.\n\
         - It is a **misprint** if a second, independent method agrees that it does not.\n\
         - It is **undecided** if no second method can tell, or if the text leaves open what was done.\n\
         - It **fails** if our own numbers contradict each other.\n\n\
         ± is one standard error; \"all cases\" were counted where no chance is involved.\n\n",
        summary(claims),
    );
    text += &counted(claims);
    let not_as_printed: Vec<_> = claims.iter().filter(|claim| claim.verdict != Verdict::Holds).collect();
    if !not_as_printed.is_empty() {
        text += "\n## Not as printed\n\n";
        text += &table(&not_as_printed);
    }
    if !answers.is_empty() {
        text += "\n## What the papers could not know\n\n";
        for Answered { paper, id, question, source, answer, .. } in answers {
            text += &format!("- **{question}** ({paper}, {source}) {answer} `{id}`\n");
        }
    }
    for (paper, claims) in by_paper(claims) {
        let summary = summary(claims.iter().copied());
        text += &format!("\n## {paper}\n{}\n\n{summary}.\n\n", paper.title());
        text += &pictures::of_paper(paper, &claims).iter().map(picture).collect::<String>();
        text += &table(&claims);
    }
    if !answers.is_empty() {
        text += "\n## Open questions, answered\n";
        for Answered { paper, question, source, answer, picture: shown, .. } in answers {
            text += &format!("\n### {question}\n{paper}, {source}\n\n{answer}\n\n");
            if let Some(shown) = shown {
                text += &picture(shown);
                let (headings, rows) = shown.table();
                text += &row(headings.clone());
                text += &row(vec!["---".to_owned(); headings.len()]);
                text += &rows.into_iter().map(row).collect::<String>();
            }
        }
    }
    text
}

/// Papers by verdicts.
fn counted(claims: &[Claim]) -> String {
    let names = Verdict::ALL.map(|verdict| verdict.to_string());
    let mut text = row(["paper".to_owned(), "claims".to_owned()].into_iter().chain(names).collect());
    text += &row(vec!["---".to_owned(); 2 + Verdict::ALL.len()]);
    for (paper, claims) in by_paper(claims) {
        let count = |verdict| claims.iter().filter(|claim| claim.verdict == verdict).count().to_string();
        let counts = Verdict::ALL.map(count);
        text += &row([paper.to_string(), claims.len().to_string()].into_iter().chain(counts).collect());
    }
    text
}

fn picture(picture: &Picture) -> String {
    format!("![{}](pictures/{}.svg)\n\n{}\n\n", picture.title, picture.id, picture.caption)
}

fn row(cells: Vec<String>) -> String {
    let cells: Vec<_> = cells.into_iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn table(claims: &[&Claim]) -> String {
    let mut text = "| verdict | claim | printed | calculated | measured | note | id |\n".to_owned();
    text += "| --- | --- | --- | --- | --- | --- | --- |\n";
    for claim in claims {
        let cells = [
            claim.verdict.to_string(),
            claim.claim.clone(),
            claim.printed.clone(),
            claim.calculated.map(number).unwrap_or_default(),
            measured(claim),
            claim.note.clone(),
            format!("`{}`", claim.id),
        ];
        text += &row(cells.into());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Effort;

    fn claim(verdict: Verdict) -> Claim {
        Claim {
            paper: Paper::Summaries,
            id: "summaries/a".to_owned(),
            claim: "Pr(|S| > 1) is small".to_owned(),
            printed: "1.01e-12".to_owned(),
            calculated: Some(1.007_02e-12),
            measured: Some(1.0e-12),
            standard_error: Some(2.345e-14),
            verdict,
            note: String::new(),
            picture: None,
        }
    }

    #[test]
    fn the_report_has_a_line_a_claim_and_counts_them() {
        let run = Run { seed: 1, effort: Effort::Quick };
        let report =
            markdown(&Results::new(run, vec![claim(Verdict::Holds), claim(Verdict::Misprint)], Vec::new()));
        assert!(report.contains("2 claims: 1 holds, 1 misprint"), "{report}");
        let cells =
            "Pr(\\|S\\| > 1) is small | 1.01e-12 | 1.00702e-12 | (1.000 ± 0.023)e-12 |  | `summaries/a` |";
        let count = |verdict: &str| report.matches(&format!("| {verdict} | {cells}")).count();
        // Misprints are listed at the top, too.
        assert_eq!((count("holds"), count("misprint")), (1, 2), "{report}");
        assert!(!report.contains("## dleft"));
    }

    #[test]
    fn verdicts_are_counted() {
        let claims = [Verdict::Fails, Verdict::Holds, Verdict::Undecided, Verdict::Holds].map(claim);
        assert_eq!(summary(&claims), "4 claims: 2 hold, 1 undecided, 1 fails");
    }
}
