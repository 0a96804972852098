//! The page *Table*: levels as bars, what they hold, their summaries, and a simulation beside the
//! plan.

use anyhow::{Result, ensure};
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use oneread_planner::{Report, fields, parse};
use serde_json::Value;

use super::page::{self, Answer, Page, checkbox, field, short};
use super::query::Fields;
use super::snippets::{self, Snippets, program};
use super::{Studio, api};

/// The state of the page without a query: the paper's table of ten thousand items.
const USUAL: [(&str, &str); 10] = [
    ("items", "10000"),
    ("level", "40000"),
    ("level", "10000"),
    ("level", "5000"),
    ("level", "2500"),
    ("level", "2500"),
    ("slots", "1"),
    ("false_positive", "0.01"),
    ("extra_reads", "0.001"),
    ("trials", "100"),
];

/// The most levels of the form; the planner takes more.
const MAX_LEVELS: usize = 16;

/// The steps of a bar for each power of ten, and the powers that it has room for.
const BAR_STEPS: f64 = 100.0;
const BAR_DECADES: f64 = 9.0;

pub(super) async fn page(State(studio): State<Studio>, given: Fields) -> Response {
    let given = given.or(&USUAL);
    let form = form(&given);
    let answer = studio.work.run(move || answer(&given)).await;
    Page {
        path: "/table",
        title: "A multilevel hash table",
        lead: "Each key has a bucket in every level, and lies in the first one that has room. Drag the bars, or type \
               sizes.",
        form,
    }
    .with(answer)
}

fn form(given: &Fields) -> Markup {
    let levels: Vec<&str> = given.all("level").take(MAX_LEVELS).collect();
    let with = |levels: &[&str]| {
        let others = given.0.iter().filter(|(name, _)| name != "level").cloned();
        let levels = levels.iter().map(|level| ("level".to_owned(), (*level).to_owned()));
        format!("/table?{}", Fields(others.chain(levels).collect()).encoded())
    };
    let more: Vec<&str> = levels.iter().copied().chain([levels.last().copied().unwrap_or("1000")]).collect();
    html! {
        fieldset {
            legend { "The table" }
            (field(given, "items", "Items", "keys in the table, such as 10000"))
            (field(given, "slots", "Slots per bucket", "the items that a bucket has room for"))
        }
        fieldset .levels {
            legend { "Buckets of each level" }
            @for (at, level) in levels.iter().enumerate() {
                @let id = format!("level-{at}");
                div .level {
                    label for=(id) { "Level " (at) }
                    input .slider.scripted type="range" min="0" max=(BAR_STEPS * BAR_DECADES) step="1" value=(bar(level))
                        data-bar=(id) aria-label=(format!("Level {at}: buckets, on a logarithmic scale"));
                    input #(id) name="level" value=(level) inputmode="numeric" autocomplete="off" maxlength="20";
                }
            }
            p .buttons {
                @if levels.len() < MAX_LEVELS { a href=(with(&more)) { "Add a level" } " " }
                @if levels.len() > 1 { a href=(with(&levels[..levels.len() - 1])) { "Remove the last" } }
            }
        }
        fieldset {
            legend { "Summaries" }
            (checkbox(given, "summaries", "Find the smallest summaries"))
            (field(given, "false_positive", "False positives", "the share of absent keys that may be read for"))
            (field(given, "extra_reads", "Extra reads per hit", "on average; empty for a guarantee instead"))
            (field(given, "failure", "Failure", "the odds that any key ever takes a second read"))
        }
        fieldset {
            legend { "Solve" }
            (checkbox(given, "solve", "Find the smallest table"))
            (field(given, "crisis", "Odds of a crisis", "at most, that any item finds no room; empty for those of the bars"))
        }
        fieldset {
            legend { "Simulate" }
            (checkbox(given, "simulate", "Fill tables and count"))
            (field(given, "trials", "Tables", "how many are filled"))
            (field(given, "steps", "Steps", "each deletes an item and inserts another; may be empty"))
            (checkbox(given, "second_chance", "Insertions may move an item"))
        }
    }
}

/// Where a bar of this many buckets ends.
fn bar(level: &str) -> u64 {
    let buckets = parse::whole(level).unwrap_or(1).max(1) as f64;
    (BAR_STEPS * buckets.log10()).round().clamp(0.0, BAR_STEPS * BAR_DECADES) as u64
}

