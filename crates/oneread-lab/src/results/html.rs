//! The report as a page: one file without network access, in light and dark mode, for wide screens
//! and phones.
//!
//! The first screen gives the numbers of what held, what did not, and what the papers could not
//! know. Then come each paper's pictures, and all its claims in a table, which a phone shows as
//! cards.

use super::report::{by_paper, found, measured, summary, told};
use super::{Answered, Claim, Results, pictures};
use crate::digits::number;
use crate::experiment::Run;
use crate::picture::svg::{self, escaped};
use crate::picture::{Picture, Source};
use crate::verdict::STANDARD_ERRORS;
use crate::{Paper, Verdict};

const STYLE: &str = "\
:root { --paper: #fff; --ink: #1c2430; --soft: #5b6675; --line: #d5dae1; --c0: #0b62a8; --c1: #c4510a; --c2: #1d7a4c; --c4: #826700 }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181f; --ink: #e6eaf0; --soft: #a3adba; --line: #333b47; --c0: #6fb3f2; --c1: #f0965a; --c2: #5fc793; --c4: #dcc04f }
}
* { box-sizing: border-box }
html { color-scheme: light dark }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif }
main { max-width: 68rem; margin: 0 auto; padding: 1rem 1rem 4rem }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1rem 0 .3rem }
h2 { font-size: 1.35rem; margin: 2.6rem 0 .4rem; padding-top: .6rem; border-top: 1px solid var(--line) }
h3 { font-size: 1.02rem; margin: 0 0 .3rem }
p { max-width: 46rem } p.soft, .soft { color: var(--soft) }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1rem; margin: .6rem 0 }
a { color: var(--c0) }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .6rem; margin: 1rem 0 }
.tile { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .8rem }
.tile b { display: block; font-size: 1.9rem; line-height: 1.2 }
.figure { white-space: nowrap }
.holds b, td .holds { color: var(--c2) } .misprint b, td .misprint { color: var(--c1) }
.undecided b, td .undecided { color: var(--c4) } .fails b, td .fails { color: #d22 }
table { border-collapse: collapse; width: 100%; font-size: .92rem; margin: .6rem 0 }
th { text-align: left; font-weight: 600; color: var(--soft) }
th, td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: break-word }
td.n, th.n { font-variant-numeric: tabular-nums }
code { font-size: .85em; overflow-wrap: anywhere; color: var(--soft) }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1.6rem; margin: 1rem 0 }
figure { margin: 0; min-width: 0 } figure svg { width: 100%; height: auto; max-width: 36rem; display: block }
figcaption { font-size: .92rem; color: var(--soft); max-width: 36rem }
.question { border-top: 1px solid var(--line); padding: 1.2rem 0 } .question:first-of-type { border-top: 0 }
.question > div { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem 2rem }
.scroll { overflow-x: auto; min-width: 0 }
details { margin: 1rem 0 } summary { cursor: pointer; color: var(--c0) }
ul { padding-left: 1.2rem } li { margin: .35rem 0; max-width: 50rem }
@media (max-width: 44rem) {
  body { font-size: 15px }
  table { font-size: .85rem } th, td { padding-right: .45rem }
  .verdicts { font-size: .8rem } .verdicts th { font-weight: 500 } .verdicts th, .verdicts td { padding-right: .3rem }
  table.claims thead, table.points thead { display: none }
  table.claims tr, table.points tr { display: block; border: 1px solid var(--line); border-radius: .5rem; padding: .4rem .7rem; margin: .6rem 0 }
  table.claims td, table.points td { display: block; border: 0; padding: .1rem 0 }
  table.claims td:empty, table.points td:empty { display: none }
  table.claims td[data-of]::before, table.points td[data-of]::before { content: attr(data-of) ': '; color: var(--soft) }
}
";

/// The style sheet of the page.
#[must_use]
pub fn style() -> String {
    format!("{}{STYLE}", svg::STYLE)
}

