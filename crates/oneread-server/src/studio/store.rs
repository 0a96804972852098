//! The page *Store*: reads and memory of a file of keys and values, both ways, and what they cost.

use anyhow::Result;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use oneread_planner::fields;

use super::Studio;
use super::cost::{self, Prices};
use super::page::{self, Answer, Page, field, short};
use super::query::Fields;
use super::snippets::{self, Snippets, program};

/// The flags of `oneread plan solve store` that are fields here.
const FLAGS: [&str; 5] = ["items", "key_bytes", "value_bytes", "reads_per_miss", "ram_bytes"];

const USUAL: [(&str, &str); 4] =
    [("items", "1e8"), ("key_bytes", "16"), ("value_bytes", "100"), ("reads_per_miss", "0.01")];

pub(super) async fn page(State(studio): State<Studio>, given: Fields) -> Response {
    let mut given = given.or(&USUAL);
    // Prices are shown even where they are the usual ones.
    for (name, usual) in cost::USUAL {
        if given.get(name).is_empty() {
            given.0.push((name.to_owned(), usual.to_owned()));
        }
    }
    let form = form(&given);
    let answer = studio.work.run(move || answer(&given)).await;
    Page {
        path: "/store",
        title: "A key-value store on disk",
        lead: "A store reads one page per hit and hardly any per miss. Give the reads to get the memory, or the memory \
               to get the reads.",
        form,
    }
    .with(answer)
}

fn form(given: &Fields) -> Markup {
    html! {
        fieldset {
            legend { "Records" }
            (field(given, "items", "Records", "the number of keys, such as 1e8"))
            (field(given, "key_bytes", "Bytes of a key", "such as 16"))
            (field(given, "value_bytes", "Bytes of a value", "such as 100 or 4K"))
        }
        fieldset {
            legend { "Memory or reads" }
            (field(given, "reads_per_miss", "Page reads per miss", "at most; empty for as few as the memory allows"))
            (field(given, "ram_bytes", "Memory", "at most, such as 64M or 1 GB; may be empty"))
        }
        fieldset {
            legend { "Prices, in any currency" }
            (field(given, "hits", "Share of lookups that hit", "from 0 to 1"))
            (field(given, "drive", "NVMe drive, per month", "what renting or writing it off costs"))
            (field(given, "drive_reads", "Reads per second of the drive", "random pages of 4 KiB"))
            (field(given, "requests", "1,000 GET requests", "of an object store, as its price list says"))
            (field(given, "gigabyte", "A stored gigabyte, per month", "in the object store"))
        }
    }
}

fn answer(given: &Fields) -> Result<Answer> {
    let asked = fields::plan(&["solve", "store"], &given.only(&FLAGS))?;
    let words = asked.words;
    let answer = asked.question.answer_with_pictures()?;
    let report = answer.report().expect("no sweep");
    let exact = report.document().into_json();
    let number = |name: &str| exact[name].as_f64().unwrap_or(0.0);
    let costs =
        Prices::of(given).costs(number("reads_per_hit"), number("reads_per_miss"), number("disk_bytes"));
    let headline = format!(
        "Page reads: {} per hit, {} per miss; with {} of memory and {} on disk.",
        short(number("reads_per_hit")),
        short(number("reads_per_miss")),
        in_bytes(number("ram_bytes")),
        in_bytes(number("disk_bytes"))
    );
    let snippets = Snippets::new(&words, rust(&words, &exact));
    Ok(Answer {
        headline,
        body: html! {
            h2 { "What a million lookups cost" }
            dl .numbers.costs {
                div { dt { "page reads per lookup" } dd { (short(costs.reads)) } }
                div { dt { "on an NVMe drive" } dd { (short(costs.drive)) } }
                div { dt { "in an object store" } dd { (short(costs.requests)) } }
                div { dt { "lookups per second, one drive" } dd { (short(costs.lookups_per_second)) } }
                div { dt { "stored in an object store, per month" } dd { (short(costs.stored)) } }
            }
            h2 { "The plan" }
            (page::report(report, "level"))
            (page::pictures(&answer.pictures))
            (page::copies(&words, &snippets))
        },
    })
}

/// Bytes with a unit of powers of ten.
fn in_bytes(bytes: f64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let unit = units.iter().find(|(size, _)| bytes >= *size);
    unit.map_or_else(|| format!("{bytes:.0} bytes"), |(size, unit)| format!("{} {unit}", short(bytes / size)))
}

fn rust(words: &[String], exact: &serde_json::Value) -> String {
    let number = |flag: &str, usual: &str| snippets::bytes(words, flag).unwrap_or_else(|| usual.to_owned());
    let ram = snippets::bytes(words, "--ram-bytes")
        .map_or_else(|| "None".to_owned(), |bytes| format!("Some({bytes})"));
    let reads = exact["target_reads_per_miss"].as_f64().unwrap_or(f64::NAN);
    program(
        "use oneread_store::plan::{StoreTargets, solve};",
        &format!(
            "let targets = StoreTargets {{\n    items: {},\n    key_bytes: {},\n    value_bytes: {},\n    \
             reads_per_miss: {reads:?},\n    ram_bytes: {ram},\n}};\n\
             let planned = solve(&targets)?.best;\n\
             println!(\"{{}} bytes of memory, {{}} on disk\", planned.ram_bytes, planned.disk_bytes);",
            snippets::number(words, "--items").unwrap_or_default(),
            number("--key-bytes", "16"),
            number("--value-bytes", "100"),
        ),
    )
}
