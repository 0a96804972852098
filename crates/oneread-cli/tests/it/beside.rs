//! Any two commands of `oneread store` in concurrent processes: all acknowledged changes are there
//! afterwards, as if one command had come after the other, and nothing else is.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use oneread_store::{Builder, Error, Options, Sealed, Store, StoreOptions};

type Map = BTreeMap<String, String>;

/// A command, with a number that distinguishes its changes from those of its twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Create,
    Import,
    Put,
    Delete,
    Add,
    Remove,
    Compact,
    Seal,
    Backup,
    Get,
    Len,
    Export,
    Verify,
    Stats,
    Bench,
}

const KINDS: [Kind; 15] = [
    Kind::Create,
    Kind::Import,
    Kind::Put,
    Kind::Delete,
    Kind::Add,
    Kind::Remove,
    Kind::Compact,
    Kind::Seal,
    Kind::Backup,
    Kind::Get,
    Kind::Len,
    Kind::Export,
    Kind::Verify,
    Kind::Stats,
    Kind::Bench,
];

/// The initial state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    /// A sealed store without keys, which an import fills.
    Empty,
    Sealed,
    Live,
}

/// A case: the initial state, whether imports have `--replace`, and whether an import is still
/// reading while the other command runs.
#[derive(Clone, Copy, Debug)]
struct Case {
    before: Before,
    replace: bool,
    slow: bool,
    pair: [Kind; 2],
}

#[derive(Clone, Copy, Debug)]
struct Run {
    kind: Kind,
    /// 0 or 1.
    number: usize,
    replace: bool,
}

/// Keys of all stores but empty ones: one for each command to delete, and one that stays.
const STAYS: &str = "stays";

fn deleted(number: usize) -> String {
    format!("deleted {number}")
}

fn rows(number: usize) -> Map {
    (0..20).map(|row| (format!("row {number} {row}"), format!("value {row}"))).collect()
}

fn at_first(before: Before) -> Option<Map> {
    match before {
        Before::Nothing => None,
        Before::Empty => Some(Map::new()),
        Before::Sealed | Before::Live => {
            let keys = [STAYS.to_owned(), deleted(0), deleted(1)];
            Some(keys.map(|key| (key, "old".to_owned())).into())
        }
    }
}

impl Run {
    fn start(self, folder: &Path) -> Child {
        let number = self.number;
        let key = deleted(number);
        let put = [format!("put {number}"), number.to_string()];
        let copy = copy(number);
        let args: Vec<&str> = match self.kind {
            Kind::Create => vec!["create", "s"],
            Kind::Import if self.replace => vec!["import", "s", "-", "--format", "csv", "--replace"],
            Kind::Import => vec!["import", "s", "-", "--format", "csv"],
            Kind::Put => vec!["put", "s", &put[0], &put[1]],
            Kind::Delete => vec!["delete", "s", &key],
            Kind::Add => vec!["add", "s", "--format", "csv"],
            Kind::Remove => vec!["remove", "s"],
            Kind::Compact => vec!["compact", "s"],
            Kind::Seal => vec!["seal", "s"],
            Kind::Backup => vec!["backup", "s", &copy],
            Kind::Len => vec!["len", "s"],
            Kind::Get => vec!["get", "s", STAYS],
            Kind::Export => vec!["export", "s"],
            Kind::Verify => vec!["verify", "s"],
            Kind::Stats => vec!["stats", "s", "--measure", "10"],
            Kind::Bench => vec!["bench", "s", "--lookups", "50"],
        };
        let reads = matches!(self.kind, Kind::Import | Kind::Add | Kind::Remove);
        let stdin = if reads { Stdio::piped() } else { Stdio::null() };
        Command::new(env!("CARGO_BIN_EXE_oneread"))
            .arg("store")
            .args(args)
            .current_dir(folder)
            .stdin(stdin)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts")
    }

    /// Writes the command's input. It may have been refused by then.
    fn feed(self, child: &mut Child) {
        if let Some(mut stdin) = child.stdin.take() {
            let rows: String =
                rows(self.number).iter().map(|(key, value)| format!("{key},{value}\n")).collect();
            _ = match self.kind {
                Kind::Remove => stdin.write_all(deleted(self.number).as_bytes()),
                Kind::Add => stdin.write_all(rows.as_bytes()),
                _ => stdin.write_all(format!("key,value\n{rows}").as_bytes()),
            };
        }
    }