fn flag(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

fn answer(given: &Fields) -> Result<Answer> {
    let levels: Vec<&str> = given.all("level").map(str::trim).collect();
    ensure!(!levels.is_empty(), "the levels are missing: give the buckets of at least one");
    let levels = levels.join(",");
    let mut table = given.only(&["items", "slots"]);
    table.push(flag("levels", levels.clone()));
    let asked = fields::plan(&["multilevel"], &table)?;
    let words = asked.words;
    let answer = asked.question.answer_with_pictures()?;
    let report = answer.report().expect("no sweep");
    let exact = report.document().into_json();
    let odds = shown(report, "crisis_probability");
    let headline = format!(
        "{} items in {} buckets: some item finds no room with probability {odds}.",
        shown(report, "items"),
        exact["levels"]
            .as_array()
            .map_or(0, |levels| levels.iter().filter_map(Value::as_u64).fold(0, u64::saturating_add))
    );
    let snippets = Snippets::new(&words, rust(&words));
    Ok(Answer {
        headline,
        body: html! {
            (page::report(report, "level"))
            @if given.is_on("simulate") { (section("Simulated", simulated(given, &levels, &exact))) }
            @if given.is_on("summaries") { (section("The smallest summaries", summaries(given, &table))) }
            @if given.is_on("solve") { (section("The smallest table", solved(given, &exact))) }
            (page::pictures(&answer.pictures))
            (page::copies(&words, &snippets))
        },
    })
}

fn shown(report: &Report, name: &str) -> String {
    let cells = report.shown().find(|shown| shown.name == name).map(|shown| shown.cells);
    cells.and_then(|cells| cells.into_iter().next()).unwrap_or_default()
}

/// A part of the answer, which may be refused by itself.
fn section(title: &str, body: Result<Markup>) -> Markup {
    html! {
        h2 { (title) }
        @match body {
            Ok(body) => (body),
            Err(error) => p .wrong { (format!("{error:#}")) },
        }
    }
}

/// What tables hold that are filled at random, beside the plan.
fn simulated(given: &Fields, levels: &str, plan: &Value) -> Result<Markup> {
    let mut flags = given.only(&["items", "slots", "trials", "steps", "second_chance"]);
    // A single size would be read as a number of levels.
    match levels.contains(',') {
        true => flags.push(flag("levels", levels)),
        false => flags.extend([flag("levels", "1"), flag("first_level", levels)]),
    }
    let asked = fields::simulate(&["table"], &flags)?;
    api::check(&asked.question)?;
    let found: Value = serde_json::from_str(&asked.question.run(|| ())?.json()?)?;
    let number = |value: &Value| value.as_f64().map_or_else(|| "–".to_owned(), short);
    let with_error = |name: &str, at: Option<usize>| {
        let of = |name: String| match at {
            Some(at) => found[name][at].clone(),
            None => found[name].clone(),
        };
        html! { (number(&of(name.to_owned()))) span .soft { " ± " (number(&of(format!("{name}_standard_error")))) } }
    };
    let count = found["levels"].as_array().map_or(0, Vec::len);
    let is_filled = found["steps"].as_u64() == Some(0) && !given.is_on("second_chance");
    let planned = |value: &Value| if is_filled { number(value) } else { "–".to_owned() };
    let stash = if is_filled { "end_stash" } else { "mean_stash" };
    let stash = if found[stash].is_null() { "end_stash" } else { stash };
    Ok(html! {
        div .scroll tabindex="0" role="group" aria-label="simulated beside planned" {
            table {
                thead { tr {
                    th scope="col" { "level" } th scope="col" .n { "planned items" } th scope="col" .n { "simulated items" }
                } }
                tbody {
                    @for at in 0..count { tr {
                        th scope="row" { (at) }
                        td .n { (planned(&plan["expected"][at])) }
                        td .n { (with_error("level_occupancy", Some(at))) }
                    } }
                    tr {
                        th scope="row" { "stash" }
                        td .n { (planned(&plan["expected_stash"])) }
                        td .n data-field="simulated_stash" data-value=(found[stash].to_string()) { (with_error(stash, None)) }
                    }
                }
            }
        }
        p .soft { "± is one standard error, of " (found["trials"].to_string()) " tables. "
            @if !is_filled { "The plan is of a table that is only filled. " }
            code { (fields::command_line(&asked.words)) } }
    })
}

/// The smallest summary of each kind.
fn summaries(given: &Fields, table: &[(String, String)]) -> Result<Markup> {
    let mut flags = given.only(&["false_positive"]);
    flags.extend(table.iter().cloned());
    match given.get("extra_reads") {
        "" => flags.extend(given.only(&["failure"])),
        reads => flags.push(flag("extra_reads", reads)),
    }
    let asked = fields::plan(&["solve", "summary"], &flags)?;
    let answer = asked.question.answer(&mut |_, _| ())?;
    let report = answer.report().expect("no sweep");
    let per_item = |report: &Report| {
        let bytes = report.document().into_json()["total_bytes"].as_f64();
        let items = answer.report().and_then(|report| report.document().into_json()["items"].as_f64());
        bytes.zip(items).map_or_else(String::new, |(bytes, items)| short(8.0 * bytes / items))
    };
    Ok(html! {
        div .scroll tabindex="0" role="group" aria-label="summaries, the smallest first" {
            table {
                thead { tr {
                    th scope="col" { "kind" }
                    th scope="col" .n { "bytes" }
                    th scope="col" .n { "bits per item" }
                    th scope="col" .n { "false positives" }
                    th scope="col" .n { "extra reads per hit" }
                } }
                tbody { @for row in [report].into_iter().chain(report.rows_of("runners_up")) { tr {
                    th scope="row" { (shown(row, "kind")) }
                    td .n { (shown(row, "total_bytes")) }
                    td .n { (per_item(row)) }
                    td .n { (shown(row, "false_positive")) }
                    td .n { (shown(row, "extra_reads_per_hit")) }
                } } }
            }
        }
        p .soft { code { (fields::command_line(&asked.words)) } }
    })
}

/// The smallest table with the odds of the bars, or with others.
fn solved(given: &Fields, plan: &Value) -> Result<Markup> {
    let mut flags = given.only(&["items", "slots", "crisis"]);
    if given.get("crisis").is_empty() {
        let odds = plan["crisis_probability"].as_f64().filter(|odds| (1e-300..1.0).contains(odds));
        let odds =
            odds.ok_or_else(|| anyhow::anyhow!("no table has these odds: give the odds of a crisis"))?;
        flags.push(flag("crisis", format!("{odds:e}")));
    }
    let count = plan["levels"].as_array().map_or(1, Vec::len);
    flags.push(flag("level_count", count.to_string()));
    let asked = fields::plan(&["solve", "table"], &flags)?;
    let answer = asked.question.answer(&mut |_, _| ())?;
    let report = answer.report().expect("no sweep");
    let exact = report.document().into_json();
    let levels = exact["levels"].as_array().into_iter().flatten();
    let levels = levels.map(|level| flag("level", level.to_string()));
    let others = given.0.iter().filter(|(name, _)| name != "level").cloned();
    let take = Fields(others.chain(levels).collect()).encoded();
    Ok(html! {
        p { (shown(report, "buckets")) " buckets, " (shown(report, "buckets_per_item")) " per item. "
            a href=(format!("/table?{take}")) { "Take these levels" } }
        (page::report(report, "level"))
        p .soft { code { (fields::command_line(&asked.words)) } }
    })
}

fn rust(words: &[String]) -> String {
    let levels = snippets::value(words, "--levels").unwrap_or_default();
    let levels: Vec<_> =
        levels.split(',').filter_map(|level| parse::whole(level).ok()).map(snippets::whole).collect();
    let slots = match snippets::number(words, "--slots").as_deref() {
        None | Some("1") => String::new(),
        Some(slots) => format!(".with_slots({slots})?"),
    };
    program(
        "use oneread::layout::MultilevelLayout;\nuse oneread::plan::multilevel::MultilevelPlan;",
        &format!(
            "let layout = MultilevelLayout::new([{}])?{slots};\n\
             let plan = MultilevelPlan::new(&layout, {})?;\n\
             println!(\"{{:?}} {{}}\", plan.expected(), plan.crisis_probability());",
            levels.join(", "),
            snippets::number(words, "--items").unwrap_or_default()
        ),
    )
}
