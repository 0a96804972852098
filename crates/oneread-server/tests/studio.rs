//! The pages of the studio, whatever their query is.

use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use oneread_lab::results::Results;
use oneread_server::studio::router;
use tokio::runtime::Builder;
use tower::ServiceExt;

const PAGES: [&str; 5] = ["/choose", "/filter", "/table", "/store", "/papers"];

/// The status, the headers as text, and the body.
fn get(path: &str) -> (StatusCode, String, String) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let found = runtime.block_on(async {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = router(Results::published().ok()).oneshot(request).await.unwrap();
        let headers = format!("{:?}", response.headers());
        let status = response.status();
        let body = to_bytes(response.into_body(), 1 << 26).await.unwrap();
        (status, headers, String::from_utf8(body.to_vec()).unwrap())
    });
    runtime.shutdown_background();
    found
}

/// The value of a field on a page, as the planner computed it.
fn value<'a>(page: &'a str, field: &str) -> &'a str {
    let mark = format!("<dd data-field=\"{field}\" data-value=\"");
    page.split(&mark).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_else(|| panic!("no {field}"))
}

#[test]
fn every_page_answers_and_is_alone() {
    for page in PAGES {
        let (status, headers, body) = get(page);
        assert_eq!(status, StatusCode::OK, "{page}: {body}");
        assert!(headers.contains("default-src 'none'") && headers.contains("nosniff"), "{headers}");
        // The policy forbids scripts and styles inside a page.
        assert!(
            !body.contains(" style=\"") && !body.contains("<style") && !body.contains("onclick"),
            "{page}"
        );
        assert_eq!(body.matches("<script").count(), 1, "{page}");
        assert!(body.contains("<script src=\"/studio.js\" defer></script>"), "{page}");
        let links = body
            .split(['"', '\''])
            .filter(|text| text.starts_with("http://") || text.starts_with("https://"));
        assert_eq!(links.filter(|link| *link != "http://www.w3.org/2000/svg").count(), 0, "{page}");
        assert_eq!(body.matches("aria-current=\"page\"").count(), 1, "{page}");
    }
    let (status, _, body) = get("/nowhere");
    assert!(status == StatusCode::NOT_FOUND && body.contains("There is no such page"));
    for file in ["/studio.css", "/studio.js", "/papers.css", "/icon.svg"] {
        assert_eq!(get(file).0, StatusCode::OK, "{file}");
    }
}

#[test]
fn a_page_without_results_says_how_to_get_them() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let body = runtime.block_on(async {
        let request = Request::get("/papers").body(Body::empty()).unwrap();
        to_bytes(router(None).oneshot(request).await.unwrap().into_body(), 1 << 20).await.unwrap()
    });
    assert!(String::from_utf8_lossy(&body).contains("oneread reproduce --out"));
}

/// The paper's table: 10^-12 is its crisis probability, and 40,000·(1 − e^(−1/4)) = 8848 items are
/// at the first level.
#[test]
fn the_pages_show_the_numbers_of_the_planner() {
    let (_, _, page) = get("/table");
    let odds: f64 = value(&page, "crisis_probability").parse().unwrap();
    assert!((0.9e-12..1.1e-12).contains(&odds), "{odds}");
    // The exact expectation is within 0.1% of the printed approximation.
    assert!(page.contains("data-field=\"expected\" data-value=\"884"), "{page}");
    let (_, _, page) = get("/choose?items=1e6&rate=0.001&delete=on&static=off");
    assert_eq!(value(&page, "structure"), "&quot;LineFilter&quot;");
    // A million keys at 15 bits: 15.75 bits per key, 1.16e-4.
    let (_, _, page) = get("/choose?items=1e6&rate=1.2e-4&static=on");
    assert_eq!(value(&page, "static_bits_per_key"), "15.75");
    assert!(
        page.split("<tbody>").nth(1).unwrap().starts_with("<tr><th scope=\"row\"><code>PlacedFilter"),
        "{page}"
    );
    // What is given both ways says what to relax.
    let (status, _, page) = get("/store?items=1e8&reads_per_miss=0.01&ram_bytes=1M");
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("No layout meets all targets: allow bytes"), "{page}");
}