    /// Applies the command to a store, if it can succeed on it.
    fn apply(self, store: Option<&Map>, is_live: &mut bool) -> Option<Option<Map>> {
        let mut after = store.cloned();
        match self.kind {
            Kind::Create => {
                after = store.is_none().then(Map::new);
                after.as_ref()?;
            }
            Kind::Import if self.replace || !*is_live => {
                if !self.replace && store.is_some_and(|store| !store.is_empty()) {
                    return None;
                }
                *is_live = false;
                after = Some(rows(self.number));
            }
            Kind::Import => after.as_mut()?.extend(rows(self.number)),
            Kind::Put => {
                *is_live = true;
                let put = (format!("put {}", self.number), self.number.to_string());
                after.get_or_insert_default().extend([put]);
            }
            Kind::Delete | Kind::Remove => {
                *is_live = true;
                after.as_mut()?.remove(&deleted(self.number));
            }
            Kind::Add => {
                *is_live = true;
                after.get_or_insert_default().extend(rows(self.number));
            }
            Kind::Compact => _ = store?,
            Kind::Seal => {
                store?;
                *is_live = false;
            }
            _ => {}
        }
        Some(after)
    }
}

/// The name of a copy.
fn copy(number: usize) -> String {
    format!("copy {number}")
}

/// The content of a store, which must be undamaged, and whether it is live.
fn after(folder: &Path, name: &str) -> (Option<Map>, bool) {
    let path = folder.join(name);
    if !path.exists() {
        return (None, false);
    }
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let pair = |pair: Result<(Vec<u8>, Vec<u8>), Error>| {
        let (key, value) = pair.expect("a whole store");
        (text(key), text(value))
    };
    match Sealed::open(&path) {
        Ok(store) => {
            assert!(store.verify().expect("a file").is_whole());
            (Some(store.iter().map(pair).collect()), false)
        }
        Err(Error::Live { .. }) => {
            let store = Store::open(&path, StoreOptions::new()).expect("a live store");
            assert!(store.verify().expect("a file").is_whole());
            (Some(store.iter().map(pair).collect()), true)
        }
        Err(error) => panic!("{error}"),
    }
}

/// Waits until an import has the lock, or is refused.
fn wait_for_lock(folder: &Path, import: &mut Child) {
    let start = Instant::now();
    // The holder of the lock writes a line into its file. An empty file may not be locked yet.
    let is_locked = || fs::read(folder.join("s.lock")).is_ok_and(|line| line.ends_with(b"\n"));
    while !is_locked() && import.try_wait().expect("a process").is_none() {
        assert!(start.elapsed() < Duration::from_secs(120));
        thread::sleep(Duration::from_millis(1));
    }
}

