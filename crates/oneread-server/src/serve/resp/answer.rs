//! What a client asked for, and the answers.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::command::{COMMANDS, Command, Facts};
use super::reply::Replies;
use crate::serve::shared::Shared;
use crate::serve::source::{Change, Failed, Refused, Slot};

/// `GET`s that become one lookup.
const GETS: usize = 64;

/// `SET`s that become one batch, and their bytes.
const SETS: usize = 1024;
const SET_BYTES: usize = 1 << 20;

/// A wrong token costs its sender this time.
const WRONG_TOKEN: Duration = Duration::from_millis(200);

const NEEDS_TOKEN: &str = "NOAUTH Authentication required.";
const READ_ONLY: &str =
    "READONLY this source takes no changes: live stores do, if they are served with --writable";

/// A client, with its commands that wait for others.
pub(super) struct Client<'s> {
    shared: &'s Shared,
    number: u64,
    name: Vec<u8>,
    database: usize,
    is_known: bool,
    /// The keys of the last `GET`s, from the beginning of the input.
    gets: Vec<Range<usize>>,
    /// The last `SET`s.
    sets: Vec<Change>,
    set_bytes: usize,
}

impl<'s> Client<'s> {
    pub(super) fn new(shared: &'s Shared) -> Self {
        Self {
            shared,
            number: shared.next_client(),
            name: Vec::new(),
            database: 0,
            is_known: !shared.needs_token(),
            gets: Vec::new(),
            sets: Vec::new(),
            set_bytes: 0,
        }
    }

    /// Whether it has shown the token, or needs none.
    pub(super) const fn is_known(&self) -> bool {
        self.is_known
    }

