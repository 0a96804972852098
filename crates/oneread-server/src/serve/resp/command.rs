//! The commands: their names, their arguments, and what `COMMAND` says of them.

/// A command of this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Auth,
    Client,
    Config,
    DbSize,
    Del,
    Echo,
    Exists,
    Get,
    Hello,
    Info,
    /// `COMMAND`
    List,
    MGet,
    Ping,
    Quit,
    Select,
    Set,
    StrLen,
}

/// What `COMMAND` tells clients of a command.
pub(super) struct Facts {
    pub(super) command: Command,
    pub(super) name: &'static str,
    /// The arguments with the name; negative for a minimum.
    pub(super) arity: i32,
    pub(super) flags: &'static [&'static str],
    /// The first and the last key among the arguments, and the step between keys.
    pub(super) keys: (i32, i32, i32),
}

const fn facts(
    command: Command,
    name: &'static str,
    arity: i32,
    flags: &'static [&'static str],
    keys: (i32, i32, i32),
) -> Facts {
    Facts { command, name, arity, flags, keys }
}

const READ: &[&str] = &["readonly", "fast"];
const WRITE: &[&str] = &["write", "denyoom"];
const CONNECTION: &[&str] = &["loading", "stale", "fast"];
/// Commands that answer before `AUTH`.
const OPEN: &[&str] = &["loading", "stale", "fast", "no_auth"];

pub(super) const COMMANDS: [Facts; 17] = [
    facts(Command::Auth, "auth", -2, OPEN, (0, 0, 0)),
    facts(Command::Client, "client", -2, CONNECTION, (0, 0, 0)),
    facts(Command::List, "command", -1, CONNECTION, (0, 0, 0)),
    facts(Command::Config, "config", -2, CONNECTION, (0, 0, 0)),
    facts(Command::DbSize, "dbsize", 1, READ, (0, 0, 0)),
    facts(Command::Del, "del", -2, WRITE, (1, -1, 1)),
    facts(Command::Echo, "echo", 2, CONNECTION, (0, 0, 0)),
    facts(Command::Exists, "exists", -2, READ, (1, -1, 1)),
    facts(Command::Get, "get", 2, READ, (1, 1, 1)),
    facts(Command::Hello, "hello", -1, OPEN, (0, 0, 0)),
    facts(Command::Info, "info", -1, CONNECTION, (0, 0, 0)),
    facts(Command::MGet, "mget", -2, READ, (1, -1, 1)),
    facts(Command::Ping, "ping", -1, CONNECTION, (0, 0, 0)),
    facts(Command::Quit, "quit", -1, OPEN, (0, 0, 0)),
    facts(Command::Select, "select", 2, CONNECTION, (0, 0, 0)),
    facts(Command::Set, "set", -3, WRITE, (1, 1, 1)),
    facts(Command::StrLen, "strlen", 2, READ, (1, 1, 1)),
];

impl Facts {
    /// The command of a name, in any case.
    pub(super) fn of(name: &[u8]) -> Option<&'static Self> {
        COMMANDS.iter().find(|facts| facts.name.as_bytes().eq_ignore_ascii_case(name))
    }

    /// Whether a command may have this many arguments, with its name.
    pub(super) fn takes(&self, arguments: usize) -> bool {
        let wanted = self.arity.unsigned_abs() as usize;
        if self.arity < 0 { arguments >= wanted } else { arguments == wanted }
    }

    pub(super) fn needs_no_token(&self) -> bool {
        self.flags.contains(&"no_auth")
    }
}
