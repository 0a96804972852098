//! `oneread studio`: its answers are those of the command, to the last digit.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use serde_json::Value;

use super::shell::{command, oneread, text};

/// A studio on a free port; ended when dropped.
struct Studio {
    process: Child,
    address: String,
}

impl Drop for Studio {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

impl Studio {
    fn new() -> Self {
        let mut studio = command();
        studio.args(["studio", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped());
        let mut process = studio.spawn().expect("the studio starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        Self { address: address.expect("an address").to_owned(), process }
    }

    /// The status and the body of an answer.
    fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status.expect("a status"), body.to_owned())
    }
}

/// Draws one of several.
fn one<'a>(random: &mut Pcg64Mcg, of: &[&'a str]) -> &'a str {
    of[random.next_u64() as usize % of.len()]
}

/// A number between powers of ten, in one of the forms that people write.
fn number(random: &mut Pcg64Mcg, (least, most): (f64, f64)) -> String {
    let part = random.next_u64() as f64 / u64::MAX as f64;
    let value = 10f64.powf(least + part * (most - least)).round();
    match random.next_u64() % 3 {
        0 => format!("{value}"),
        1 => format!("{value:e}"),
        _ => format!("{}e1", (value / 10.0).ceil()),
    }
}

fn rate(random: &mut Pcg64Mcg) -> String {
    let part = random.next_u64() as f64 / u64::MAX as f64;
    format!("{:.3e}", 10f64.powf(-6.0 * part) * 0.5)
}

/// A question to the planner; one in eight has a flag that is wrong.
fn question(random: &mut Pcg64Mcg) -> (&'static str, Vec<(&'static str, String)>) {
    let coin = |random: &mut Pcg64Mcg| random.next_u64().is_multiple_of(2);
    let levels = |random: &mut Pcg64Mcg| {
        let first = 20 + random.next_u64() % 2000;
        (0..1 + random.next_u64() % 5)
            .map(|at| (first >> at).max(1).to_string())
            .collect::<Vec<_>>()
            .join(",")
    };
    let (subcommand, mut flags) = match random.next_u64() % 8 {
        0 => ("bloom", vec![("items", number(random, (1.0, 8.0))), ("bits", number(random, (2.0, 9.0)))]),
        1 => ("bloom", vec![("items", number(random, (1.0, 8.0))), ("rate", rate(random))]),
        2 => ("bloom", vec![("bits", number(random, (3.0, 9.0))), ("rate", rate(random))]),
        3 => {
            let mut flags = vec![("items", number(random, (3.0, 9.0))), ("rate", rate(random))];
            for need in ["delete", "growth", "threads", "one_line", "static"] {
                if random.next_u64().is_multiple_of(4) {
                    flags.push((need, "on".to_owned()));
                }
            }
            ("solve/filter", flags)
        }
        4 => {
            let mut flags = vec![("items", number(random, (4.0, 10.0)))];
            flags.push(("value_bytes", (1 + random.next_u64() % 900).to_string()));
            match coin(random) {
                true => flags.push(("reads_per_miss", rate(random))),
                false => flags.push(("memory", format!("{}M", 1 + random.next_u64() % 4096))),
            }
            ("solve/store", flags)
        }
        5 => ("multilevel", vec![("items", number(random, (1.0, 3.0))), ("levels", levels(random))]),
        6 => {
            let load = 0.1 + 0.01 * (random.next_u64() % 550) as f64;
            (
                "dleft",
                vec![
                    ("load", format!("{load:.2}")),
                    ("semisort", one(random, &["none", "one", "paper"]).into()),
                ],
            )
        }
        _ => {
            let mut flags = vec![("items", number(random, (1.0, 3.0))), ("levels", levels(random))];
            flags.extend([
                ("cells", number(random, (3.0, 5.0))),
                ("hashes", (1 + random.next_u64() % 20).to_string()),
            ]);
            ("summary/single", flags)
        }
    };
    if random.next_u64().is_multiple_of(8) {
        let wrong = ["0", "-1", "NaN", "1e400", "x", "--", "10;ls", "1e18", "%3Cb%3E"];
        // Not a switch, whose values a command line does not have.
        let at = random.next_u64() as usize % 2;
        flags[at].1 = one(random, &wrong).to_owned();
    }
    (subcommand, flags)
}

