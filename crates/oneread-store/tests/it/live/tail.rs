//! Damage at the end of a log: an error wherever it can be told from a torn write.

use oneread_store::{Error, Store};

use super::disk::Simulated;
use super::{Model, PATH, contents, create, open, small};

/// The logs of a process killed after puts of values of these lengths, and the acknowledged
/// changes.
fn killed(values: &[usize]) -> (Simulated, Model) {
    let disk = Simulated::default();
    let store = create(disk.arc(), small()).unwrap();
    let mut model = Model::new();
    for (number, &length) in values.iter().enumerate() {
        let (key, value) = (format!("key {number}").into_bytes(), vec![number as u8 + 1; length]);
        store.put(&key, &value).unwrap();
        model.insert(key, value);
    }
    let left = disk.killed();
    drop(store);
    assert!(contents(&open(left.copy().arc(), small()).unwrap()) == model);
    (left, model)
}

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// The start of each record of a log, and the end of the last.
fn records(log: &[u8]) -> Vec<usize> {
    let mut starts = vec![512];
    while let Some(&at) = starts.last()
        && at + 40 <= log.len()
        && [b"cord", b"end."].iter().any(|mark| log[at + 8..at + 12] == mark[..])
    {
        starts.push(at + word(log, at + 12).next_multiple_of(8));
    }
    starts
}

/// Changes bytes of a log. Returns `None` if that is an error, else the content of the store.
fn damaged(disk: &Simulated, name: &str, change: impl FnOnce(&mut [u8])) -> Option<Model> {
    let copy = disk.copy();
    let mut bytes = disk.bytes(name).unwrap();
    change(&mut bytes);
    copy.set_bytes(name, bytes);
    match open(copy.arc(), small()) {
        Ok(store) => Some(contents(&store)),
        Err(error) => {
            let told = error.to_string();
            assert!(error.is_damage(), "{told}");
            if let Error::Log { file, .. } = &error {
                assert!(
                    file.to_str().unwrap() == name && told.contains(name) && told.contains("byte"),
                    "{told}"
                );
            }
            let store: Store = open(copy.arc(), small().lose_damaged_log(true)).unwrap();
            assert!(store.verify().unwrap().is_whole());
            None
        }
    }
}

fn names() -> [String; 2] {
    [0, 1].map(|number| format!("{PATH}.log{number}"))
}

#[test]
fn a_flipped_bit_in_any_record_is_an_error_or_loses_nothing() {
    // Records within a sector, across sectors, of several sectors; then enough records for two
    // logs.
    let many: Vec<usize> = (0..60).map(|number| 37 * number % 300).collect();
    for values in [&[20, 30, 10][..], &[100, 300, 90, 5], &[10, 3000], &[0], &[1500, 7, 2000], &many] {
        let (disk, model) = killed(values);
        let mut before_last = model.clone();
        before_last.remove(format!("key {}", values.len() - 1).as_bytes());
        let (mut errors, mut missing) = (0, 0);
        for name in names() {
            let Some(log) = disk.bytes(&name) else { continue };
            let end = records(&log).pop().unwrap().min(log.len());
            // All bits of headers and of short logs, a sample of others: finding a bit of a long
            // record is slow.
            let starts = records(&log);
            let is_header = |byte: usize| byte < 48 || starts.iter().any(|&at| (at..at + 40).contains(&byte));
            let step = if end < 1200 { 1 } else { 149 };
            for bit in (0..8 * end).filter(|bit| is_header(bit / 8) && values.len() < 10 || bit % step == 0) {
                let found = damaged(&disk, &name, |log| log[bit / 8] ^= 1 << (bit % 8));
                errors += u32::from(found.is_none());
                if let Some(found) = found.filter(|found| *found != model) {
                    // Only the last change may be missing, and only if its record has sectors
                    // behind its first ones.
                    let [.., last, end] = starts[..] else { panic!("no records") };
                    let sectors = [last / 512, (last + 16) / 512];
                    let told_apart = sectors.contains(&(bit / 8 / 512)) || !(last..end).contains(&(bit / 8));
                    assert!(
                        !told_apart && found == before_last,
                        "{values:?}: {name}, bit {bit}: a change is missing"
                    );
                    missing += 1;
                }
            }
        }
        assert!(errors > 300, "{errors}");
        // If the last record lies in one sector, as with short values, nothing is missing.
        let lies_in_one = values.len() < 10 && values.last().is_some_and(|&last| last < 100);
        assert!(missing == 0 || !lies_in_one, "{values:?}: {missing}");
    }
}

