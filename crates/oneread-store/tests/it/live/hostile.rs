//! Files that somebody forged, with right checksums: refused, or they answer; nothing panics, hangs or takes much memory.
//!
//! Checksums are made as `docs/format.md` says, apart from the library.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::disk::Simulated;
use super::{Model, PATH, create, open, random_batch, small};
use crate::{below, random};

const MANIFEST: &str = "live.store.manifest";

fn store() -> Simulated {
    let disk = Simulated::default();
    let store = create(disk.arc(), small()).unwrap();
    let (mut model, mut random) = (Model::new(), random(33));
    for number in 1..60 {
        store.batch(&mut random_batch(&mut random, 50, number, &mut model)).unwrap();
    }
    store.close().unwrap();
    disk
}

/// Asks for everything; only panics count.
fn ask(disk: &Simulated) {
    for options in [small(), small().lose_damaged_log(true)] {
        let Ok(store) = open(disk.arc(), options) else { continue };
        for number in 0..30 {
            _ = store.get(format!("key {number}").as_bytes());
        }
        _ = store.iter().filter(Result::is_err).count();
        _ = (store.stats(), store.verify());
        for number in 0..30 {
            if store.put(format!("key {number}").as_bytes(), &[7; 300]).is_err() {
                break;
            }
        }
        _ = store.checkpoint();
    }
}

/// Changes some bytes of a range, to anything or to what often goes wrong.
fn spoil(bytes: &mut [u8], random: &mut Pcg64Mcg) {
    for _ in 0..=below(random, 3) {
        let at = below(random, bytes.len() as u64) as usize;
        let new = match below(random, 4) {
            0 => 0,
            1 => 0xff,
            2 => bytes[at].wrapping_add(1),
            _ => random.next_u64() as u8,
        };
        let length = [1, 1, 4, 8][below(random, 4) as usize].min(bytes.len() - at);
        bytes[at..at + length].fill(new);
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

fn forge(rounds: u64) {
    let disk = store();
    let mut random = random(5);
    for _ in 0..rounds {
        // The manifest: any of it, or the fields alone.
        let copy = disk.copy();
        let mut manifest = disk.bytes(MANIFEST).unwrap();
        let end = if below(&mut random, 2) == 0 { 160 } else { manifest.len() - 8 };
        spoil(&mut manifest[8..end], &mut random);
        seal_manifest(&mut manifest);
        copy.set_bytes(MANIFEST, manifest);
        ask(&copy);

        // A segment's description, with its checksum in the manifest.
        let copy = disk.copy();
        let (mut manifest, mut data) = (disk.bytes(MANIFEST).unwrap(), disk.bytes(PATH).unwrap());
        let segments = u64::from(word(&manifest, 104));
        let entry = 160 + 32 * below(&mut random, segments) as usize;
        let (slot, count) = (word(&manifest, entry + 12) as usize, word(&manifest, entry + 16) as usize);
        let description = &mut data[4096 * (slot + 1)..4096 * (slot + 1 + count)];
        let end = [60, 4096 * count][below(&mut random, 2) as usize];
        spoil(&mut description[8..end], &mut random);
        let sum = xxh3_64(&description[8..]).to_le_bytes();
        description[..8].copy_from_slice(&sum);
        manifest[entry + 24..entry + 32].copy_from_slice(&sum);
        seal_manifest(&mut manifest);
        copy.set_bytes(MANIFEST, manifest);
        copy.set_bytes(PATH, data);
        ask(&copy);

        // The first record of a log.
        let copy = disk.copy();
        let name = format!("{PATH}.log{}", below(&mut random, 2));
        let mut log = disk.bytes(&name).unwrap();
        let seed = u64::from_le_bytes(log[40..48].try_into().unwrap());
        let length = word(&log, 512 + 12) as usize;
        spoil(&mut log[512 + 8..512 + length], &mut random);
        let length = (word(&log, 512 + 12) as usize).clamp(8, log.len() - 512);
        let sum = xxh3_64_with_seed(&log[512 + 8..512 + length], seed.wrapping_add(512));
        log[512..520].copy_from_slice(&sum.to_le_bytes());
        copy.set_bytes(&name, log);
        ask(&copy);
    }
}

#[test]
fn forged_files_are_refused_or_answer() {
    forge(300);
}

#[test]
#[ignore = "takes half a minute: many forgeries"]
fn many_forged_files_are_refused_or_answer() {
    forge(10_000);
}