/// The same words, as a command line: a field with "on" is a flag without a value.
fn as_command(subcommand: &str, flags: &[(&str, String)]) -> Vec<String> {
    let mut words: Vec<String> =
        ["plan"].into_iter().chain(subcommand.split('/')).map(str::to_owned).collect();
    for (name, value) in flags {
        let name = name.replace('_', "-");
        words.push(if value == "on" { format!("--{name}") } else { format!("--{name}={value}") });
    }
    words.push("--json".to_owned());
    words
}

fn asked(studio: &Studio, subcommand: &str, flags: &[(&str, String)]) -> bool {
    let encoded = |text: &str| text.replace('%', "%25").replace(';', "%3B");
    let query: Vec<_> = flags.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    let (status, body) = studio.get(&format!("/api/plan/{subcommand}?{}", query.join("&")));
    let words = as_command(subcommand, flags);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = oneread(&words);
    if output.status.success() {
        assert_eq!((status, body.trim_end()), (200, text(&output.stdout).trim_end()), "{words:?}");
        return true;
    }
    // What is refused is refused with the same sentence.
    let refusal: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{words:?}: {body}"));
    let printed = text(&output.stderr).lines().next().unwrap_or_default();
    assert_eq!(format!("error: {}", refusal["error"].as_str().unwrap_or_default()), printed, "{words:?}");
    assert_eq!(status, 400, "{words:?}");
    false
}

#[test]
fn some_random_requests_equal_the_command() {
    let (studio, mut random) = (Studio::new(), Pcg64Mcg::new(1));
    for _ in 0..20 {
        let (subcommand, flags) = question(&mut random);
        asked(&studio, subcommand, &flags);
    }
}

#[test]
#[ignore = "long: about 60 s"]
fn a_thousand_random_requests_equal_the_command() {
    let (studio, mut random) = (Studio::new(), Pcg64Mcg::new(2));
    let questions: Vec<_> = (0..1000).map(|_| question(&mut random)).collect();
    let answered = std::thread::scope(|scope| {
        let halves: Vec<_> = questions
            .chunks(500)
            .map(|half| {
                let studio = &studio;
                scope.spawn(move || {
                    half.iter().filter(|(subcommand, flags)| asked(studio, subcommand, flags)).count()
                })
            })
            .collect();
        halves.into_iter().map(|half| half.join().expect("equal")).sum::<usize>()
    });
    // Most questions have an answer: it is not only refusals that are compared.
    assert!((600..950).contains(&answered), "{answered}");
}

#[test]
fn a_simulation_equals_the_command() {
    let studio = Studio::new();
    let (status, body) =
        studio.get("/api/simulate/table?items=900&levels=4&steps=2000&trials=3&seed=5&second_chance=on");
    let words =
        "simulate table --items 900 --levels 4 --steps 2000 --trials 3 --seed 5 --second-chance --json";
    let output = oneread(&words.split(' ').collect::<Vec<_>>());
    assert_eq!((status, body.trim_end()), (200, text(&output.stdout).trim_end()));
    // Days of work, and a table larger than memory, are refused at once.
    for query in [
        "items=1e9&levels=4",
        "items=100&levels=1e9,5",
        "items=10&levels=4&steps=1e12",
        "items=10&levels=2&trials=1e6&steps=1000",
    ] {
        let (status, body) = studio.get(&format!("/api/simulate/table?{query}"));
        assert!(status == 400 && body.contains("command line"), "{query}: {body}");
    }
}

#[test]
fn a_studio_that_cannot_listen_says_what_to_do() {
    let studio = Studio::new();
    let output = oneread(&["studio", "--listen", &studio.address]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--listen"), "{}", text(&output.stderr));
    let output = oneread(&["studio", "--results", "no-such-folder"]);
    assert!(text(&output.stderr).contains("results.json"), "{}", text(&output.stderr));
}