#[test]
fn any_damage_of_a_last_record_within_a_sector_is_an_error() {
    let (disk, _) = killed(&[20, 30, 100]);
    let name =
        names().into_iter().find(|name| disk.bytes(name).is_some_and(|log| records(&log).len() > 3)).unwrap();
    let starts = records(&disk.bytes(&name).unwrap());
    let [.., last, end] = starts[..] else { panic!("no records") };
    assert_eq!(last / 512, (end - 1) / 512, "it is to lie in one sector");
    for at in last..end - 8 {
        // Except the checksum of the record before, which proves that the sector was written, and
        // the length, which proves that the record lies in one sector.
        if (last + 12 - 3..last + 24).contains(&at) {
            continue;
        }
        let found = damaged(&disk, &name, |log| log[at..at + 4].iter_mut().for_each(|byte| *byte = !*byte));
        assert!(found.is_none(), "four bytes at {}", at - last);
    }
}

#[test]
fn what_cannot_be_told_apart_is_the_last_record_alone() {
    // A bit flipped in the value of a last record of many sectors: as documented, this may pass for
    // a torn write.
    let (disk, mut model) = killed(&[20, 30, 9000]);
    let whole = model.clone();
    model.remove(&b"key 2"[..]);
    let name = names().into_iter().find(|name| disk.bytes(name).is_some_and(|log| log.len() > 9000)).unwrap();
    let log = disk.bytes(&name).unwrap();
    let [.., last, end] = records(&log)[..] else { panic!("no records") };
    for bit in (8 * 512..8 * end).filter(|bit| bit / 8 < last + 40 || bit % 1009 == 0) {
        match damaged(&disk, &name, |log| log[bit / 8] ^= 1 << (bit % 8)) {
            None => assert!(bit / 8 < (last + 16) / 512 * 512 + 512),
            Some(found) => assert!(found == whole || (bit / 8 >= last + 40 && found == model), "bit {bit}"),
        }
    }
}

#[test]
fn records_that_were_never_written_are_dropped_without_a_word() {
    let (disk, model) = killed(&[20, 30, 100, 600]);
    let name =
        names().into_iter().find(|name| disk.bytes(name).is_some_and(|log| records(&log).len() > 4)).unwrap();
    let log = disk.bytes(&name).unwrap();
    let [.., last, end] = records(&log)[..] else { panic!("no records") };
    // Of the last record, each sector is written or not.
    let mut sectors = vec![last];
    sectors.extend((last / 512 + 1..end.div_ceil(512)).map(|sector| 512 * sector));
    for kept in 0..(1u32 << sectors.len()) - 1 {
        let found = damaged(&disk, &name, |log| {
            for (number, &start) in sectors.iter().enumerate().filter(|(number, _)| kept >> number & 1 == 0) {
                let end = sectors.get(number + 1).copied().unwrap_or(end);
                log[start..end].fill(0);
            }
        });
        let found = found.expect("a torn record is no damage");
        assert!(found.len() == model.len() - 1 && !found.contains_key(&b"key 3"[..]));
    }
}

#[test]
fn a_log_whose_end_is_lost_is_damaged_once_the_next_one_tells_of_a_sync() {
    let values: Vec<usize> = (0..60).map(|number| 37 * number % 300).collect();
    let mut errors = 0;
    for count in 1..=values.len() {
        let (disk, model) = killed(&values[..count]);
        let [one, other] = names();
        for (name, next) in [(&one, &other), (&other, &one)] {
            let (Some(log), Some(next)) = (disk.bytes(name), disk.bytes(next)) else { continue };
            // Behind the last record of a log there may be records of an older log.
            let long = |log: &[u8], at: usize| u64::from_le_bytes(log[at..at + 8].try_into().unwrap());
            let own = |log: &[u8]| {
                let mut previous = long(log, 40);
                let mut starts = records(log);
                starts.pop();
                let follows =
                    |&at: &usize| long(log, at + 16) == std::mem::replace(&mut previous, long(log, at));
                starts.into_iter().take_while(follows).collect::<Vec<_>>()
            };
            let Some(&last) = own(&log).last() else { continue };
            // The second record of a log says that the first was synced.
            if &log[last + 8..last + 12] != b"end." || own(&next).len() < 2 {
                continue;
            }
            // At the end of the log, changes the length and the checksum of the record before: that
            // looks like a torn write.
            let found = damaged(&disk, name, |log| {
                log[last + 12..last + 24].iter_mut().for_each(|byte| *byte = !*byte);
            });
            // An older log is no longer needed.
            assert!(found.as_ref().is_none_or(|found| *found == model), "{count} puts: changes are missing");
            errors += u32::from(found.is_none());
        }
    }
    assert!(errors > 0);
}
