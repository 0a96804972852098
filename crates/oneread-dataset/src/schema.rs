//! The schema of a dataset: what keys and values mean, by name and type.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The most columns of a key or a value.
pub(crate) const MAX_COLUMNS: usize = 1 << 12;

/// What the keys and values of a dataset mean. Lookups take and give bytes; the schema says how to
/// show them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// The names of the key's columns. With one, a key is its text; with several, see
    /// [`key_of`](Schema::key_of). Empty if keys are plain bytes.
    #[serde(default)]
    pub key: Vec<String>,
    /// The values.
    pub values: Values,
}

/// What the values of a dataset are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Values {
    /// Bytes.
    #[default]
    Bytes,
    /// None: the dataset is a set of keys.
    None,
    /// One JSON document each, in UTF-8.
    Json,
    /// Rows of named, typed columns: see [`encode_row`](crate::encode_row).
    Row {
        /// The columns, in order.
        columns: Vec<Column>,
    },
    /// Vectors of one dimension: their elements, least significant byte first.
    Vector {
        /// The name of the column.
        name: String,
        /// The type of an element.
        element: Element,
        /// The number of elements.
        dimension: u32,
    },
}

/// A column of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ColumnType,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ColumnType {
    /// Text in UTF-8.
    Text,
    /// Bytes.
    Bytes,
    /// True or false.
    Bool,
    /// A signed number of 64 bits.
    Int64,
    /// An unsigned number of 64 bits.
    Uint64,
    /// A floating-point number of 64 bits.
    Float64,
    /// A JSON document, for nested values.
    Json,
}

/// The type of a vector's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Element {
    /// 32-bit floating-point numbers.
    F32,
    /// 16-bit floating-point numbers (IEEE 754 binary16).
    F16,
    /// Signed bytes.
    I8,
}

impl Element {
    /// The bytes of an element.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 => 2,
            Self::I8 => 1,
        }
    }
}

impl Schema {
    /// Keys and values that are plain bytes.
    #[must_use]
    pub fn bytes() -> Self {
        Self::default()
    }

    /// The bytes that every value has, if the schema fixes them.
    #[must_use]
    pub fn value_bytes(&self) -> Option<usize> {
        match &self.values {
            Values::None => Some(0),
            Values::Vector { element, dimension, .. } => Some(element.bytes() * *dimension as usize),
            _ => None,
        }
    }

    /// The key of some columns: their text if there is one, else a tuple of texts as in
    /// `docs/format.md`, so that `("ab", "c")` and `("a", "bc")` differ.
    #[must_use]
    pub fn key_of<T: AsRef<[u8]>>(columns: &[T]) -> Vec<u8> {
        if let [one] = columns {
            return one.as_ref().to_vec();
        }
        let mut key = vec![0xff, columns.len() as u8];
        for column in columns {
            let text = column.as_ref();
            key.push(3);
            key.extend_from_slice(&(text.len() as u64).to_le_bytes());
            key.extend_from_slice(text);
        }
        key
    }

    /// The columns of a key, if it has those of the schema.
    #[must_use]
    pub fn columns_of<'a>(&self, key: &'a [u8]) -> Option<Vec<&'a [u8]>> {
        if self.key.len() <= 1 {
            return Some(vec![key]);
        }
        let mut rest = key.strip_prefix(&[0xff, self.key.len() as u8])?;
        let mut columns = Vec::new();
        while !rest.is_empty() {
            let (length, after) = rest.strip_prefix(&[3])?.split_first_chunk::<8>()?;
            let (text, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
            columns.push(text);
            rest = after;
        }
        (columns.len() == self.key.len()).then_some(columns)
    }

    pub(crate) fn check(&self) -> Result<()> {
        let columns = match &self.values {
            Values::Row { columns } => columns.len(),
            _ => 0,
        };
        if columns > MAX_COLUMNS || self.key.len() > u8::MAX as usize {
            return Err(Error::option("schema", "at most 255 key columns and 4096 value columns"));
        }
        // A vector lies beside its key or in a run; both have a length of 32 bits and more.
        if self.value_bytes().is_some_and(|bytes| bytes > 1 << 30) {
            return Err(Error::option("dimension", "vectors of at most 1 GiB"));
        }
        let mut names: Vec<&str> = self.key.iter().map(String::as_str).collect();
        match &self.values {
            Values::Row { columns } => names.extend(columns.iter().map(|column| column.name.as_str())),
            Values::Vector { name, .. } => names.push(name),
            Values::Bytes | Values::None | Values::Json => {}
        }
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Error::option("schema", format_args!("one column named \"{}\"", pair[0]))),
            None => Ok(()),
        }
    }
}
