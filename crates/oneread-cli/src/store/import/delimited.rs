//! Parses CSV and TSV: fields between delimiters, in quotes where needed.

use std::io::{ErrorKind, Read};

use anyhow::{Context, Result, bail};
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::{MAX_FIELDS, Sink};
use crate::args::store::Import;
use crate::store::rows::write_field;

/// The bytes per read.
const BUFFER: usize = 1 << 17;

/// Passes the key and the value of each row to the sink.
pub(super) fn read(reader: impl Read, delimiter: u8, args: &Import, sink: &mut Sink<'_>) -> Result<()> {
    let mut rows = Rows::new(reader, delimiter, !args.no_quotes, args.memory as usize);
    if !rows.advance()? {
        if args.no_header {
            return Ok(());
        }
        bail!("it is empty: expected a header with the names of the columns, or --no-header");
    }
    let columns =
        if args.no_header { Columns::by_number(&rows, args) } else { Columns::by_name(&rows, args) }?;
    // Without a header, the first row is already parsed.
    let mut there = args.no_header || rows.advance()?;
    let mut value = Vec::new();
    while there {
        if rows.len() == columns.count {
            columns.value(&rows, delimiter, &mut value);
            sink(rows.line, Ok((rows.field(columns.key), &value)))?;
        } else {
            let found = rows.len();
            let expected = columns.count;
            let fields = if expected == 1 { "field" } else { "fields" };
            let like = if args.no_header { "first row" } else { "header" };
            sink(rows.line, Err(format!("expected {expected} {fields} as in the {like}, found {found}")))?;
        }
        there = rows.advance()?;
    }
    Ok(())
}

/// The columns of the key and the value.
struct Columns {
    key: usize,
    /// `None` means the rest of the row.
    value: Option<usize>,
    count: usize,
}

impl Columns {
    fn by_name<R: Read>(header: &Rows<R>, args: &Import) -> Result<Self> {
        let names: Vec<_> = (0..header.len()).map(|at| String::from_utf8_lossy(header.field(at))).collect();
        let find = |name: &String| {
            let mut with_name = (0..names.len()).filter(|&at| names[at] == **name);
            match (with_name.next(), with_name.next()) {
                (Some(at), None) => Ok(at),
                (Some(_), Some(_)) => bail!("there are two columns \"{name}\": rename one"),
                (None, _) => bail!("there is no column \"{name}\": there are {}", listed(&names)),
            }
        };
        Ok(Self {
            key: args.key.as_ref().map_or(Ok(0), find)?,
            value: args.value.as_ref().map(find).transpose()?,
            count: names.len(),
        })
    }

    fn by_number<R: Read>(first: &Rows<R>, args: &Import) -> Result<Self> {
        let count = first.len();
        let find = |text: &String| match text.parse() {
            Ok(number) if (1..=count).contains(&number) => Ok(number - 1),
            Ok(_) => bail!("there is no column {text}: there are {count}, counted from 1"),
            Err(_) => bail!("without a header columns have numbers from 1, and \"{text}\" is none"),
        };
        Ok(Self {
            key: args.key.as_ref().map_or(Ok(0), find)?,
            value: args.value.as_ref().map(find).transpose()?,
            count,
        })
    }

    fn value<R: Read>(&self, row: &Rows<R>, delimiter: u8, value: &mut Vec<u8>) {
        value.clear();
        let mut others = (0..self.count).filter(|&at| at != self.key);
        match (self.value, self.count) {
            (Some(at), _) => value.extend_from_slice(row.field(at)),
            (None, 2) => value.extend(others.next().into_iter().flat_map(|at| row.field(at))),
            (None, _) => {
                for (number, at) in others.enumerate() {
                    if number > 0 {
                        value.push(delimiter);
                    }
                    write_field(row.field(at), delimiter, value);
                }
            }
        }
    }
}

/// Lists some names, for an error.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 20;
    let quoted = names.iter().take(SHOWN).map(|name| format!("\"{}\"", name.as_ref().escape_debug()));
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    quoted.collect::<Vec<_>>().join(", ") + &more
}

/// Reads one row at a time.
pub(crate) struct Rows<R> {
    reader: R,
    parser: Reader,
    buffer: Vec<u8>,
    /// The start of the unparsed bytes in the buffer.
    taken: usize,
    filled: usize,
    ended: bool,
    /// The fields of the current row, one after the other, and their ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    fields: usize,
    /// The line at which the current row begins, from 1.
    pub(crate) line: u64,
    /// Line ends between rows that the parser did not see.
    skipped: u64,
    longest: usize,
}