    fn slot(&self) -> &'s Arc<Slot> {
        &self.shared.catalog.slots()[self.database]
    }

    /// Answers a command, which begins at `start` of the input, or keeps it until more of its kind
    /// are there. Returns whether the connection goes on.
    pub(super) async fn take(
        &mut self,
        command: &[u8],
        arguments: &[Range<usize>],
        start: usize,
        input: &[u8],
        replies: &mut Replies,
    ) -> bool {
        let name = &command[arguments[0].clone()];
        if self.is_known && arguments.len() == 2 && name.eq_ignore_ascii_case(b"get") {
            if !self.sets.is_empty() {
                self.finish(input, replies).await;
            }
            let key = &arguments[1];
            self.gets.push(start + key.start..start + key.end);
            if self.gets.len() >= GETS {
                self.finish(input, replies).await;
            }
            return true;
        }
        if self.is_known && arguments.len() == 3 && name.eq_ignore_ascii_case(b"set") {
            if !self.gets.is_empty() {
                self.finish(input, replies).await;
            }
            let (key, value) = (&command[arguments[1].clone()], &command[arguments[2].clone()]);
            self.sets.push(Change::Put(key.to_vec(), value.to_vec()));
            self.set_bytes += key.len() + value.len();
            if self.sets.len() >= SETS || self.set_bytes >= SET_BYTES {
                self.finish(input, replies).await;
            }
            return true;
        }
        self.finish(input, replies).await;
        let rest: Vec<&[u8]> = arguments[1..].iter().map(|argument| &command[argument.clone()]).collect();
        self.answer(name, &rest, replies).await
    }

    /// Answers the commands that were kept.
    pub(super) async fn finish(&mut self, input: &[u8], replies: &mut Replies) {
        if !self.gets.is_empty() {
            let keys: Vec<&[u8]> = self.gets.drain(..).map(|key| &input[key]).collect();
            self.values(&keys, replies).await;
        }
        if !self.sets.is_empty() {
            let sets = std::mem::take(&mut self.sets);
            self.set_bytes = 0;
            let count = sets.len();
            let done = match self.slot().change(sets.clone()).await {
                // Only one of them may be too long.
                Err(Refused::TooLong(_)) if count > 1 => {
                    for set in sets {
                        let done = self.slot().change(vec![set]).await;
                        changed(done, replies, |replies, _| replies.simple("OK"));
                    }
                    return;
                }
                done => done,
            };
            for _ in 0..count {
                changed(done.clone(), replies, |replies, _| replies.simple("OK"));
            }
        }
    }

    /// Replies with the values of keys.
    async fn values(&self, keys: &[&[u8]], replies: &mut Replies) {
        let slot = self.slot();
        let version = slot.current();
        let reply = |found: Result<Option<&[u8]>, Failed>| match found {
            Ok(Some(value)) => replies.bulk(value),
            Ok(None) => replies.null(),
            Err(Failed) => failed(slot, replies),
        };
        slot.each(&version, keys, reply).await;
    }

    async fn answer(&mut self, name: &[u8], rest: &[&[u8]], replies: &mut Replies) -> bool {
        // A browser that was tricked into sending a form to this port: the body may hold commands.
        if name.eq_ignore_ascii_case(b"post") || name.eq_ignore_ascii_case(b"host:") {
            self.shared.metrics.refused("cross-protocol");
            return false;
        }
        let Some(facts) = Facts::of(name) else {
            let shown = String::from_utf8_lossy(&name[..name.len().min(128)]).into_owned();
            if self.is_known {
                replies
                    .error(&format!("ERR unknown command '{shown}': `COMMAND` lists those of this server"));
            } else {
                replies.error(NEEDS_TOKEN);
            }
            return true;
        };
        if !self.is_known && !facts.needs_no_token() {
            replies.error(NEEDS_TOKEN);
            return true;
        }
        if !facts.takes(rest.len() + 1) {
            replies.error(&format!("ERR wrong number of arguments for '{}' command", facts.name));
            return true;
        }
        match facts.command {
            Command::Auth => match rest {
                [password] | [b"default", password] => self.auth(password, replies).await,
                [_, _] => self.wrong(replies).await,
                _ => replies.error("ERR syntax error"),
            },
            Command::Client => self.client(rest, replies),
            Command::List => commands(rest, replies),
            // Clients ask before a benchmark; nothing can be configured over the network.
            Command::Config if rest[0].eq_ignore_ascii_case(b"get") => replies.map(0),
            Command::Config => replies.error("ERR the flags of `oneread serve` configure this server"),
            Command::DbSize => {
                let slot = self.slot();
                match slot.describe(slot.current()).await {
                    Ok(description) => replies.integer(description.items()),
                    Err(Failed) => failed(slot, replies),
                }
            }
            Command::Del => {
                let keys = rest.iter().map(|key| Change::Delete(key.to_vec())).collect();
                changed(self.slot().change(keys).await, replies, |replies, deleted| replies.integer(deleted));
            }
            Command::Echo => replies.bulk(rest[0]),
            Command::Exists | Command::StrLen => {
                let (slot, counts) = (self.slot(), facts.command == Command::Exists);
                let mut sum = Ok(0);
                let add = |found: Result<Option<&[u8]>, Failed>| match (found, &mut sum) {
                    (Ok(Some(value)), Ok(sum)) => *sum += if counts { 1 } else { value.len() as u64 },
                    (Err(Failed), sum) => *sum = Err(Failed),
                    _ => {}
                };
                slot.each(&slot.current(), rest, add).await;
                match sum {
                    Ok(sum) => replies.integer(sum),
                    Err(Failed) => failed(slot, replies),
                }
            }
            Command::Get => self.values(rest, replies).await,
            Command::Hello => return self.hello(rest, replies).await,
            Command::Info => replies.bulk(self.info().as_bytes()),
            Command::MGet => {
                replies.array(rest.len());
                self.values(rest, replies).await;
            }
            Command::Ping => match rest {
                [] => replies.simple("PONG"),
                [text] => replies.bulk(text),
                _ => replies.error("ERR wrong number of arguments for 'ping' command"),
            },
            Command::Quit => {
                replies.simple("OK");
                return false;
            }
            Command::Select => self.select(rest[0], replies),
            Command::Set => {
                replies.error("ERR syntax error: this server knows SET key value, without options");
            }
        }
        true
    }

    async fn auth(&mut self, password: &[u8], replies: &mut Replies) {
        if !self.shared.needs_token() {
            replies.error(
                "ERR AUTH <password> called without any password configured for the default user. Are you sure your \
                 configuration is correct?",
            );
        } else if self.shared.is_token(password) {
            self.is_known = true;
            replies.simple("OK");
        } else {
            self.wrong(replies).await;
        }
    }

    async fn wrong(&self, replies: &mut Replies) {
        self.shared.metrics.refused("token");
        tracing::warn!(client = self.number, "a wrong token");
        tokio::time::sleep(WRONG_TOKEN).await;
        replies.error("WRONGPASS invalid username-password pair or user is disabled.");
    }

    /// `HELLO [version [AUTH user token] [SETNAME name]]`
    async fn hello(&mut self, rest: &[&[u8]], replies: &mut Replies) -> bool {
        let (version, mut options) = match rest.split_first() {
            None => (None, rest),
            Some((&b"2", options)) => (Some(false), options),
            Some((&b"3", options)) => (Some(true), options),
            Some(_) => {
                replies.error("NOPROTO unsupported protocol version");
                return true;
            }
        };
        let mut name = None;
        while let Some((option, after)) = options.split_first() {
            options = match after {
                [user, password, after @ ..] if option.eq_ignore_ascii_case(b"auth") => {
                    if *user != b"default" || !self.shared.is_token(password) {
                        self.wrong(replies).await;
                        return true;
                    }
                    self.is_known = true;
                    after
                }
                [new, after @ ..] if option.eq_ignore_ascii_case(b"setname") => {
                    name = Some(new.to_vec());
                    after
                }
                _ => {
                    replies.error("ERR syntax error in HELLO");
                    return true;
                }
            };
        }
        if !self.is_known {
            replies.error(
                "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH \
                 <user> <pass> option can be used to authenticate the client and select the RESP protocol version at \
                 the same time",
            );
            return true;
        }
        self.name = name.unwrap_or_else(|| std::mem::take(&mut self.name));
        replies.is_resp3 = version.unwrap_or(replies.is_resp3);
        let text = |replies: &mut Replies, name: &str, value: &str| {
            replies.bulk(name.as_bytes());
            replies.bulk(value.as_bytes());
        };
        replies.map(7);
        text(replies, "server", "oneread");
        text(replies, "version", env!("CARGO_PKG_VERSION"));
        replies.bulk(b"proto");
        replies.integer(if replies.is_resp3 { 3 } else { 2 });
        replies.bulk(b"id");
        replies.integer(self.number);
        text(replies, "mode", "standalone");
        text(replies, "role", "master");
        replies.bulk(b"modules");
        replies.array(0);
        true
    }

    /// What client libraries send when they connect.
    fn client(&mut self, rest: &[&[u8]], replies: &mut Replies) {
        let is = |name: &str| rest[0].eq_ignore_ascii_case(name.as_bytes());
        match rest {
            [_] if is("id") => replies.integer(self.number),
            [_] if is("getname") => replies.bulk(&self.name),
            [_, name] if is("setname") => {
                self.name = name.to_vec();
                replies.simple("OK");
            }
            [_, _, _] if is("setinfo") => replies.simple("OK"),
            _ => replies.error("ERR this server knows CLIENT ID, GETNAME, SETNAME and SETINFO"),
        }
    }

    /// Selects a source by its number, from 0 in the order of the command line, or by its name.
    fn select(&mut self, which: &[u8], replies: &mut Replies) {
        let slots = self.shared.catalog.slots();
        let text = std::str::from_utf8(which).unwrap_or_default();
        let number = text.parse().ok().filter(|&number: &usize| number < slots.len());
        match number.or_else(|| slots.iter().position(|slot| slot.name == text)) {
            Some(number) => {
                self.database = number;
                replies.simple("OK");
            }
            None => replies.error(&format!(
                "ERR DB index is out of range: there are {}, from 0, also by their names",
                slots.len()
            )),
        }
    }

    fn info(&self) -> String {
        let mut text = format!(
            "# Server\r\nserver_name:oneread\r\noneread_version:{}\r\nredis_mode:standalone\r\nprocess_id:{}\r\n\
             uptime_in_seconds:{}\r\n\r\n# Clients\r\nconnected_clients:{}\r\n\r\n# Replication\r\nrole:master\r\n\r\n",
            env!("CARGO_PKG_VERSION"),
            std::process::id(),
            self.shared.since.elapsed().as_secs(),
            self.shared.metrics.connections(),
        );
        let slots = self.shared.catalog.slots();
        let counts = slots.iter().map(|slot| slot.counts());
        let (hits, misses) =
            counts.fold((0, 0), |(hits, misses), counts| (hits + counts.hits, misses + counts.misses));
        text += &format!("# Stats\r\nkeyspace_hits:{hits}\r\nkeyspace_misses:{misses}\r\n\r\n# Keyspace\r\n");
        for (number, slot) in slots.iter().enumerate() {
            let version = slot.current();
            // Counting the keys of a live store takes reads.
            if let Some(items) = version.items() {
                text += &format!("db{number}:keys={items},expires=0,avg_ttl=0,name={}\r\n", slot.name);
            }
        }
        text
    }
}

