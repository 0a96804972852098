//! The files to import: their format, compression, and progress.

use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::bufread::MultiGzDecoder;
use indicatif::ProgressBar;

use super::zstd::Zstd;
use crate::args::store::Format;

/// The bytes per read of a file.
const BUFFER: usize = 1 << 18;

/// The number of first bytes that identify a file.
const MAGIC: usize = 4;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// A skippable zstd frame begins with one of sixteen bytes, then these.
const ZSTD_SKIPPED: &[u8] = &[0x2a, 0x4d, 0x18];
/// Some programs write it before UTF-8; it is not part of the text.
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// A file to open, or stdin.
pub(crate) struct Input<'a> {
    /// `None` means stdin.
    path: Option<&'a Path>,
    pub(crate) name: String,
    pub(crate) format: Format,
    /// The length of the file, compressed or not; a pipe has none.
    pub(crate) bytes: Option<u64>,
}

impl<'a> Input<'a> {
    pub(crate) fn new(path: &'a Path, format: Option<Format>) -> Result<Self> {
        let is_stdin = path == Path::new("-");
        let name = if is_stdin { "stdin".to_owned() } else { path.display().to_string() };
        let input = || {
            let metadata = if is_stdin { None } else { Some(fs::metadata(path).context("cannot open it")?) };
            if metadata.as_ref().is_some_and(fs::Metadata::is_dir) {
                bail!("it is a directory: name the files in it");
            }
            let bytes = metadata.filter(fs::Metadata::is_file).map(|metadata| metadata.len());
            let is_named_parquet = path.extension().is_some_and(|extension| extension == "parquet");
            let is_parquet = bytes.is_some() && is_parquet(path).context("cannot open it")?;
            if is_parquet || (format.is_none() && is_named_parquet) {
                bail!("it is a Parquet file, which is not read: write its rows as CSV or JSON Lines first");
            }
            let format = format
                .or_else(|| by_name(path))
                .context("its name does not tell how its rows are written: add --format csv, tsv or jsonl")?;
            Ok(Self { path: (!is_stdin).then_some(path), name: name.clone(), format, bytes })
        };
        input().with_context(|| name.clone())
    }

    /// The bytes of the rows. The bar advances with the bytes read of the file.
    pub(crate) fn open(&self, progress: &ProgressBar) -> Result<Box<dyn Read>> {
        let raw: Box<dyn Read> = match self.path {
            Some(path) => Box::new(File::open(path).context("cannot open it")?),
            None => Box::new(io::stdin()),
        };
        let (magic, raw) = peek(progress.wrap_read(raw)).context("cannot read it")?;
        let buffered = BufReader::with_capacity(BUFFER, raw);
        let decoded: Box<dyn Read> = if magic.starts_with(GZIP) {
            Box::new(Compressed { by: "gzip", decoder: MultiGzDecoder::new(buffered) })
        } else if magic.starts_with(ZSTD) || (magic.len() == MAGIC && magic[1..] == *ZSTD_SKIPPED) {
            Box::new(Compressed { by: "zstd", decoder: Zstd::new(buffered) })
        } else {
            Box::new(buffered)
        };
        let (start, mut rows) = peek(decoded).context("cannot read it")?;
        if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
            bail!("it is in UTF-16: convert it to UTF-8, as `iconv -f UTF-16 -t UTF-8` does");
        }
        if start.starts_with(BYTE_ORDER_MARK) {
            rows.read_exact(&mut [0; BYTE_ORDER_MARK.len()]).context("cannot read it")?;
        }
        Ok(Box::new(rows))
    }
}

/// Reports whether a file begins and ends like Parquet. A row may do so too.
fn is_parquet(path: &Path) -> io::Result<bool> {
    const PARQUET: [u8; MAGIC] = *b"PAR1";
    let mut file = File::open(path)?;
    if file.metadata()?.len() < 2 * MAGIC as u64 {
        return Ok(false);
    }
    let (mut first, mut last) = ([0; MAGIC], [0; MAGIC]);
    file.read_exact(&mut first)?;
    file.seek(SeekFrom::End(-(MAGIC as i64)))?;
    file.read_exact(&mut last)?;
    Ok([first, last] == [PARQUET; 2])
}

fn by_name(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let compressed = [".gz", ".gzip", ".zst", ".zstd"];
    let name = compressed.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    match name.rsplit_once('.')?.1 {
        "csv" => Some(Format::Csv),
        "tsv" | "tab" => Some(Format::Tsv),
        "jsonl" | "ndjson" => Some(Format::Jsonl),
        _ => None,
    }
}

/// Returns the first bytes, fewer at the end, and a reader of all of them.
fn peek<R: Read>(mut reader: R) -> io::Result<(Vec<u8>, impl Read)> {
    let mut start = Vec::with_capacity(MAGIC);
    (&mut reader).take(MAGIC as u64).read_to_end(&mut start)?;
    Ok((start.clone(), Cursor::new(start).chain(reader)))
}

/// Adds to errors that the compressed bytes are wrong, not the decompressed ones.
struct Compressed<R> {
    by: &'static str,
    decoder: R,
}

impl<R: Read> Read for Compressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let by = self.by;
        self.decoder.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::new(error.kind(), format!("its {by} data are cut short"))
            }
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                io::Error::new(error.kind(), format!("its {by} data are damaged ({error})"))
            }
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_format_before_the_compression() {
        for (name, format) in [
            ("a.csv", Some(Format::Csv)),
            ("folder.jsonl/A.CSV.GZ", Some(Format::Csv)),
            ("a.tsv.zst", Some(Format::Tsv)),
            ("a.b.ndjson", Some(Format::Jsonl)),
            ("csv", None),
            ("a.json", None),
            ("a.csv.bz2", None),
        ] {
            assert_eq!(by_name(Path::new(name)), format, "{name}");
        }
    }
}
