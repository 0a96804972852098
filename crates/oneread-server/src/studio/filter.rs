//! The page *Filter*: a Bloom filter, solved for what is left out.

use anyhow::Result;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use oneread_planner::{Report, fields, peers};

use super::Studio;
use super::page::{self, Answer, Page, field};
use super::query::Fields;
use super::snippets::{self, Snippets, program};

/// The flags of `oneread plan bloom` that are fields here.
const FLAGS: [&str; 5] = ["items", "bits", "hashes", "rate", "scheme"];

const USUAL: [(&str, &str); 2] = [("items", "1e6"), ("rate", "0.01")];

pub(super) async fn page(State(studio): State<Studio>, given: Fields) -> Response {
    let given = given.or(&USUAL);
    let form = form(&given);
    let answer = studio.work.run(move || answer(&given)).await;
    Page {
        path: "/filter",
        title: "A Bloom filter",
        lead: "Give what you know and leave the rest empty: bits from keys and rate, keys from bits and rate, the rate \
               from keys and bits, with or without a number of hashes.",
        form,
    }
    .with(answer)
}

fn form(given: &Fields) -> Markup {
    let schemes = [
        "independent",
        "independent-bands",
        "partitioned",
        "double",
        "triple",
        "quadruple",
        "extended-square",
        "extended-cube",
        "enhanced",
        "accelerated",
    ];
    html! {
        fieldset {
            legend { "Any two or three of these" }
            (field(given, "items", "Keys (n)", "the number of keys"))
            (field(given, "bits", "Bits (m)", "the bits of the filter"))
            (field(given, "hashes", "Hashes (k)", "empty for the best number"))
            (field(given, "rate", "False-positive rate (p)", "at most, such as 0.01"))
            div .field {
                label for="scheme" { "How hashes are made" }
                select #scheme name="scheme" aria-describedby="scheme-hint" {
                    option value="" { "independent, by default" }
                    @for scheme in schemes {
                        option value=(scheme) selected[given.get("scheme") == scheme] { (scheme) }
                    }
                }
                span .hint #scheme-hint { "two words for all hashes are faster, and err more often in small filters" }
            }
        }
    }
}

fn answer(given: &Fields) -> Result<Answer> {
    let asked = fields::plan(&["bloom"], &given.only(&FLAGS))?;
    let words = asked.words;
    let answer = asked.question.answer_with_pictures()?;
    let report = answer.report().expect("no sweep");
    let exact = report.document().into_json();
    let shown = |name: &str| {
        report.shown().find(|shown| shown.name == name).and_then(|shown| shown.cells.into_iter().next())
    };
    let shown = |name: &str| shown(name).unwrap_or_default();
    let rate = if exact["false_positive_scheme"].is_null() {
        "false_positive_standard"
    } else {
        "false_positive_scheme"
    };
    let headline = format!(
        "{} keys in {} bits with {} hashes: {} of absent keys are taken for present.",
        shown("items"),
        shown("bits"),
        shown("hashes"),
        shown(rate)
    );
    let items = exact["items"].as_u64().unwrap_or(0);
    let requested = exact["rate"].as_f64().or_else(|| exact[rate].as_f64()).unwrap_or(f64::NAN);
    let snippets = Snippets::new(&words, rust(report));
    Ok(Answer {
        headline,
        body: html! {
            (page::report(report, ""))
            (page::pictures(&answer.pictures))
            (beside(items, requested, exact["bits"].as_u64().unwrap_or(0), &shown(rate)))
            (page::copies(&words, &snippets))
        },
    })
}

/// What other libraries make of the same request.
fn beside(items: u64, rate: f64, bits: u64, ours: &str) -> Markup {
    let per_key = |bits: u64| format!("{:.2}", bits as f64 / items.max(1) as f64);
    let peers = peers::filters(items, rate);
    html! {
        h2 { "The same request elsewhere" }
        p { (items) " keys at a rate of " (page::short(rate)) ", by the formulas of other libraries:" }
        div .scroll tabindex="0" role="group" aria-label="filters of other libraries" {
            table {
                thead { tr {
                    th scope="col" { "library" }
                    th scope="col" .n { "bits per key" }
                    th scope="col" .n { "rate delivered" }
                    th scope="col" { "why" }
                } }
                tbody {
                    tr .ours { th scope="row" { "this plan" } td .n { (per_key(bits)) } td .n { (ours) } td { "exact" } }
                    @for peer in &peers {
                        tr {
                            th scope="row" { (peer.name) }
                            td .n { (per_key(peer.bits)) }
                            td .n { (page::short(peer.false_positive)) }
                            td { (peer.why) }
                        }
                    }
                }
            }
        }
    }
}

/// The layout that was found, planned by the library.
fn rust(report: &Report) -> String {
    let exact = report.document().into_json();
    let number = |name: &str| snippets::whole(exact[name].as_u64().unwrap_or(0));
    let scheme = match exact["scheme"].as_str() {
        None => "SchemeName::Independent".to_owned(),
        Some(name) => format!("{name:?}.parse::<SchemeName>()?"),
    };
    program(
        "use oneread::filter::BloomFilter;\nuse oneread::hash::probes::SchemeName;\nuse oneread::layout::BloomLayout;\n\
         use oneread::plan::bloom;",
        &format!(
            "let layout = BloomLayout::new({}, {})?.with_scheme({scheme})?;\n\
             println!(\"{{}}\", bloom::false_positive_probability(layout, {}));\n\
             let mut filter = BloomFilter::new(layout)?;\n\
             filter.insert(\"a key\");\n\
             assert!(filter.contains(\"a key\"));",
            number("bits"),
            number("hashes"),
            number("items")
        ),
    )
}