fn failed(slot: &Slot, replies: &mut Replies) {
    replies.error(&format!("ERR {}", slot.trouble()));
}

fn changed(done: Result<u64, Refused>, replies: &mut Replies, reply: impl FnOnce(&mut Replies, u64)) {
    match done {
        Ok(count) => reply(replies, count),
        Err(Refused::ReadOnly) => replies.error(READ_ONLY),
        Err(Refused::TooLong(what)) => replies.error(&format!("ERR {what}")),
        Err(Refused::Failed) => {
            replies.error("ERR the change could not be written; the server's log says why");
        }
    }
}

/// `COMMAND`, `COMMAND COUNT`, `COMMAND INFO name…`, `COMMAND DOCS`
fn commands(rest: &[&[u8]], replies: &mut Replies) {
    let one = |replies: &mut Replies, facts: &Facts| {
        replies.array(6);
        replies.bulk(facts.name.as_bytes());
        replies.signed(facts.arity.into());
        replies.array(facts.flags.len());
        facts.flags.iter().for_each(|flag| replies.simple(flag));
        let (first, last, step) = facts.keys;
        [first, last, step].into_iter().for_each(|number| replies.signed(number.into()));
    };
    match rest {
        [] => {
            replies.array(COMMANDS.len());
            COMMANDS.iter().for_each(|facts| one(replies, facts));
        }
        [what] if what.eq_ignore_ascii_case(b"count") => replies.integer(COMMANDS.len() as u64),
        [what, ..] if what.eq_ignore_ascii_case(b"docs") => replies.map(0),
        [what, names @ ..] if what.eq_ignore_ascii_case(b"info") => {
            replies.array(names.len());
            for name in names {
                match Facts::of(name) {
                    Some(facts) => one(replies, facts),
                    None => replies.null(),
                }
            }
        }
        _ => replies.error("ERR this server knows COMMAND, COMMAND COUNT, COMMAND INFO and COMMAND DOCS"),
    }
}