fn run(case: Case) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    if let Some(pairs) = at_first(case.before) {
        let mut builder = Builder::new(Options::new().seed(1)).expect("options");
        pairs
            .iter()
            .for_each(|(key, value)| builder.insert(key.as_bytes(), value.as_bytes()).expect("a pair"));
        builder.finish(folder.join("s")).expect("a store");
        if case.before == Before::Live {
            Store::open(folder.join("s"), StoreOptions::new()).expect("a store").close().expect("a store");
        }
    }
    let runs = [0, 1].map(|number| Run { kind: case.pair[number], number, replace: case.replace });
    let mut first = runs[0].start(folder);
    if case.slow {
        wait_for_lock(folder, &mut first);
    }
    let mut second = runs[1].start(folder);
    runs[1].feed(&mut second);
    let mut ended = Vec::new();
    if case.slow {
        ended.push((1, second.wait_with_output().expect("it ends")));
        runs[0].feed(&mut first);
        ended.push((0, first.wait_with_output().expect("it ends")));
    } else {
        runs[0].feed(&mut first);
        ended.push((0, first.wait_with_output().expect("it ends")));
        ended.push((1, second.wait_with_output().expect("it ends")));
    }

    let mut acknowledged = Vec::new();
    for (number, output) in &ended {
        let kind = runs[*number].kind;
        let message = String::from_utf8(output.stderr.clone()).expect("UTF-8");
        let told = || format!("{case:?}, {kind:?}: {message}");
        match (output.status.code().expect("no signal"), kind) {
            (0, _) | (1, Kind::Delete) => acknowledged.push(runs[*number]),
            (1, Kind::Get) => {}
            (2, _) => {
                assert!(message.starts_with("error: s: ") && message.lines().count() == 1, "{}", told());
                let is_locked =
                    message.contains("process ") && message.contains(" (oneread) writes to the store");
                let is_there = message.contains("there already is");
                let is_missing = case.before == Before::Nothing && message.contains("No such file");
                let is_changed = message.contains("another process changed the store meanwhile");
                // A sealed store becomes live only while nobody reads it.
                let is_read = matches!(case.before, Before::Empty | Before::Sealed)
                    && message.contains("the sealed store is being read");
                let allowed = match kind {
                    Kind::Create | Kind::Import => is_locked || is_there,
                    Kind::Put | Kind::Add => is_locked || is_read,
                    Kind::Delete | Kind::Remove | Kind::Compact | Kind::Seal => {
                        is_locked || is_missing || is_read
                    }
                    Kind::Get
                    | Kind::Len
                    | Kind::Backup
                    | Kind::Export
                    | Kind::Verify
                    | Kind::Stats
                    | Kind::Bench => is_missing || is_changed,
                };
                assert!(allowed, "{}", told());
            }
            (code, _) => panic!("{}, code {code}", told()),
        }
    }
    // An import that came first has the lock until it ends.
    let writes = [
        Kind::Create,
        Kind::Import,
        Kind::Put,
        Kind::Delete,
        Kind::Add,
        Kind::Remove,
        Kind::Compact,
        Kind::Seal,
    ];
    if case.slow && writes.contains(&runs[1].kind) {
        assert!(acknowledged.len() < 2, "{case:?}");
    }

    let (found, is_live) = after(folder, "s");
    let orders: Vec<Vec<Run>> = vec![acknowledged.clone(), acknowledged.iter().rev().copied().collect()];
    let explains = |order: &Vec<Run>| {
        let mut live = case.before == Before::Live;
        let mut store = at_first(case.before);
        for run in order {
            let Some(after) = run.apply(store.as_ref(), &mut live) else { return false };
            store = after;
        }
        (store.as_ref(), live) == (found.as_ref(), is_live)
    };
    assert!(
        orders.iter().any(explains),
        "{case:?}: {acknowledged:?} does not explain {found:?}, live: {is_live}"
    );

    // A copy is of before or after the other command.
    for run in acknowledged.iter().filter(|run| run.kind == Kind::Backup) {
        let other = runs[1 - run.number];
        let at_first = at_first(case.before);
        let mut is_live = case.before == Before::Live;
        let changed = other.apply(at_first.as_ref(), &mut is_live).flatten();
        let (copied, is_live) = after(folder, &copy(run.number));
        assert!(!is_live && (copied == at_first || copied == changed), "{case:?}: {copied:?}");
    }
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    let is_copy = |run: &Run, name: &str| run.kind == Kind::Backup && name == copy(run.number);
    names.retain(|name| {
        name != "s"
            && !acknowledged.iter().any(|run| is_copy(run, name))
            && !(is_live && ["s.manifest", "s.log0", "s.log1"].contains(&name.as_str()))
    });
    assert!(names.is_empty(), "{case:?} left {names:?}");
}

/// A `put` acknowledged while an `import` was reading was lost when the import ended.
#[test]
fn any_two_commands_beside_each_other_lose_nothing_and_leave_nothing() {
    let mut cases = Vec::new();
    for (at, &one) in KINDS.iter().enumerate() {
        for &other in &KINDS[at..] {
            let pair = [one, other];
            for before in [Before::Nothing, Before::Empty, Before::Sealed, Before::Live] {
                let imports = pair.contains(&Kind::Import);
                for replace in [false, true] {
                    if replace && !(imports && matches!(before, Before::Sealed | Before::Live)) {
                        continue;
                    }
                    cases.push(Case { before, replace, slow: false, pair });
                    if imports {
                        // The import comes first.
                        let other = if one == Kind::Import { other } else { one };
                        cases.push(Case { before, replace, slow: true, pair: [Kind::Import, other] });
                    }
                }
            }
        }
    }
    assert!(cases.len() > 550, "{}", cases.len());
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(&case) = cases.get(next.fetch_add(1, Relaxed)) {
                    run(case);
                }
            });
        }
    });
}

#[test]
fn two_imports_at_once_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let import = |number| Run { kind: Kind::Import, number, replace: true };
    let mut first = import(0).start(folder.path());
    wait_for_lock(folder.path(), &mut first);
    let mut second = import(1).start(folder.path());
    let mut message = String::new();
    second.stderr.take().expect("a pipe").read_to_string(&mut message).expect("UTF-8");
    assert_eq!(second.wait().expect("it ends").code(), Some(2));
    let who = format!("error: s: process {} (oneread) writes to the store", first.id());
    assert!(message.starts_with(&who) && message.lines().count() == 1, "{message}");
    import(0).feed(&mut first);
    assert!(first.wait().expect("it ends").success());
    assert_eq!(after(folder.path(), "s"), (Some(rows(0)), false));
}
