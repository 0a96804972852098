//! The cost of one read that a summary saves: a cache line of a large array, or a page of a file.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use anyhow::{Context, Result, ensure};
use rand_core::Rng;

use crate::measure::{Bench, Contestant, Sample, timed};
use crate::workload::{generator, random_bytes};

/// Far larger than any cache.
const ARRAY_BYTES: usize = 1 << 30;
const LINE_WORDS: usize = 8;
const STEPS: u64 = 1_000_000;

const FILE_BYTES: usize = 256 << 20;
const PAGE: usize = 4096;
const READS: u64 = 2_000;

pub(super) fn contest(bench: &mut Bench) -> Result<()> {
    let workload = "a read that is saved";
    if !bench.wants(workload) {
        return Ok(());
    }
    let chain = chain();
    let mut at = 0;
    let miss = move || {
        timed(|| {
            for _ in 0..STEPS {
                at = chain[at] as usize;
            }
            black_box(at);
            STEPS
        })
    };
    let mut file = tempfile::tempfile_in(".").context("cannot make a file to read")?;
    let piece = random_bytes(1 << 20, 3);
    (0..FILE_BYTES / piece.len()).try_for_each(|_| file.write_all(&piece))?;
    // Only clean pages can be dropped.
    file.sync_all()?;
    read_pages(&file, FILE_BYTES as u64 / PAGE as u64)?;
    let file = &file;
    let cached = move || read_pages(file, READS).expect("the file is there");
    let cold = move || {
        forget(file).expect("the system takes advice");
        read_pages(file, READS).expect("the file is there")
    };
    let contestants = vec![
        Contestant::new("a cache miss, 1 GiB", miss),
        Contestant::new("4 KiB of a file in the page cache", cached),
        Contestant::new("4 KiB of a file on the disk", cold),
    ];
    bench.contest(workload, "a cache miss, 1 GiB", contestants);
    Ok(())
}

/// The first word of each line is the number of the next line, on one random cycle through all
/// lines.
fn chain() -> Vec<u64> {
    let mut words = vec![0; ARRAY_BYTES / 8];
    let lines = words.len() / LINE_WORDS;
    let mut rng = generator(2);
    let mut order: Vec<u32> = (0..lines as u32).collect();
    // Sattolo's shuffle makes a single cycle.
    for last in (1..lines).rev() {
        order.swap(last, (rng.next_u64() % last as u64) as usize);
    }
    for (line, &next) in order.iter().enumerate() {
        words[line * LINE_WORDS] = u64::from(next) * LINE_WORDS as u64;
    }
    words
}

/// Reads `reads` pages in random order.
fn read_pages(file: &File, reads: u64) -> Result<Sample> {
    let mut rng = generator(4);
    let pages: Vec<u64> = (0..reads).map(|_| rng.next_u64() % (FILE_BYTES / PAGE) as u64).collect();
    let mut page = [0; PAGE];
    let mut result = Ok(());
    let sample = timed(|| {
        for number in pages {
            result = file.read_exact_at(&mut page, number * PAGE as u64);
            if result.is_err() {
                break;
            }
            black_box(&page);
        }
        reads
    });
    result?;
    Ok(sample)
}

/// Drops the file from the system's cache. (It may still be in that of a disk or of a host.)
fn forget(file: &File) -> Result<()> {
    // SAFETY: the descriptor is open while the file is borrowed, and this advice changes nothing in
    // memory.
    let error = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    ensure!(error == 0, "the file cannot be dropped from the cache: error {error}");
    // Read-ahead would read pages that nothing needs. SAFETY: as above.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
    Ok(())
}
