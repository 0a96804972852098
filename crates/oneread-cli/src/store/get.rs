//! `oneread store get`: prints the values of keys.

use std::borrow::Cow;
use std::io::{self, Read, StdoutLock, Write};

use anyhow::{Context, Result, anyhow};

use super::any::Any;
use super::rows::{write_object, write_row};
use super::{explained, opened};
use crate::Outcome;
use crate::args::store::{Format, Get};
use crate::lines::Lines;

/// The most keys per batch, the first batch, and about how many bytes of values a batch holds in
/// memory. The values so far predict the size of the next ones.
const MAX_KEYS: usize = 1024;
const FIRST_KEYS: usize = 32;
const MAX_BYTES: usize = 16 << 20;

/// The most absent keys to name.
const MAX_TOLD: u64 = 100;

pub(super) fn run(args: &Get) -> Result<Outcome> {
    let store = Any::open(&args.path)?;
    let mut printing = Printing { args, together: FIRST_KEYS, store, out: io::stdout().lock(), absent: 0 };
    if args.stdin {
        printing.lines(io::stdin().lock())?;
    } else {
        let keys: Vec<_> = args.keys.iter().map(|key| key.as_encoded_bytes()).collect();
        printing.keys(&keys, 1)?;
    }
    if printing.absent > MAX_TOLD {
        eprintln!("absent: {} more keys", printing.absent - MAX_TOLD);
    }
    Ok(if printing.absent > 0 { Outcome::Negative } else { Outcome::Done })
}

struct Printing<'a> {
    args: &'a Get,
    store: Any,
    out: StdoutLock<'a>,
    together: usize,
    absent: u64,
}

impl Printing<'_> {
    fn lines(&mut self, reader: impl Read) -> Result<()> {
        let mut lines = Lines::new(reader);
        let mut number = 1;
        while let Some(batch) = lines.next_batch()? {
            let keys: Vec<_> = batch.lines().collect();
            self.keys(&keys, number)?;
            number += batch.count();
        }
        Ok(())
    }

    /// Prints the values of some keys; the first has number `first`.
    fn keys(&mut self, keys: &[&[u8]], first: u64) -> Result<()> {
        let mut done = 0;
        while done < keys.len() {
            let keys = &keys[done..keys.len().min(done + self.together)];
            let first = first + done as u64;
            done += keys.len();
            let decoded: Vec<Cow<'_, [u8]>> = (first..)
                .zip(keys)
                .map(|(number, key)| decoded(key, self.args.hex, &format!("key {number}")))
                .collect::<Result<_>>()?;
            let (mut printed, mut absent) = (Vec::new(), String::new());
            let mut failure = None;
            for (key, value) in decoded.iter().zip(self.store.get_many(&decoded)) {
                match value {
                    Ok(Some(value)) => self.append(key, &value, &mut printed),
                    Ok(None) => {
                        self.absent += 1;
                        if self.absent <= MAX_TOLD {
                            absent.push_str(&format!("absent: {}\n", key.escape_ascii()));
                        }
                    }
                    Err(error) => {
                        failure = Some(explained(error).context(format!("key \"{}\"", key.escape_ascii())));
                        break;
                    }
                }
            }
            // Flushed per batch, for interactive use: programs that write lines wait for answers.
            self.out
                .write_all(&printed)
                .and_then(|()| self.out.flush())
                .context("cannot write the output")?;
            eprint!("{absent}");
            let fitting = self.together * MAX_BYTES / printed.len().max(1);
            self.together = fitting.clamp(1, MAX_KEYS.min(2 * self.together));
            if let Some(failure) = failure {
                return opened(&self.args.path, || Err(failure));
            }
        }
        Ok(())
    }

    fn append(&self, key: &[u8], value: &[u8], out: &mut Vec<u8>) {
        if self.args.json {
            write_object(&shown(key, self.args.hex), &shown(value, self.args.hex), &self.args.columns, out);
            return;
        }
        let shown = |bytes| shown(bytes, self.args.hex);
        if self.args.with_keys {
            write_row(&shown(key), &shown(value), Format::Tsv, out);
            return;
        }
        out.extend_from_slice(&shown(value));
        if !self.args.raw {
            out.push(b'\n');
        }
    }
}

/// Formats bytes for output.
fn shown(bytes: &[u8], hex: bool) -> Cow<'_, [u8]> {
    if hex { Cow::Owned(to_hex(bytes)) } else { Cow::Borrowed(bytes) }
}

/// The bytes of an argument: its own, or those of its hexadecimal digits.
pub(super) fn decoded<'a>(argument: &'a [u8], hex: bool, what: &str) -> Result<Cow<'a, [u8]>> {
    if !hex {
        return Ok(Cow::Borrowed(argument));
    }
    let bytes = from_hex(argument).map(Cow::Owned);
    bytes.ok_or_else(|| anyhow!("{what} is not hexadecimal: \"{}\"", argument.escape_ascii()))
}

fn to_hex(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS[usize::from(value)];
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    pairs.iter().map(|&[high, low]| Some(value(high)? << 4 | value(low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_are_read_as_they_are_written() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&to_hex(&all)), Some(all));
        assert_eq!(to_hex(b"\x00\xfa"), b"00fa");
        assert_eq!(from_hex(b"00FA"), Some(vec![0, 0xfa]));
        assert_eq!((from_hex(b"0"), from_hex(b"0g"), from_hex(b"+1")), (None, None, None));
    }
}
