//! Reads the rows of files: CSV, TSV and JSON Lines here, Parquet and Arrow in `tables`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use indicatif::ProgressBar;
use oneread_dataset::{Column, ColumnType, Field, Schema, Values, encode_row, encode_vector};

use super::build::Building;
use crate::args::dataset::{self as args, Build, Format};
use crate::args::store as store_args;
use crate::lines::Lines;
use crate::store::import::delimited::{Rows, listed};
use crate::store::import::input::Input;
use crate::store::import::jsonl::Object;
use crate::store::rows::KEY;

/// The first bytes of Parquet and Arrow files.
const PARQUET: &[u8] = b"PAR1";
const ARROW: &[u8] = b"ARROW1";

/// The element of vectors.
pub(super) fn element(args: &Build) -> Option<oneread_dataset::Element> {
    Some(match args.vector? {
        args::Element::F32 => oneread_dataset::Element::F32,
        args::Element::F16 => oneread_dataset::Element::F16,
        args::Element::I8 => oneread_dataset::Element::I8,
    })
}

/// The values of a schema, from the columns that are not in the key.
pub(super) fn values(args: &Build, columns: Vec<Column>) -> Values {
    match (element(args), columns.first()) {
        (Some(element), Some(column)) => Values::Vector {
            name: column.name.clone(),
            element,
            dimension: args.dimension.unwrap_or_default() as u32,
        },
        _ if args.set => Values::None,
        _ => Values::Row { columns },
    }
}

/// Reads a file and passes its rows on.
pub(super) fn read(path: &Path, args: &Build, progress: &ProgressBar, to: &mut Building<'_>) -> Result<()> {
    let format = match args.format {
        Some(Format::Csv) => Some(store_args::Format::Csv),
        Some(Format::Tsv) => Some(store_args::Format::Tsv),
        Some(Format::Jsonl) => Some(store_args::Format::Jsonl),
        Some(Format::Parquet) => return tables(path, Format::Parquet, args, progress, to),
        Some(Format::Arrow) => return tables(path, Format::Arrow, args, progress, to),
        None => match table_format(path)? {
            Some(format) => return tables(path, format, args, progress, to),
            None => None,
        },
    };
    let input = Input::new(path, format)?;
    let reader = input.open(progress)?;
    match crate::store::rows::delimiter(input.format) {
        Some(delimiter) => delimited(reader, delimiter, args, to),
        None => json_lines(reader, args, to),
    }
}

/// Parquet or Arrow, by its first bytes or by its name.
fn table_format(path: &Path) -> Result<Option<Format>> {
    if path == Path::new("-") {
        return Ok(None);
    }
    let mut first = Vec::new();
    let file = File::open(path).context("cannot open it")?;
    if file.metadata()?.is_dir() {
        bail!("it is a directory: name the files in it");
    }
    file.take(ARROW.len() as u64).read_to_end(&mut first).context("cannot read it")?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    Ok(match extension {
        _ if first.starts_with(PARQUET) => Some(Format::Parquet),
        _ if first.starts_with(ARROW) => Some(Format::Arrow),
        Some("parquet") => Some(Format::Parquet),
        Some("arrow" | "arrows" | "feather" | "ipc") => Some(Format::Arrow),
        _ => None,
    })
}

#[cfg(feature = "parquet")]
fn tables(
    path: &Path,
    format: Format,
    args: &Build,
    progress: &ProgressBar,
    to: &mut Building<'_>,
) -> Result<()> {
    super::tables::read(path, format, args, to)?;
    progress.inc(std::fs::metadata(path)?.len());
    Ok(())
}

#[cfg(not(feature = "parquet"))]
fn tables(_: &Path, format: Format, _: &Build, _: &ProgressBar, _: &mut Building<'_>) -> Result<()> {
    let name = if format == Format::Parquet { "a Parquet" } else { "an Arrow" };
    bail!(
        "it is {name} file, which this build cannot read: `cargo install oneread-cli --features parquet` can"
    )
}

/// The positions of the columns of key and value.
pub(super) struct Chosen {
    pub(super) key: Vec<usize>,
    pub(super) value: Vec<usize>,
}

impl Chosen {
    /// Finds the columns that the flags name.
    pub(super) fn of(names: &[String], args: &Build) -> Result<Self> {
        let find = |name: &String| {
            let mut with_name = (0..names.len()).filter(|&at| names[at] == *name);
            match (with_name.next(), with_name.next()) {
                (Some(at), None) => Ok(at),
                (Some(_), Some(_)) => bail!("there are two columns \"{name}\": rename one"),
                (None, _) => bail!("there is no column \"{name}\": there are {}", listed(names)),
            }
        };
        let key: Vec<usize> = match args.key.as_slice() {
            [] => vec![0],
            key => key.iter().map(find).collect::<Result<_>>()?,
        };
        let value = match args.value.as_slice() {
            _ if args.set => Vec::new(),
            [] => (0..names.len()).filter(|at| !key.contains(at)).collect(),
            value => value.iter().map(find).collect::<Result<_>>()?,
        };
        Ok(Self { key, value })
    }
}