/// The page without its frame, for a page that has the [`style`].
#[must_use]
pub fn body(results: &Results) -> String {
    let Results { claims, answers, .. } = results;
    let mut body = front(results);
    for (paper, of_paper) in by_paper(claims) {
        body += &section(paper, &of_paper);
    }
    if !answers.is_empty() {
        body += "<h2 id=\"questions\">Open questions, answered</h2>";
        body += &answers.iter().map(question).collect::<String>();
    }
    body + &end(results)
}

/// The page.
#[must_use]
pub fn page(results: &Results) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\">\
         <title>The papers' claims, judged by oneread {}</title>\n<style>\n{}</style></head>\n\
         <body><main>\n{}\n</main></body></html>\n",
        escaped(&results.version),
        style(),
        body(results),
    )
}

/// The first screen.
fn front(results: &Results) -> String {
    let Results { version, claims, answers, .. } = results;
    let papers: Vec<Paper> = by_paper(claims).map(|(paper, _)| paper).collect();
    let mut html = format!(
        "<h1>What the papers print, and what is so</h1>\n<p>{} printed figures and statements of {}, calculated and measured \
         again with oneread {}; and {} that the papers leave open, answered by experiment.</p>\n<div class=\"tiles\">",
        claims.len(),
        told(papers.len(), "paper", "papers"),
        escaped(version),
        told(answers.len(), "question", "questions"),
    );
    for verdict in Verdict::ALL {
        let count = claims.iter().filter(|claim| claim.verdict == verdict).count();
        let words = match verdict {
            Verdict::Holds => "as printed",
            Verdict::Misprint => "wrong in print: two methods agree on another value",
            Verdict::Undecided => "undecided: the text has lost something, or one witness is not enough",
            Verdict::Fails => "failed: our own numbers contradict each other",
        };
        html += &format!("<div class=\"tile {verdict}\"><b>{count}</b>{words}</div>");
    }
    html += "</div>\n<nav>";
    for paper in &papers {
        html += &format!("<a href=\"#{paper}\">{paper}</a>");
    }
    if !answers.is_empty() {
        html += "<a href=\"#questions\">open questions</a>";
    }
    html += "<a href=\"#how\">how claims are judged</a></nav>\n";
    html += &by_verdict(claims);
    html += "<h2 id=\"wrong\">What did not hold</h2>";
    html += &listed(claims, Verdict::Misprint, "Nothing: every figure that could be judged is right.");
    if claims.iter().any(|claim| claim.verdict == Verdict::Fails) {
        html += "<h2 id=\"failed\">What failed</h2>";
        html += &listed(claims, Verdict::Fails, "");
    }
    if !answers.is_empty() {
        html += "<h2 id=\"unknown\">What the papers could not know</h2><ul>";
        for answered in answers {
            html += &format!(
                "<li><a href=\"#{}\">{}</a> {}</li>",
                anchor(&answered.id),
                escaped(&answered.question),
                escaped(&answered.answer)
            );
        }
        html += "</ul>";
    }
    html += "<h2 id=\"undecided\">What could not be told</h2>";
    html += &listed(claims, Verdict::Undecided, "Nothing was left undecided.");
    html
}

/// Papers by verdicts, counted.
fn by_verdict(claims: &[Claim]) -> String {
    let mut html =
        "<div class=\"scroll\"><table class=\"verdicts\"><thead><tr><th>paper</th><th class=\"n\">claims</th>".to_owned();
    for verdict in Verdict::ALL {
        html += &format!("<th class=\"n\">{verdict}</th>");
    }
    html += "</tr></thead><tbody>";
    for (paper, claims) in by_paper(claims) {
        html +=
            &format!("<tr><td><a href=\"#{paper}\">{paper}</a></td><td class=\"n\">{}</td>", claims.len());
        for verdict in Verdict::ALL {
            let count = claims.iter().filter(|claim| claim.verdict == verdict).count();
            let shown =
                if count == 0 { String::new() } else { format!("<span class=\"{verdict}\">{count}</span>") };
            html += &format!("<td class=\"n\">{shown}</td>");
        }
        html += "</tr>";
    }
    html + "</tbody></table></div>\n"
}

