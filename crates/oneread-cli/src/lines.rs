//! Reads keys as lines of bytes, in batches.

use std::io::{ErrorKind, Read};
use std::iter;

use anyhow::{Context, Result, bail};
use memchr::{memchr_iter, memrchr};

/// The bytes per read, if the input has them.
const BUFFER: usize = 1 << 20;

/// The default limit for a line with its newline, which bounds the memory.
const MAX_LINE: usize = 16 << 20;

/// Splits a reader's bytes into whole lines, in batches of one read each.
pub(crate) struct Lines<R> {
    reader: R,
    /// The last batch (`taken` bytes), and the start of the next line (up to `filled`).
    buffer: Vec<u8>,
    taken: usize,
    filled: usize,
    ended: bool,
    /// The limit for a line with its newline.
    longest: usize,
    /// The number of lines of all batches so far.
    count: u64,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self::with_longest(reader, MAX_LINE)
    }

    /// Like `new`, but for lines of at most `longest` bytes, or of one read if that is more.
    pub(crate) fn with_longest(reader: R, longest: usize) -> Self {
        let longest = longest.max(BUFFER);
        Self { reader, buffer: vec![0; BUFFER], taken: 0, filled: 0, ended: false, longest, count: 0 }
    }

    /// The next lines, at least one; `None` at the end.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch<'_>>> {
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        let mut searched = 0;
        self.taken = loop {
            if let Some(newline) = memrchr(b'\n', &self.buffer[searched..self.filled]) {
                break searched + newline + 1;
            }
            if self.ended {
                break self.filled;
            }
            searched = self.filled;
            self.read()?;
        };
        let batch = Batch(&self.buffer[..self.taken]);
        if self.taken == 0 {
            return Ok(None);
        }
        self.count += batch.count();
        Ok(Some(batch))
    }

    /// Makes room and reads once.
    fn read(&mut self) -> Result<()> {
        if self.filled == self.longest {
            bail!(
                "line {} of the input is longer than {} MiB: are these lines?",
                self.count + 1,
                self.longest >> 20
            );
        }
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.longest.min(2 * self.filled), 0);
        }
        match self.reader.read(&mut self.buffer[self.filled..]) {
            Ok(0) => self.ended = true,
            Ok(count) => self.filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("cannot read the input"),
        }
        Ok(())
    }

    /// The number of lines so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

/// Whole lines; only the last line of the input may lack its newline.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a>(&'a [u8]);

impl<'a> Batch<'a> {
    /// The lines, without their newlines.
    pub(crate) fn lines(self) -> impl Iterator<Item = &'a [u8]> {
        let bytes = self.0.strip_suffix(b"\n").unwrap_or(self.0);
        let mut start = 0;
        memchr_iter(b'\n', bytes).chain(iter::once(bytes.len())).map(move |end| {
            let line = &bytes[start..end];
            start = end + 1;
            line
        })
    }

    pub(crate) fn count(self) -> u64 {
        let newlines = memchr_iter(b'\n', self.0).count() as u64;
        newlines + u64::from(!self.0.ends_with(b"\n"))
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

    fn all(input: &[u8], step: usize) -> Vec<Vec<u8>> {
        let mut lines = Lines::new(Slowly(input, step));
        let mut all = Vec::new();
        while let Some(batch) = lines.next_batch().expect("short lines") {
            assert_eq!(batch.count(), batch.lines().count() as u64);
            all.extend(batch.lines().map(<[u8]>::to_vec));
        }
        assert_eq!(lines.count(), all.len() as u64);
        all
    }

    #[test]
    fn lines_are_what_is_between_newlines_however_they_arrive() {
        for (input, expected) in [
            (&b""[..], &[][..]),
            (b"\n", &[&b""[..]]),
            (b"a", &[b"a"]),
            (b"a\n", &[b"a"]),
            (b"a\n\n", &[b"a", b""]),
            (b"\n\nab\r\n\xff\0c", &[b"", b"", b"ab\r", b"\xff\0c"]),
        ] {
            for step in 1..9 {
                assert_eq!(all(input, step), expected, "{input:?} by {step}");
            }
        }
    }

    #[test]
    fn a_long_line_is_whole_and_an_endless_one_an_error() {
        let mut input = vec![b'x'; MAX_LINE - 1];
        input.extend_from_slice(b"\nshort\n");
        assert_eq!(all(&input, 1 << 16).iter().map(Vec::len).collect::<Vec<_>>(), [MAX_LINE - 1, 5]);

        let mut lines = Lines::new((&b"first\n"[..]).chain(std::io::repeat(b'x')));
        assert_eq!(lines.next_batch().unwrap().unwrap().count(), 1);
        let error = lines.next_batch().err().expect("no end");
        assert!(error.to_string().starts_with("line 2 of the input is longer than 16 MiB"), "{error}");
    }
}