fn delimited(reader: impl Read, delimiter: u8, args: &Build, to: &mut Building<'_>) -> Result<()> {
    let mut rows = Rows::new(reader, delimiter, !args.no_quotes, args.memory as usize);
    if !rows.advance()? {
        if args.no_header {
            return Ok(());
        }
        bail!("it is empty: expected a header with the names of the columns, or --no-header");
    }
    let count = rows.len();
    let names: Vec<String> = (0..count)
        .map(|at| match args.no_header {
            true => (at + 1).to_string(),
            false => String::from_utf8_lossy(rows.field(at)).into_owned(),
        })
        .collect();
    let chosen = Chosen::of(&names, args)?;
    let named = |at: &usize| names[*at].clone();
    let columns: Vec<Column> =
        chosen.value.iter().map(|at| Column { name: named(at), kind: ColumnType::Text }).collect();
    let schema =
        Schema { key: chosen.key.iter().map(named).collect(), values: values(args, columns.clone()) };
    to.schema(schema)?;
    let mut there = args.no_header || rows.advance()?;
    let mut value = Vec::new();
    while there {
        let line = rows.line;
        if rows.len() != count {
            bail!("line {line}: expected {count} fields, found {}", rows.len());
        }
        let key: Vec<&[u8]> = chosen.key.iter().map(|&at| rows.field(at)).collect();
        value.clear();
        if let (Some(_), [at]) = (args.vector, chosen.value.as_slice()) {
            vector(rows.field(*at), args, &mut value).with_context(|| format!("line {line}"))?;
        } else if !args.set {
            let field = |&at: &usize| {
                let field = rows.field(at);
                std::str::from_utf8(field).map_or(Field::Bytes(field), Field::Text)
            };
            let fields: Vec<Field<'_>> = chosen.value.iter().map(field).collect();
            encode_row(&columns, &fields, &mut value)?;
        }
        to.insert(line, &Schema::key_of(&key), &value)?;
        there = rows.advance()?;
    }
    Ok(())
}

/// Appends the elements of a vector that is written as a JSON list.
fn vector(text: &[u8], args: &Build, out: &mut Vec<u8>) -> Result<()> {
    let numbers: Vec<f64> = serde_json::from_slice(text)
        .map_err(|error| anyhow!("its vector is no list of numbers ({error})"))?;
    numbers_of(&numbers, args, out)
}

/// Appends the elements of a vector of the right dimension.
pub(super) fn numbers_of(numbers: &[f64], args: &Build, out: &mut Vec<u8>) -> Result<()> {
    let expected = args.dimension.unwrap_or_default();
    if numbers.len() as u64 != expected {
        bail!("expected a vector of {expected} numbers, found {}", numbers.len());
    }
    let element = element(args).context("--vector names no element")?;
    Ok(encode_vector(element, numbers, out)?)
}

fn json_lines(reader: impl Read, args: &Build, to: &mut Building<'_>) -> Result<()> {
    let names = if args.key.is_empty() { vec![KEY.to_owned()] } else { args.key.clone() };
    let values = match element(args) {
        Some(_) => values(args, vec![Column { name: args.value[0].clone(), kind: ColumnType::Json }]),
        None if args.set => Values::None,
        None => Values::Json,
    };
    to.schema(Schema { key: names.clone(), values })?;
    let mut lines = Lines::with_longest(reader, args.memory as usize);
    let mut number = 0;
    while let Some(batch) = lines.next_batch()? {
        for line in batch.lines() {
            number += 1;
            if !line.trim_ascii().is_empty() {
                json_line(line, &names, args, number, to).with_context(|| format!("line {number}"))?;
            }
        }
    }
    Ok(())
}

fn json_line(line: &[u8], names: &[String], args: &Build, number: u64, to: &mut Building<'_>) -> Result<()> {
    let object = Object::parse(line).map_err(|why| anyhow!(why))?;
    let mut key = Vec::new();
    let mut used = Vec::new();
    for name in names {
        let found = object.find(name, "--key").map_err(|why| anyhow!(why))?;
        if matches!(found.json.get().as_bytes().first(), Some(b'{' | b'[' | b'n')) {
            bail!("its key \"{name}\" is {}: expected text or a number", found.json.get());
        }
        used.push(found.at);
        key.push(found.bytes().map_err(|why| anyhow!(why))?);
    }
    let mut value = Vec::new();
    if args.vector.is_some() {
        let found = object.find(&args.value[0], "--value").map_err(|why| anyhow!(why))?;
        vector(found.json.get().as_bytes(), args, &mut value)?;
    } else if !args.set {
        let fields = if args.value.is_empty() {
            (0..object.len()).filter(|at| !used.contains(at)).collect()
        } else {
            let find = |name| object.find(name, "--value").map(|found| found.at).map_err(|why| anyhow!(why));
            args.value.iter().map(|name| find(name)).collect::<Result<Vec<_>>>()?
        };
        value = object.text_of(&fields).into_bytes();
    }
    to.insert(number, &Schema::key_of(&key), &value)
}
