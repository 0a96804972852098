//! Checks the report of the papers' claims in a browser: on a phone and on a wide screen, in light
//! and dark mode.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure as require};

use crate::shell::{cargo, root, step};

/// The widths that the page must fit, in pixels: a phone and a desktop.
const WIDTHS: [u32; 2] = [390, 1280];

/// The sections that a reader can jump to.
const SECTIONS: [&str; 10] = [
    "wrong",
    "undecided",
    "unknown",
    "summaries",
    "dleft",
    "less-hashing",
    "moves",
    "lecture",
    "questions",
    "how",
];

/// Writes the report of the committed results and checks it in Debian's browser.
pub(crate) fn run() -> Result<()> {
    let folder = root().join("target/report");
    fs::create_dir_all(&folder)?;
    // Existing results are reused, so that nothing is measured again.
    fs::copy(root().join("docs/results.json"), folder.join("results.json"))?;
    step(
        "the report",
        cargo(["run", "--quiet", "-p", "oneread-cli", "--", "reproduce", "--json", "--out"])
            .arg(&folder)
            .stdout(std::process::Stdio::null()),
    )?;
    let page = fs::read_to_string(folder.join("report.html"))?;
    for width in WIDTHS {
        for dark in [false, true] {
            look(&folder, &page, width, dark)?;
        }
    }
    Ok(())
}

/// Loads the page into a frame of `width` pixels with everything unfolded, and asks it for its
/// faults.
fn look(folder: &Path, page: &str, width: u32, dark: bool) -> Result<()> {
    let place = if dark { "the dark" } else { "the light" };
    eprintln!("── the report, {width} pixels wide, in {place}");
    let sections = SECTIONS.map(|section| format!("'{section}'")).join(",");
    let framed = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><pre id=\"found\">nothing</pre>\
         <iframe id=\"frame\" style=\"width:{width}px;height:900px;border:0\" srcdoc=\"{}\"></iframe>\
         <script>\
         frame.onload = () => {{\
           const page = frame.contentDocument, root = page.documentElement, wrong = [];\
           page.querySelectorAll('details').forEach(part => part.open = true);\
           if (root.scrollWidth > root.clientWidth) {{\
             const wide = [...page.querySelectorAll('body *')].find(part => part.getBoundingClientRect().right > root.clientWidth + 1);\
             wrong.push('it is ' + root.scrollWidth + ' pixels wide, by ' + (wide ? wide.outerHTML.slice(0, 200) : '?'));\
           }}\
           for (const id of [{sections}]) if (!page.getElementById(id)) wrong.push('there is no section ' + id);\
           if (page.querySelectorAll('svg.picture').length < 10) wrong.push('there are hardly any pictures');\
           const paper = frame.contentWindow.getComputedStyle(page.body).backgroundColor.match(/\\d+/g).map(Number);\
           if ((paper[0] < 128) !== {dark}) wrong.push('its background is ' + paper);\
           found.textContent = wrong.length ? 'wrong: ' + wrong.join('; ') : 'as it should be';\
         }};\
         </script>",
        page.replace('&', "&amp;").replace('"', "&quot;"),
    );
    let file = folder.join("framed.html");
    fs::write(&file, framed)?;
    let profile = folder.join("browser");
    let mut browser = Command::new("chromium");
    browser
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
        ])
        .args([
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            "--window-size=1400,1000",
        ])
        .args(["--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()));
    if dark {
        browser.arg("--force-dark-mode");
    }
    let output =
        browser.arg(format!("file://{}", file.display())).output().context("cannot start chromium")?;
    let (told, complaints) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if let Some(complaint) = complaints.lines().find(|line| line.contains(":CONSOLE")) {
        bail!("the report makes the browser complain: {complaint}");
    }
    let found = told.split_once("<pre id=\"found\">").and_then(|(_, after)| after.split_once("</pre>"));
    let found = found.map_or("the browser says nothing", |(found, _)| found);
    require!(found == "as it should be", "the report {width} pixels wide in {place}: {found}");
    Ok(())
}