#[test]
fn hostile_queries_are_refused_or_shown_as_text() {
    let tag = "%3Cscript%3Ealert(1)%3C/script%3E%22%27%3E";
    let values = [
        tag,
        "-1",
        "0",
        "NaN",
        "inf",
        "1e18",
        "1e400",
        "18446744073709551615",
        "0x10",
        "--json",
        "--layout=/etc/passwd",
        "%00",
        "%ff%fe",
        "%F0%9F%92%A9",
        "1,,2",
        ",",
        "1e6,1e6,1e6",
        "../../etc",
        "%27;%20drop",
        "9e15",
        "1e-320",
        "%",
    ];
    let fields = [
        ("/choose", &["items", "rate", "memory", "delete", "measure"][..]),
        ("/filter", &["items", "bits", "hashes", "rate", "scheme"]),
        ("/table", &["items", "level", "slots", "trials", "steps", "crisis", "failure"]),
        ("/store", &["items", "value_bytes", "ram_bytes", "hits", "drive_reads"]),
    ];
    let usual = |page: &str| match page {
        "/table" => "items=100&level=200&level=50&trials=2&simulate=on&solve=on",
        "/store" => "items=1e6&reads_per_miss=0.1",
        // Nothing that takes long to plan: pages are asked hundreds of times.
        _ => "items=1000&rate=0.1&one_line=on",
    };
    let ask = |page: &str, name: &str, value: &str| {
        let others = usual(page).split('&').filter(|field| !field.starts_with(&format!("{name}=")));
        let path = format!("{page}?{name}={value}&{}", others.collect::<Vec<_>>().join("&"));
        let begin = Instant::now();
        let (status, _, body) = get(&path);
        assert_eq!(status, StatusCode::OK, "{path}");
        assert!(!body.contains("<script>alert") && body.contains("id=\"headline\""), "{path}");
        assert!(begin.elapsed() < Duration::from_secs(30), "{path} took {:?}", begin.elapsed());
    };
    std::thread::scope(|scope| {
        for (page, names) in fields {
            let ask = &ask;
            scope.spawn(move || {
                names.iter().for_each(|name| values.iter().for_each(|value| ask(page, name, value)));
            });
        }
    });
    // Many fields, long fields, unknown fields.
    for page in PAGES {
        for query in ["a=1&".repeat(5000), format!("items={}", "9".repeat(30_000)), "level=1&".repeat(500)] {
            let (status, _, _) = get(&format!("{page}?{query}"));
            assert_eq!(status, StatusCode::OK, "{page}");
        }
    }
}

#[test]
fn the_api_reads_no_file_and_names_the_mistake() {
    for path in [
        "/api/plan/bloom?items=10&bits=100&layout=/etc/passwd",
        "/api/plan/bloom?items=10&bits=100&layout_out=/tmp/x",
        "/api/plan/bloom?items=10&bits=100&plot=/tmp/x.svg",
        "/api/plan/bloom?items=10&sweep=bits=1..1e6",
        "/api/plan/solve?items=10",
        "/api/plan/nothing?items=10",
        "/api/plan/solve/filter/more?items=10",
        "/api/simulate/table?items=10",
        "/api/plan/%2e%2e/x",
    ] {
        let (status, headers, body) = get(path);
        assert!(
            status == StatusCode::BAD_REQUEST && body.starts_with("{\"error\":\""),
            "{path}: {status} {body}"
        );
        assert!(headers.contains("application/json"), "{path}: {headers}");
    }
}

/// The code that a page shows for a state: it is compiled here, and run.
macro_rules! snippets {
    ($($name:ident: $state:literal),+) => {
        $(mod $name {
            include!(concat!("snippets/", stringify!($name), ".rs"));

            #[test]
            fn the_rust_of_a_page_compiles_and_runs() {
                main().unwrap();
                let (_, _, page) = super::get($state);
                let code = page.split("<code id=\"code-rust\">").nth(1).unwrap().split("</code>").next().unwrap();
                let code = code.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
                assert_eq!(code, include_str!(concat!("snippets/", stringify!($name), ".rs")));
            }
        })+
    };
}

snippets! {
    choose: "/choose?items=1e6&rate=0.001&delete=on&memory=100+MB",
    choose_memory: "/choose?items=1e5&memory=100K",
    filter: "/filter?items=1000&rate=0.01&scheme=double",
    table: "/table?items=10000&level=40000&level=10000&slots=2",
    store: "/store?items=1e6&ram_bytes=1M"
}
