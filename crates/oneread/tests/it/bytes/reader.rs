//! Streams that deliver small pieces after interruptions, end early or fail.

use std::io::{self, Read, Write};

use oneread::bytes::{Kind, LoadError};
use oneread::filter::{
    BlockedBloomFilter, BloomFilter, CountMinSketch, CountingBloomFilter, DLeftFilter, GrowingFilter,
};
use oneread::hash::Portable;

use super::{HEADER, HEADER_CHECKSUM, LAYOUT, PAYLOAD_LENGTH, bloom, put, reseal, samples};

/// Delivers pieces of varying size, each after an interruption, and fails at the end.
struct Hesitant<'a> {
    bytes: &'a [u8],
    calls: usize,
    at_end: io::ErrorKind,
}

impl Read for Hesitant<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls % 2 == 1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if self.bytes.is_empty() {
            return Err(self.at_end.into());
        }
        let count = (self.calls % 7 + 1).min(buffer.len()).min(self.bytes.len());
        let (crumb, rest) = self.bytes.split_at(count);
        buffer[..count].copy_from_slice(crumb);
        self.bytes = rest;
        Ok(count)
    }
}

fn hesitant(bytes: &[u8]) -> Hesitant<'_> {
    Hesitant { bytes, calls: 0, at_end: io::ErrorKind::BrokenPipe }
}

/// Reads a structure of the kind from a stream, and returns its bytes.
fn load(kind: Kind, reader: impl Read) -> Result<Vec<u8>, LoadError> {
    Ok(match kind {
        Kind::Bloom => <BloomFilter>::load(reader)?.to_bytes(),
        Kind::Blocked => <BlockedBloomFilter>::load(reader)?.to_bytes(),
        Kind::Counting => <CountingBloomFilter>::load(reader)?.to_bytes(),
        Kind::CountMin => <CountMinSketch>::load(reader)?.to_bytes(),
        Kind::Growing => <GrowingFilter>::load(reader)?.to_bytes(),
        Kind::DLeft => <DLeftFilter>::load(reader)?.to_bytes(),
        _ => panic!("a kind without a sample: {kind}"),
    })
}

#[test]
fn interruptions_and_short_reads_do_no_harm() {
    for (kind, bytes) in samples() {
        assert_eq!(load(kind, hesitant(&bytes)).unwrap(), bytes, "{kind}");
    }
}

#[test]
fn a_failure_midway_is_passed_on() {
    for (kind, bytes) in samples() {
        for length in 0..bytes.len() {
            let error = load(kind, hesitant(&bytes[..length])).unwrap_err();
            let LoadError::Io(cause) = error else { panic!("{kind}, {length} bytes: {error}") };
            assert_eq!(cause.kind(), io::ErrorKind::BrokenPipe, "{kind}, {length} bytes");
        }
    }
}

#[test]
fn a_stream_that_ends_early_is_too_short() {
    for (kind, bytes) in samples() {
        for length in 12..bytes.len() {
            let error = load(kind, &bytes[..length]).unwrap_err();
            let LoadError::Length { expected, found } = error else {
                panic!("{kind}, {length} bytes: {error}")
            };
            let whole = if length < HEADER { HEADER } else { bytes.len() };
            assert_eq!((expected, found), (whole as u64, length as u64), "{kind}");
        }
    }
}

#[test]
fn a_stream_is_not_trusted_about_its_length() {
    // 2^46 bits are 2^43 bytes: the header announces these, and a megabyte follows.
    let mut bytes = bloom().to_bytes();
    put(&mut bytes, LAYOUT, 1 << 46);
    put(&mut bytes, PAYLOAD_LENGTH, 1 << 43);
    reseal(&mut bytes);
    let stream = (&bytes[..HEADER]).chain(io::repeat(0).take(1 << 20));
    let error = <BloomFilter>::load(stream).unwrap_err();
    let LoadError::Length { expected, found } = error else { panic!("{error}") };
    assert_eq!((expected, found), ((1 << 43) + 128, (1 << 20) + 128));
}

#[test]
fn several_structures_share_a_stream() {
    let mut stream = Vec::new();
    for (_, bytes) in samples() {
        stream.extend(bytes);
    }
    let mut reader = hesitant(&stream);
    for (kind, bytes) in samples() {
        assert_eq!(load(kind, &mut reader).unwrap(), bytes, "{kind}");
    }
    assert!(reader.bytes.is_empty());
}

/// A writer that accepts a fixed number of bytes and then fails.
struct Full {
    room: usize,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.room).min(100);
        self.room -= count;
        if count == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(count) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_failure_to_write_is_passed_on() {
    let filter = BloomFilter::with_digester(bloom().layout(), Portable::with_seed(1)).unwrap();
    let length = filter.to_bytes().len();
    for room in 0..length {
        let error = filter.save(Full { room }).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{room} bytes");
    }
    filter.save(Full { room: length }).unwrap();
}

#[test]
fn the_header_checksum_is_over_all_but_itself() {
    // Changed in place only: reported as a damaged header.
    let mut bytes = bloom().to_bytes();
    put(&mut bytes, HEADER_CHECKSUM, 0);
    let error = <BloomFilter>::load(&*bytes).unwrap_err();
    assert!(matches!(error, LoadError::Checksum { part: "header", expected: 0, .. }), "{error}");
}
