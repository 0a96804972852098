//! Forges files: changes parts of them and fixes their checksums by `docs/format.md`, independently
//! of the library.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::disk::Simulated;
use crate::below;

/// Changes some fields of a range, at random or to typical bad values.
pub(crate) fn spoil(bytes: &mut [u8], random: &mut Pcg64Mcg) {
    for _ in 0..=below(random, 3) {
        let size = [1, 2, 4, 8][below(random, 4) as usize].min(bytes.len());
        // Fields mostly begin at a multiple of their size.
        let at = match below(random, bytes.len() as u64 - size as u64 + 1) as usize {
            at if below(random, 4) == 0 => at,
            at => at / size * size,
        };
        let field = &mut bytes[at..at + size];
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(field);
        let old = u64::from_le_bytes(wide);
        let new = match below(random, 12) {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 => u64::MAX - below(random, 9000),
            4 => u64::MAX >> 1,
            5 => 1 << below(random, 64),
            6 => (1 << below(random, 64)) - 1,
            7 => old.wrapping_add(1),
            8 => old.wrapping_sub(1),
            9 => old ^ 1 << below(random, 8 * size as u64),
            10 => below(random, 5000),
            _ => random.next_u64(),
        };
        field.copy_from_slice(&new.to_le_bytes()[..size]);
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn seal_manifest(bytes: &mut [u8]) {
    let end = bytes.len() - 8;
    let sum = xxh3_64(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
}

/// The pages of the main file with a right checksum, except the header: pages and descriptions.
fn sealed_pages(data: &[u8]) -> Vec<usize> {
    let right = |&page: &usize| {
        let page = &data[4096 * page..4096 * (page + 1)];
        xxh3_64(&page[8..]).to_le_bytes() == page[..8]
    };
    (1..data.len() / 4096).filter(right).collect()
}

/// Changes one part of a store's files, and fixes the checksums.
pub(crate) fn live(disk: &Simulated, path: &str, random: &mut Pcg64Mcg) -> Simulated {
    let manifest_path = format!("{path}.manifest");
    let copy = disk.copy();
    let (mut manifest, mut data) = (disk.bytes(&manifest_path).unwrap(), disk.bytes(path).unwrap());
    match below(random, 10) {
        // The manifest: any byte, or only the fields.
        0..=2 => {
            let end = if below(random, 4) > 0 { 160 } else { manifest.len() - 8 };
            spoil(&mut manifest[8..end], random);
            seal_manifest(&mut manifest);
            copy.set_bytes(&manifest_path, manifest);
        }
        // A segment's description, with its checksum in the manifest.
        3..=5 => {
            let segments = u64::from(word(&manifest, 104));
            // A store that began as a sealed one has that header before its segments.
            let entry = 160 + 4096 * usize::from(manifest[10]) + 32 * below(random, segments) as usize;
            let (slot, count) = (word(&manifest, entry + 12) as usize, word(&manifest, entry + 16) as usize);
            if slot == u32::MAX as usize {
                return copy;
            }
            let description = &mut data[4096 * (slot + 1)..4096 * (slot + 1 + count)];
            let used = (word(description, 12) as usize).min(description.len());
            let end = [60, used, description.len()][below(random, 3) as usize];
            spoil(&mut description[8..end], random);
            let sum = xxh3_64(&description[8..]).to_le_bytes();
            description[..8].copy_from_slice(&sum);
            manifest[entry + 24..entry + 32].copy_from_slice(&sum);
            seal_manifest(&mut manifest);
            copy.set_bytes(&manifest_path, manifest);
            copy.set_bytes(path, data);
        }
        // A page.
        6 | 7 => {
            let pages = sealed_pages(&data);
            let at = 4096 * pages[below(random, pages.len() as u64) as usize];
            let page = &mut data[at..at + 4096];
            let end = [20, 400, 4096][below(random, 3) as usize];
            spoil(&mut page[8..end], random);
            let sum = xxh3_64(&page[8..]).to_le_bytes();
            page[..8].copy_from_slice(&sum);
            copy.set_bytes(path, data);
        }
        // The header.
        8 if below(random, 4) == 0 => {
            spoil(&mut data[8..220], random);
            let sum = xxh3_64(&data[..4088]).to_le_bytes();
            data[4088..4096].copy_from_slice(&sum);
            copy.set_bytes(path, data);
        }
        // A record of a log.
        _ => {
            let name = format!("{path}.log{}", below(random, 2));
            let Some(mut log) = disk.bytes(&name) else { return copy };
            let seed = u64::from_le_bytes(log[40..48].try_into().unwrap());
            let mut at = 512;
            for _ in 0..below(random, 5) {
                let next = at + (word(&log, at + 12) as usize).next_multiple_of(8);
                if next + 48 > log.len() || word(&log, next + 12) < 40 {
                    break;
                }
                at = next;
            }
            let length = (word(&log, at + 12) as usize).clamp(40, log.len() - at);
            let end = [48, length][below(random, 2) as usize].min(length);
            spoil(&mut log[at + 8..at + end], random);
            let length = (word(&log, at + 12) as usize).clamp(8, log.len() - at);
            let sum = xxh3_64_with_seed(&log[at + 8..at + length], seed.wrapping_add(at as u64));
            log[at..at + 8].copy_from_slice(&sum.to_le_bytes());
            copy.set_bytes(&name, log);
        }
    }
    copy
}

/// Changes one part of a sealed store.
pub(crate) fn sealed(whole: &[u8], random: &mut Pcg64Mcg) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let summary = u64::from_le_bytes(bytes[72..80].try_into().unwrap()) as usize;
    match below(random, 3) {
        0 => {
            spoil(&mut bytes[8..220], random);
            let sum = xxh3_64(&bytes[..4088]).to_le_bytes();
            bytes[4088..4096].copy_from_slice(&sum);
        }
        1 => {
            let chunks = (bytes.len() - summary).div_ceil(1 << 16) as u64;
            let number = below(random, chunks);
            let start = summary + (number << 16) as usize;
            let end = bytes.len().min(start + (1 << 16));
            let most = if below(random, 2) == 0 { end } else { end.min(start + 100) };
            spoil(&mut bytes[start + 8..most], random);
            let sum = xxh3_64_with_seed(&bytes[start + 8..end], number).to_le_bytes();
            bytes[start..start + 8].copy_from_slice(&sum);
        }
        _ => {
            let pages = u64::from_le_bytes(bytes[48..56].try_into().unwrap());
            let at = 4096 * (1 + below(random, pages)) as usize;
            let end = [20, 400, 4096][below(random, 3) as usize];
            spoil(&mut bytes[at + 8..at + end], random);
            let sum = xxh3_64(&bytes[at + 8..at + 4096]).to_le_bytes();
            bytes[at..at + 8].copy_from_slice(&sum);
        }
    }
    bytes
}
