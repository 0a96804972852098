//! The page *Choose*: needs in plain words, structures in order of their size.

use anyhow::Result;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use oneread::plan::solve::Needs;
use oneread_lab::picture::svg;
use oneread_planner::{Report, fields};

use super::Studio;
use super::page::{self, Answer, Page, checkbox, field};
use super::query::Fields;
use super::snippets::{self, Snippets, program};
use super::speed;

/// The flags of `oneread plan solve filter` that are fields here.
const FLAGS: [&str; 9] =
    ["items", "rate", "memory", "delete", "growth", "threads", "static", "one_line", "one_page"];

/// The state of the page without a query.
const USUAL: [(&str, &str); 2] = [("items", "1e6"), ("rate", "0.01")];

pub(super) async fn page(State(studio): State<Studio>, given: Fields) -> Response {
    let given = given.or(&USUAL);
    let form = form(&given);
    let answer = studio.work.run(move || answer(&given)).await;
    Page {
        path: "/choose",
        title: "Choose a filter",
        lead: "A filter says which keys are certainly not in a set. Say what it must do; the structures that can are \
               listed, the smallest first.",
        form,
    }
    .with(answer)
}

fn form(given: &Fields) -> Markup {
    html! {
        fieldset {
            legend { "How many keys, how exact" }
            (field(given, "items", "Keys", "a whole number, such as 1e6"))
            (field(given, "rate", "False-positive rate", "0.01 is one absent key in a hundred; leave it empty to give the memory instead"))
            (field(given, "memory", "Memory", "at most, such as 64M or 100 GB; may be empty"))
        }
        fieldset {
            legend { "What it must do" }
            (checkbox(given, "delete", "Keys are removed"))
            (checkbox(given, "growth", "The number of keys is not known in advance"))
            (checkbox(given, "threads", "Many threads insert at once"))
            (checkbox(given, "static", "All keys are known when it is built"))
            (checkbox(given, "one_line", "A lookup reads one cache line"))
            (checkbox(given, "one_page", "A lookup reads one page of a file"))
        }
        fieldset {
            legend { "How fast" }
            (checkbox(given, "measure", "Measure lookups on this machine"))
        }
    }
}

fn answer(given: &Fields) -> Result<Answer> {
    let asked = fields::plan(&["solve", "filter"], &given.only(&FLAGS))?;
    let words = asked.words;
    let answer = asked.question.answer(&mut |_, _| ())?;
    let report = answer.report().expect("no sweep");
    let rows = ranked(report);
    let best = rows.first().expect("there is the best");
    let headline = format!(
        "{}: {} bits per key, and {} of absent keys are taken for present.",
        best.structure, best.bits, best.rate
    );
    let speeds = if given.is_on("measure") { speeds(given, &words, report)? } else { Vec::new() };
    let snippets = Snippets::new(&words, rust(&words));
    Ok(Answer {
        headline,
        body: html! {
            (ranking(&rows, &speeds, given.is_on("measure")))
            (chart(&given.only(&FLAGS)))
            details { summary { "All numbers of the first" } (page::report(report, "sub-table")) }
            (page::copies(&words, &snippets))
        },
    })
}

/// Measures what is listed.
fn speeds(given: &Fields, words: &[String], report: &Report) -> Result<Vec<speed::Measured>> {
    let exact = report.document().into_json();
    let rate = snippets::value(words, "--rate").and_then(|rate| rate.parse().ok());
    let rate = rate.or_else(|| exact["false_positive"].as_f64()).unwrap_or(f64::NAN);
    let needs = Needs {
        delete: given.is_on("delete"),
        growth: given.is_on("growth"),
        threads: given.is_on("threads"),
        one_line: given.is_on("one_line"),
        one_page: given.is_on("one_page"),
    };
    speed::measured(exact["items"].as_u64().unwrap_or(1), rate, needs, given.is_on("static"))
}

/// The chart of bits against rates, which takes longer than the answer: loaded after it.
fn chart(flags: &[(String, String)]) -> Markup {
    let address = format!("/choose.svg?{}", Fields(flags.to_vec()).encoded());
    html! {
        div .pictures {
            figure {
                figcaption { "Bits per key against the rate" }
                img src=(address) width="644" height="480" alt="Bits per key of each structure for rates from 0.5 to \
                    one in a million, the limit, and this solution; the table has the numbers.";
            }
        }
    }
}

