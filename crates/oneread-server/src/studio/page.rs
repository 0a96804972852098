//! What all pages share: the frame, a form and its answer.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use oneread_lab::picture::{Picture, svg};
use oneread_planner::{Report, fields};
use serde_json::Value;

use super::query::Fields;
use super::snippets::Snippets;
use super::work::Failure;

/// The pages, as the navigation shows them.
const PAGES: [(&str, &str); 5] = [
    ("/choose", "Choose"),
    ("/filter", "Filter"),
    ("/table", "Table"),
    ("/store", "Store"),
    ("/papers", "Papers"),
];

/// A page with a form.
pub(super) struct Page<'a> {
    pub(super) path: &'a str,
    pub(super) title: &'a str,
    /// What the page is for, in a sentence.
    pub(super) lead: &'a str,
    pub(super) form: Markup,
}

/// The answer to a form: a sentence that says the most, and the rest.
pub(super) struct Answer {
    pub(super) headline: String,
    pub(super) body: Markup,
}

impl Page<'_> {
    /// The page with its answer, or with what is wrong.
    pub(super) fn with(self, answer: Result<Answer, Failure>) -> Response {
        let (status, answer) = match answer {
            Ok(Answer { headline, body }) => {
                (StatusCode::OK, html! { p #headline .headline { (headline) } (body) })
            }
            // A form that is half filled in is no error of its user.
            Err(Failure::Refused(error)) => {
                (StatusCode::OK, html! { p #headline .wrong { (sentence(&format!("{error:#}"))) } })
            }
            Err(Failure::Busy(reason)) => {
                (StatusCode::SERVICE_UNAVAILABLE, html! { p #headline .wrong { (sentence(reason)) } })
            }
        };
        let main = html! {
            h1 { (self.title) }
            p .lead { (self.lead) }
            form .ask action=(self.path) method="get" data-live {
                (self.form)
                p .buttons { button type="submit" { "Plan" } " " a href=(self.path) { "Start again" } }
            }
            p #status .unseen role="status" {}
            section #answer aria-labelledby="headline" { (answer) }
        };
        shown(status, self.path, self.title, &[], &main)
    }
}

/// Begins with a capital and ends with a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.trim().chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.trim().ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// A whole page.
pub(super) fn shown(status: StatusCode, path: &str, title: &str, styles: &[&str], main: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – oneread studio" }
                link rel="icon" href="/icon.svg" type="image/svg+xml";
                @for style in styles { link rel="stylesheet" href=(style); }
                link rel="stylesheet" href="/studio.css";
                script src="/studio.js" defer {}
            }
            body {
                a .skip href="#main" { "Skip to the page" }
                header {
                    a .name href="/choose" { "oneread " span { "studio" } }
                    nav aria-label="Pages" {
                        @for (to, name) in PAGES {
                            a href=(to) aria-current=[(to == path).then_some("page")] { (name) }
                        }
                    }
                }
                main #main { (main) }
                footer {
                    p { "All numbers are computed here, by the code of " code { "oneread plan" }
                        ". The address of a page holds its state." }
                }
            }
        }
    };
    (status, [(header::CACHE_CONTROL, "no-store")], axum::response::Html(page.into_string())).into_response()
}

pub(super) async fn not_found() -> Response {
    let main = html! { h1 { "There is no such page" } p { "Choose one above." } };
    shown(StatusCode::NOT_FOUND, "", "No such page", &[], &main)
}

/// A field for a number, with its unit or an explanation.
pub(super) fn field(fields: &Fields, name: &str, label: &str, hint: &str) -> Markup {
    let help = format!("{name}-hint");
    html! {
        div .field {
            label for=(name) { (label) }
            input #(name) name=(name) value=(fields.get(name)) inputmode="decimal" autocomplete="off" spellcheck="false"
                maxlength="200" aria-describedby=(help);
            span .hint #(help) { (hint) }
        }
    }
}

/// A box to check.
pub(super) fn checkbox(fields: &Fields, name: &str, label: &str) -> Markup {
    html! {
        div .box {
            input #(name) type="checkbox" name=(name) value="on" checked[fields.is_on(name)];
            label for=(name) { (label) }
        }
    }
}

/// The named numbers of a report: lists in a table by index, others below each other.
pub(super) fn report(report: &Report, index: &str) -> Markup {
    let exact = report.document().0;
    let value = |name: &str, at: Option<usize>| {
        let found = exact.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let value = match at {
            Some(at) => found.and_then(|list| list.get(at)),
            None => found,
        };
        value.map(Value::to_string).unwrap_or_default()
    };
    let (lists, single): (Vec<_>, Vec<_>) = report.shown().partition(|shown| shown.is_list);
    let length = lists.iter().map(|list| list.cells.len()).max().unwrap_or(0);
    html! {
        @if length > 0 {
            div .scroll tabindex="0" role="group" aria-label=(format!("numbers by {index}")) {
                table {
                    thead { tr {
                        th scope="col" { (index) }
                        @for list in &lists { th scope="col" .n { code { (list.name) } br; span .soft { (list.unit) } } }
                    } }
                    tbody { @for at in 0..length { tr {
                        th scope="row" { (at) }
                        @for list in &lists {
                            td .n data-field=(list.name) data-value=(value(list.name, Some(at))) {
                                (list.cells.get(at).map_or("", String::as_str))
                            }
                        }
                    } } }
                }
            }
        }
        dl .numbers {
            @for shown in &single {
                div {
                    dt { code { (shown.name) } @if !shown.unit.is_empty() { " " span .soft { (shown.unit) } } }
                    dd data-field=(shown.name) data-value=(value(shown.name, None)) {
                        (shown.cells.first().map_or("", String::as_str))
                    }
                }
            }
        }
    }
}

/// Charts, each as wide as there is room.
pub(super) fn pictures(pictures: &[Picture]) -> Markup {
    html! {
        div .pictures {
            @for picture in pictures {
                figure { figcaption { (picture.title) } (PreEscaped(svg::part(picture))) }
            }
        }
    }
}

/// The same answer from a shell and from programs, to copy.
pub(super) fn copies(words: &[String], snippets: &Snippets) -> Markup {
    let texts = [
        ("shell", "Command line", fields::command_line(words)),
        ("rust", "Rust", snippets.rust.clone()),
        ("python", "Python", snippets.python.clone()),
    ];
    html! {
        section .copies aria-label="The same answer elsewhere" {
            h2 { "The same answer elsewhere" }
            @for (id, name, text) in &texts {
                @let code = format!("code-{id}");
                div .copy {
                    h3 { (name) }
                    button type="button" data-copy=(code) { "Copy" span .unseen { " the " (name) } }
                    pre tabindex="0" role="group" aria-label=(name) { code #(code) { (text) } }
                }
            }
        }
    }
}

/// About four digits of a number.
pub(super) fn short(number: f64) -> String {
    match number.abs() {
        _ if number.is_nan() => "–".to_owned(),
        0.0 => "0".to_owned(),
        size if !(1e-3..1e6).contains(&size) => format!("{number:.3e}"),
        size if size < 1.0 => format!("{number:.5}").trim_end_matches('0').to_owned(),
        size if size < 100.0 => format!("{number:.3}").trim_end_matches('0').trim_end_matches('.').to_owned(),
        _ => format!("{number:.0}"),
    }
}
