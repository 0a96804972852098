//! Answers as text: a table for people, a document or CSV for programs.

use serde::{Serialize, Serializer};
use serde_json::Value;

/// The alignment of a column.
#[derive(Clone, Copy, Debug)]
pub enum Align {
    /// To the left, as words are.
    Left,
    /// To the right, as numbers are.
    Right,
}

/// Aligns cells in columns; the first row holds the headings, if any.
#[must_use]
pub fn table(aligns: impl AsRef<[Align]>, rows: &[impl AsRef<[String]>]) -> String {
    let aligns = aligns.as_ref();
    let width = |at: usize| rows.iter().map(|row| row.as_ref()[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..aligns.len()).map(width).collect();
    let lines = rows.iter().map(|row| {
        let cells = row.as_ref().iter().zip(&widths).zip(aligns).map(|((cell, &width), align)| match align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Named values in a fixed order.
#[derive(Clone, Debug, PartialEq)]
pub struct Document(pub Vec<(String, Value)>);

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Document {
    /// Converts it to one JSON object.
    #[must_use]
    pub fn into_json(self) -> Value {
        Value::Object(self.0.into_iter().collect())
    }
}

/// Formats documents as CSV: single values first, then lists with a column for each entry. Missing
/// values are empty.
pub(crate) fn csv(documents: &[Document]) -> String {
    // Each name with the entries of its longest list; `None` for a single value.
    let mut columns: Vec<(&str, Option<usize>)> = Vec::new();
    for (name, value) in documents.iter().flat_map(|document| &document.0) {
        // A cell cannot hold a table.
        if value.as_array().is_some_and(|entries| entries.iter().any(Value::is_object)) {
            continue;
        }
        let entries = value.as_array().map(Vec::len);
        match columns.iter_mut().find(|(known, _)| known == name) {
            Some((_, most)) => *most = (*most).max(entries),
            None => columns.push((name, entries)),
        }
    }
    let (single, lists): (Vec<_>, Vec<_>) = columns.into_iter().partition(|(_, entries)| entries.is_none());
    let header = single.iter().map(|(name, _)| (*name).to_owned()).chain(
        lists.iter().flat_map(|(name, most)| (0..most.unwrap_or(0)).map(move |at| format!("{name}_{at}"))),
    );
    let rows = documents.iter().map(|document| {
        let value = |name: &str| {
            document.0.iter().find(|(known, _)| known == name).map_or(&Value::Null, |(_, value)| value)
        };
        let entries = |name, most| (0..most).map(move |at| cell(value(name).get(at).unwrap_or(&Value::Null)));
        let single = single.iter().map(|(name, _)| cell(value(name)));
        let lists = lists.iter().flat_map(|&(name, most)| entries(name, most.unwrap_or(0)));
        single.chain(lists).collect::<Vec<_>>().join(",")
    });
    let lines = [header.collect::<Vec<_>>().join(",")].into_iter().chain(rows);
    lines.collect::<Vec<_>>().join("\n")
}

/// A cell of CSV: unknown values are empty. Names and numbers need no quotes.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => {
            let number = value.to_string();
            number.strip_suffix(".0").map_or(number.clone(), str::to_owned)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["name", "n"], ["a", "100"], ["žluť", "1"]].map(|row| row.map(str::to_owned));
        let text = table([Align::Left, Align::Right], &rows);
        assert_eq!(text, "name    n\na     100\nžluť    1");
    }

    #[test]
    fn documents_with_longer_lists_add_columns() {
        let named = |fields: &[(&str, Value)]| {
            Document(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
        };
        let documents = [
            named(&[("n", json!(1.0)), ("of", json!([2, 0.5]))]),
            named(&[("n", Value::Null), ("of", json!([3, 4, 5])), ("to", json!("x"))]),
        ];
        assert_eq!(csv(&documents), "n,to,of_0,of_1,of_2\n1,,2,0.5,\n,x,3,4,5");
    }
}