/// The chart of bits against rates.
pub(super) async fn picture(State(studio): State<Studio>, given: Fields) -> Response {
    let drawn = studio.work.run(move || {
        let asked = fields::plan(&["solve", "filter"], &given.or(&USUAL).only(&FLAGS))?;
        Ok(svg::row(&asked.question.answer_with_pictures()?.pictures))
    });
    match drawn.await {
        Ok(picture) => {
            ([(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "max-age=3600")], picture)
                .into_response()
        }
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A structure in the ranking, its numbers as the planner shows them.
struct Row {
    structure: String,
    bits: String,
    rate: String,
    over: String,
    hit: String,
    miss: String,
}

impl Row {
    fn of(report: &Report) -> Self {
        let shown = |name: &str| {
            report.shown().find(|shown| shown.name == name).and_then(|shown| shown.cells.into_iter().next())
        };
        let shown = |name: &str| shown(name).unwrap_or_else(|| "–".to_owned());
        Self {
            structure: shown("structure"),
            bits: shown("bits_per_key"),
            rate: shown("false_positive"),
            over: shown("bits_over_optimum"),
            hit: shown("lines_per_hit"),
            miss: shown("lines_per_miss"),
        }
    }
}

/// The best, the runners-up, and the static filter if one is asked for: by their bits.
fn ranked(report: &Report) -> Vec<Row> {
    let mut rows: Vec<Row> = [report].into_iter().chain(report.rows_of("runners_up")).map(Row::of).collect();
    let shown = |name: &str| {
        report.shown().find(|shown| shown.name == name).and_then(|shown| shown.cells.into_iter().next())
    };
    if let (Some(structure), Some(bits), Some(rate)) =
        (shown("static_structure"), shown("static_bits_per_key"), shown("static_false_positive"))
    {
        let over = match (bits.parse::<f64>(), rate.parse::<f64>()) {
            (Ok(bits), Ok(rate)) => format!("{:.2}", bits + rate.log2()),
            _ => "–".to_owned(),
        };
        // Each of its four cells is on a line of its own, seldom on two.
        rows.push(Row { structure, bits, rate, over, hit: "up to 4".to_owned(), miss: "4".to_owned() });
        rows.sort_by(|one, other| {
            let bits = |row: &Row| row.bits.parse::<f64>().unwrap_or(f64::INFINITY);
            bits(one).total_cmp(&bits(other))
        });
    }
    rows
}

fn ranking(rows: &[Row], speeds: &[speed::Measured], is_measured: bool) -> Markup {
    let time = |row: &Row| {
        let found = speeds.iter().find(|speed| speed.structure == row.structure);
        found.map_or_else(|| "–".to_owned(), |speed| format!("{:.0} / {:.0}", speed.hit, speed.miss))
    };
    html! {
        div .scroll tabindex="0" role="group" aria-label="structures, the smallest first" {
            table .ranking {
                thead { tr {
                    th scope="col" { "structure" }
                    th scope="col" .n { "bits per key" }
                    th scope="col" .n { "rate" }
                    th scope="col" .n { "bits above the limit" }
                    th scope="col" .n { "cache lines per hit" }
                    th scope="col" .n { "cache lines per miss" }
                    @if is_measured { th scope="col" .n { "ns per hit / miss" } }
                } }
                tbody { @for row in rows { tr {
                    th scope="row" { code { (row.structure) } }
                    td .n { (row.bits) }
                    td .n { (row.rate) }
                    td .n { (row.over) }
                    td .n { (row.hit) }
                    td .n { (row.miss) }
                    @if is_measured { td .n { (time(row)) } }
                } } }
            }
        }
        p .soft { "The limit is log2(1/rate): no filter takes fewer bits per key."
            @if is_measured { " " (speed::explained()) }
        }
    }
}

fn rust(words: &[String]) -> String {
    let items = snippets::number(words, "--items").unwrap_or_default();
    let is_on = |flag: &str| words.iter().any(|word| word == flag);
    let flags = ["delete", "growth", "threads", "one_line", "one_page"];
    let on: Vec<_> = flags
        .iter()
        .filter(|flag| is_on(&format!("--{}", flag.replace('_', "-"))))
        .map(|flag| format!("{flag}: true"))
        .collect();
    let needs = match on.len() {
        0 => "Needs::default()".to_owned(),
        5 => format!("Needs {{ {} }}", on.join(", ")),
        _ => format!("Needs {{ {}, ..Needs::default() }}", on.join(", ")),
    };
    let bytes = snippets::bytes(words, "--memory");
    let rate = match (snippets::fraction(words, "--rate"), &bytes) {
        (Some(rate), _) => format!("let rate = {rate};"),
        (None, Some(bytes)) => format!("let rate = solve::lowest_rate({items}, needs, {bytes})?;"),
        (None, None) => String::new(),
    };
    let bytes = bytes.map_or_else(|| "None".to_owned(), |bytes| format!("Some({bytes})"));
    program(
        "use oneread::plan::solve::{self, FilterTargets, Needs};",
        &format!(
            "let needs = {needs};\n{rate}\nlet targets = FilterTargets {{ items: {items}, rate, needs, bytes: {bytes} }};\n\
             let planned = solve::filter(&targets)?.best;\n\
             println!(\"{{}}: {{}} bits per key\", planned.structure, planned.bits_per_key());"
        ),
    )
}