/// The claims of a verdict, one sentence each.
fn listed(claims: &[Claim], verdict: Verdict, none: &str) -> String {
    let claims: Vec<_> = claims.iter().filter(|claim| claim.verdict == verdict).collect();
    if claims.is_empty() {
        return format!("<p>{none}</p>");
    }
    let sentence = |claim: &&Claim| {
        let Claim { paper, claim: words, printed, note, .. } = claim;
        let note = if note.is_empty() {
            String::new()
        } else {
            format!(" <span class=\"soft\">{}</span>", escaped(note))
        };
        format!(
            "<li>{}: {}. Printed: {}; found: {}.{note}</li>",
            paper,
            escaped(words),
            bold(printed),
            bold(&found(claim)),
        )
    };
    format!("<ul>{}</ul>", claims.iter().map(sentence).collect::<String>())
}

/// A figure, kept on one line if it is short.
fn bold(figure: &str) -> String {
    /// Characters that fit half a line of a phone.
    const SHORT: usize = 16;
    let class = if figure.chars().count() <= SHORT { " class=\"figure\"" } else { "" };
    format!("<b{class}>{}</b>", escaped(figure))
}

fn section(paper: Paper, claims: &[&Claim]) -> String {
    let pictures = pictures::of_paper(paper, claims);
    let mut html = format!(
        "<h2 id=\"{paper}\">{paper}</h2>\n<p class=\"soft\">{}</p>\n<p>{}.</p>\n",
        escaped(paper.title()),
        summary(claims.iter().copied())
    );
    html += &format!("<div class=\"pictures\">{}</div>\n", pictures.iter().map(figure).collect::<String>());
    html += &format!(
        "<details><summary>All {} claims of this paper</summary>{}</details>\n",
        claims.len(),
        table(claims)
    );
    html
}

fn figure(picture: &Picture) -> String {
    format!(
        "<figure id=\"{}\"><h3>{}</h3>{}<figcaption>{}</figcaption></figure>\n",
        anchor(&picture.id),
        escaped(&picture.title),
        svg::part(picture),
        escaped(&picture.caption)
    )
}

/// One claim per row; a card on a phone.
fn table(claims: &[&Claim]) -> String {
    let mut html = "<table class=\"claims\"><thead><tr><th>verdict</th><th>claim</th><th>printed</th><th>calculated</th>\
                    <th>measured</th></tr></thead><tbody>\n"
        .to_owned();
    for claim in claims {
        let note = if claim.note.is_empty() {
            String::new()
        } else {
            format!("<br><span class=\"soft\">{}</span>", escaped(&claim.note))
        };
        html += &format!(
            "<tr><td><span class=\"{0}\">{0}</span></td><td>{1}{note}<br><code>{2}</code></td>\
             <td class=\"n\" data-of=\"printed\">{3}</td>",
            claim.verdict,
            escaped(&claim.claim),
            escaped(&claim.id),
            escaped(&claim.printed)
        );
        for (name, value) in
            [("calculated", claim.calculated.map(number).unwrap_or_default()), ("measured", measured(claim))]
        {
            html += &format!("<td class=\"n\" data-of=\"{name}\">{}</td>", escaped(&value));
        }
        html += "</tr>\n";
    }
    html + "</tbody></table>"
}

fn question(answered: &Answered) -> String {
    let Answered { paper, id, question, source, answer, picture } = answered;
    let shown = picture.as_ref().map_or_else(String::new, |picture| {
        format!("<div>{}<div class=\"scroll\">{}</div></div>", figure(picture), points(picture))
    });
    format!(
        "<div class=\"question\" id=\"{}\"><h3>{}</h3><p class=\"soft\">{paper}, {}</p><p>{}</p>{shown}</div>\n",
        anchor(id),
        escaped(question),
        escaped(source),
        escaped(answer)
    )
}

