//! The state of a page: the fields of its query.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The most bytes of a query, and the most fields; what is beyond is dropped.
const MAX_BYTES: usize = 16 << 10;
const MAX_FIELDS: usize = 128;

/// The fields of a query, in order; a name may come more than once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fields(pub(super) Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Fields {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts.uri.query().unwrap_or_default()))
    }
}

impl Fields {
    /// The fields of a query, without those that are empty.
    pub(super) fn of(query: &str) -> Self {
        // A letter has at most four bytes.
        let query = (0..4).find_map(|less| query.get(..MAX_BYTES - less)).unwrap_or(query);
        let fields = query.split('&').take(MAX_FIELDS).filter_map(|field| {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            let (name, value) = (decoded(name), decoded(value));
            (!name.is_empty() && !value.trim().is_empty()).then_some((name, value))
        });
        Self(fields.collect())
    }

    /// These fields if there are any, else others.
    pub(super) fn or(self, usual: &[(&str, &str)]) -> Self {
        if !self.0.is_empty() {
            return self;
        }
        Self(usual.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    /// The first value of a name, or nothing.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// All values of a name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether a box is checked.
    pub(super) fn is_on(&self, name: &str) -> bool {
        !matches!(self.get(name), "" | "off" | "no" | "false" | "0")
    }

    /// A number from `least` to `most`, or the usual one.
    pub(super) fn number(&self, name: &str, usual: f64, (least, most): (f64, f64)) -> f64 {
        let number = self.get(name).trim().parse::<f64>().ok().filter(|number| number.is_finite());
        number.unwrap_or(usual).clamp(least, most)
    }

    /// The fields of these names, in order, for the planner.
    pub(super) fn only(&self, names: &[&str]) -> Vec<(String, String)> {
        self.0.iter().filter(|(name, _)| names.contains(&name.as_str())).cloned().collect()
    }

    /// The query.
    pub(super) fn encoded(&self) -> String {
        let fields: Vec<_> =
            self.0.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        fields.join("&")
    }
}

/// Bytes after `%` and spaces for `+`; what is no UTF-8 is replaced.
fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

fn encoded(text: &str) -> String {
    /// What is left as it is: the values of forms are mostly numbers, with commas and units.
    const OTHERS: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b',').remove(b' ');
    utf8_percent_encode(text, OTHERS).to_string().replace(' ', "+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_its_fields_and_back() {
        let fields = Fields::of("a=1&b=%3Cx%3E+y&a=2&empty=&=3&c");
        let expected = [("a", "1"), ("b", "<x> y"), ("a", "2")];
        assert_eq!(fields, Fields::default().or(&expected));
        assert_eq!(fields.encoded(), "a=1&b=%3Cx%3E+y&a=2");
        assert_eq!(fields.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!((fields.get("b"), fields.get("z")), ("<x> y", ""));
    }

    #[test]
    fn hostile_queries_are_some_fields() {
        for query in ["%", "%4", "%zz=%f", "a=%ff%fe", "&&&&", "a=b=c", "é=ü", &"a=1&".repeat(10_000)] {
            assert!(Fields::of(query).0.len() <= MAX_FIELDS, "{query}");
        }
        // A cut inside a letter drops the cut, not the page.
        assert!(Fields::of(&format!("a=1&b={}", "é".repeat(MAX_BYTES))).0.len() == 2);
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let fields = Fields::of("a=5&b=-1&c=NaN&d=1e300&e=x");
        let numbers = ["a", "b", "c", "d", "e"].map(|name| fields.number(name, 2.0, (0.0, 10.0)));
        assert_eq!(numbers, [5.0, 0.0, 2.0, 10.0, 2.0]);
    }
}