impl<R: Read> Rows<R> {
    pub(crate) fn new(reader: R, delimiter: u8, quotes: bool, longest: usize) -> Self {
        Self {
            reader,
            parser: ReaderBuilder::new().delimiter(delimiter).quoting(quotes).build(),
            buffer: vec![0; BUFFER],
            taken: 0,
            filled: 0,
            ended: false,
            bytes: vec![0; 1 << 12],
            ends: vec![0; 1 << 5],
            fields: 0,
            line: 0,
            skipped: 0,
            longest,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.fields
    }

    pub(crate) fn field(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    /// Reads the next row; returns `false` at the end.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.skip_line_ends()?;
        self.line = self.parser.line() + self.skipped;
        self.fill()?;
        if self.ended {
            return Ok(false);
        }
        let (mut written, mut fields) = (0, 0);
        loop {
            self.fill()?;
            // The last row may lack its line end.
            let input = if self.ended { b"\n" } else { &self.buffer[self.taken..self.filled] };
            let (result, read, out, ended) =
                self.parser.read_record(input, &mut self.bytes[written..], &mut self.ends[fields..]);
            if !self.ended {
                self.taken += read;
            }
            written += out;
            fields += ended;
            match result {
                // A line end that does not end the row is inside quotes.
                ReadRecordResult::InputEmpty if self.ended => bail!(
                    "line {}: a quote in this row is never closed: close it, or add --no-quotes",
                    self.line
                ),
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.bytes.len() < self.longest => {
                    self.bytes.resize(self.longest.min(2 * self.bytes.len()), 0);
                }
                ReadRecordResult::OutputFull => bail!(
                    "line {}: the row is longer than {} MiB: is a quote not closed? Else give more --memory",
                    self.line,
                    self.longest >> 20
                ),
                ReadRecordResult::OutputEndsFull if self.ends.len() < MAX_FIELDS => {
                    self.ends.resize(MAX_FIELDS.min(2 * self.ends.len()), 0);
                }
                ReadRecordResult::OutputEndsFull => {
                    bail!("line {}: the row has more than {MAX_FIELDS} fields", self.line)
                }
                ReadRecordResult::Record => {
                    self.fields = fields;
                    return Ok(true);
                }
                ReadRecordResult::End => return Ok(false),
            }
        }
    }

    /// Skips empty lines. The parser would skip them too, but count them to the following row.
    fn skip_line_ends(&mut self) -> Result<()> {
        loop {
            self.fill()?;
            match self.buffer[self.taken..self.filled].first() {
                Some(b'\n') => self.skipped += 1,
                Some(b'\r') => {}
                _ => return Ok(()),
            }
            self.taken += 1;
        }
    }

    /// Reads once if the buffer is empty.
    fn fill(&mut self) -> Result<()> {
        while self.taken == self.filled && !self.ended {
            match self.reader.read(&mut self.buffer) {
                Ok(count) => (self.taken, self.filled, self.ended) = (0, count, count == 0),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("cannot read it"),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns at most `self.1` bytes per read.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(buffer.len());
            self.0.read(&mut buffer[..count])
        }
    }

    /// A row: its line, and its fields.
    type Row = (u64, Vec<Vec<u8>>);

    fn rows(input: &[u8], step: usize, longest: usize) -> Result<Vec<Row>> {
        let mut rows = Rows::new(Slowly(input, step), b',', true, longest);
        let mut all = Vec::new();
        while rows.advance()? {
            all.push((rows.line, (0..rows.len()).map(|at| rows.field(at).to_vec()).collect()));
        }
        Ok(all)
    }

    #[test]
    fn rows_have_the_line_that_they_begin_in_however_they_arrive() {
        let input = b"a,b\r\n\r\n\n1,\"x\ny\"\n\"\",\"say \"\"no\"\"\"\r\n,\xff\n\nlast,";
        let expected: [(u64, [&[u8]; 2]); 5] = [
            (1, [b"a", b"b"]),
            (4, [b"1", b"x\ny"]),
            (6, [b"", b"say \"no\""]),
            (7, [b"", b"\xff"]),
            (9, [b"last", b""]),
        ];
        let expected: Vec<Row> =
            expected.map(|(line, fields)| (line, fields.map(<[u8]>::to_vec).to_vec())).to_vec();
        for step in 1..input.len() + 1 {
            assert_eq!(rows(input, step, 1 << 20).unwrap(), expected, "by {step}");
        }
        assert!(rows(b"", 1, 1).unwrap().is_empty() && rows(b"\n\r\n", 1, 1).unwrap().is_empty());
    }

    #[test]
    fn a_quote_that_is_not_closed_and_a_row_without_end_are_errors() {
        for input in [&b"a,b\n1,\"x\n"[..], b"a,b\n1,\"", b"a,b\n\"1,2\n3,4"] {
            let error = rows(input, 2, 1 << 20).unwrap_err().to_string();
            assert!(error.starts_with("line 2: a quote"), "{error}");
        }
        assert_eq!(rows(b"a,\"b\"", 3, 1 << 20).unwrap().len(), 1);
        let long = [&b"a\n"[..], &[b'x'; 10_000]].concat();
        let error = rows(&long, 100, 1 << 13).unwrap_err().to_string();
        assert!(error.starts_with("line 2: the row is longer"), "{error}");
        assert_eq!(rows(&long, 100, 1 << 14).unwrap()[1].1[0].len(), 10_000);
        let wide = vec![b','; MAX_FIELDS];
        assert!(rows(&wide, 1000, 1 << 20).unwrap_err().to_string().contains("fields"));
    }
}