/// A picture's numbers.
fn points(picture: &Picture) -> String {
    let (headings, rows) = picture.table();
    let mut html = "<table class=\"points\"><thead><tr>".to_owned();
    html += &headings.iter().map(|heading| format!("<th>{}</th>", escaped(heading))).collect::<String>();
    html += "</tr></thead><tbody>";
    for row in rows {
        html += "<tr>";
        for (heading, cell) in headings.iter().zip(row) {
            html += &format!("<td class=\"n\" data-of=\"{}\">{}</td>", escaped(heading), escaped(&cell));
        }
        html += "</tr>";
    }
    html + "</tbody></table>"
}

fn end(results: &Results) -> String {
    let Run { seed, effort } = results.run;
    let marks = [Source::Printed, Source::Calculated, Source::Measured].map(Source::name).join(", ");
    format!(
        "<h2 id=\"how\">How claims are judged</h2><ul>\
         <li>A claim <b>holds</b> if what was calculated agrees with the printed figure, within the rounding of its digits, and no \
         measurement speaks against it.</li>\
         <li>It is a <b>misprint</b> if a second, independent method agrees that it does not.</li>\
         <li>It is <b>undecided</b> if no second method can tell, or if the text leaves open what was done.</li>\
         <li>It <b>fails</b> if our own numbers contradict each other, by more than {STANDARD_ERRORS} standard errors: then nothing is said \
         about the paper.</li></ul>\
         <p>± in tables is one standard error; \"all cases\" were counted where no chance is involved. Marks in pictures: {marks}. \
         Printed words are read as numbers by the rule that the claim tells.</p>\
         <p class=\"soft\">Effort: {effort}, seed {seed}. The same numbers come from <code>oneread reproduce --seed {seed}{} --out DIR</code>, on any \
         number of threads.</p>",
        if effort == crate::experiment::Effort::Full { " --full" } else { "" },
    )
}

/// The target of a link.
fn anchor(id: &str) -> String {
    id.replace(['/', '.'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Effort;
    use crate::picture::{Axis, Series};

    #[test]
    fn the_first_page_counts_and_the_page_is_alone() {
        let claim = |verdict, note: &str| Claim {
            paper: Paper::DLeft,
            id: "dleft/a".to_owned(),
            claim: "a < b".to_owned(),
            printed: "1".to_owned(),
            calculated: Some(2.0),
            measured: None,
            standard_error: None,
            verdict,
            note: note.to_owned(),
            picture: None,
        };
        let picture = Picture {
            id: "q".to_owned(),
            title: "t".to_owned(),
            across: Axis::linear("x"),
            up: Axis::linear("y"),
            series: vec![Series::calculated("", [(1.0, 2.0), (2.0, 3.0)])],
            caption: "what to see".to_owned(),
        };
        let answered = Answered {
            paper: Paper::Moves,
            id: "moves/why".to_owned(),
            question: "Why?".to_owned(),
            source: "IV".to_owned(),
            answer: "Because.".to_owned(),
            picture: Some(picture),
        };
        let run = Run { seed: 1, effort: Effort::Quick };
        let claims = vec![claim(Verdict::Holds, ""), claim(Verdict::Misprint, "so & so")];
        let page = page(&Results::new(run, claims, vec![answered]));
        for part in [
            "<div class=\"tile holds\"><b>1</b>",
            "a &lt; b. Printed: <b class=\"figure\">1</b>; found: <b class=\"figure\">2</b>. <span class=\"soft\">so &amp; so</span>",
            "<a href=\"#moves-why\">Why?</a> Because.",
            "<figcaption>what to see</figcaption>",
            "id=\"moves-why\"",
        ] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        // The page loads nothing: its only addresses are anchors.
        assert!(!page.contains("src=") && !page.contains("url(") && !page.contains("<script"));
        let addresses = page.matches("http").count();
        assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count());
    }
}
