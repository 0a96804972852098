//! What the server knows about a command: arity, keys, arguments, and the texts of `COMMAND DOCS`.
//!
//! The server refuses a call with a wrong number of arguments before it looks for keys. It finds
//! the keys itself, so that no call can name a key that is not there; access lists know which keys
//! are read and which are written.

use std::ffi::{CString, c_char, c_int};

use valkey_module::raw;

use crate::engine::{c_string, server};

/// An argument, as `COMMAND DOCS` shows it.
pub(super) struct Argument {
    name: &'static str,
    kind: Kind,
    token: Option<&'static str>,
    flags: u32,
}

enum Kind {
    /// A key; the number of its specification.
    Key(c_int),
    Text,
    Integer,
    Number,
    /// A word without a value.
    Word,
    OneOf(&'static [Argument]),
    Block(&'static [Argument]),
}

impl Argument {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, token: None, flags: 0 }
    }

    /// A key of the specification `number`.
    pub(super) const fn key(name: &'static str, number: c_int) -> Self {
        Self::new(name, Kind::Key(number))
    }

    pub(super) const fn text(name: &'static str) -> Self {
        Self::new(name, Kind::Text)
    }

    pub(super) const fn integer(name: &'static str) -> Self {
        Self::new(name, Kind::Integer)
    }

    pub(super) const fn number(name: &'static str) -> Self {
        Self::new(name, Kind::Number)
    }

    pub(super) const fn word(name: &'static str, token: &'static str) -> Self {
        Self::new(name, Kind::Word).after(token)
    }

    pub(super) const fn one_of(name: &'static str, arguments: &'static [Self]) -> Self {
        Self::new(name, Kind::OneOf(arguments))
    }

    pub(super) const fn block(name: &'static str, arguments: &'static [Self]) -> Self {
        Self::new(name, Kind::Block(arguments))
    }

    /// With a word before it.
    pub(super) const fn after(mut self, token: &'static str) -> Self {
        self.token = Some(token);
        self
    }

    pub(super) const fn optional(mut self) -> Self {
        self.flags |= raw::REDISMODULE_CMD_ARG_OPTIONAL;
        self
    }

    pub(super) const fn repeated(mut self) -> Self {
        self.flags |= raw::REDISMODULE_CMD_ARG_MULTIPLE;
        self
    }
}

/// Where the keys of a command are.
#[derive(Clone, Copy)]
pub(super) enum Keys {
    /// The first argument.
    First(Access),
    /// The first argument is the destination, the others are sources.
    AllSources,
    /// The first argument is the destination, the second the number of sources that follow.
    CountedSources,
}

/// What a command does with a key.
#[derive(Clone, Copy)]
pub(super) enum Access {
    Reads,
    /// Adds without returning content.
    Adds,
    /// Changes content and returns some of it.
    Changes,
    Deletes,
}

impl Access {
    const fn flags(self) -> u64 {
        (match self {
            Self::Reads => raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS,
            Self::Adds => raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_INSERT,
            Self::Changes => {
                raw::REDISMODULE_CMD_KEY_RW
                    | raw::REDISMODULE_CMD_KEY_ACCESS
                    | raw::REDISMODULE_CMD_KEY_UPDATE
            }
            Self::Deletes => raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_DELETE,
        }) as u64
    }
}

/// A command as the server describes it.
pub(super) struct Description {
    pub(super) summary: &'static str,
    pub(super) complexity: &'static str,
    /// The version of RedisBloom, or of this module, that introduced it.
    pub(super) since: &'static str,
    /// The number of arguments with the name; if negative, the least number.
    pub(super) arity: c_int,
    pub(super) keys: Keys,
    pub(super) arguments: &'static [Argument],
}

/// A declaration of the server's interface in which zeros mean absent.
///
/// # Safety
/// All zeros must be a valid value.
unsafe trait Zeros: Copy {}

// SAFETY: these have integers, pointers, and unions of both.
unsafe impl Zeros for raw::RedisModuleCommandArg {}
unsafe impl Zeros for raw::RedisModuleCommandInfo {}
unsafe impl Zeros for raw::RedisModuleCommandKeySpec {}

fn absent<T: Zeros>() -> T {
    // SAFETY: the trait's.
    unsafe { std::mem::zeroed() }
}

fn key_range(first: c_int, last: c_int, flags: u64) -> raw::RedisModuleCommandKeySpec {
    let mut keys: raw::RedisModuleCommandKeySpec = absent();
    keys.flags = flags;
    keys.begin_search_type = raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_INDEX;
    keys.bs.index.pos = first;
    keys.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_RANGE;
    keys.fk.range =
        raw::RedisModuleCommandKeySpec__bindgen_ty_2__bindgen_ty_1 { lastkey: last, keystep: 1, limit: 0 };
    keys
}

impl Keys {
    /// The specifications, and an absent one that ends them.
    fn specifications(self) -> Vec<raw::RedisModuleCommandKeySpec> {
        let mut all = match self {
            Self::First(access) => vec![key_range(1, 0, access.flags())],
            Self::AllSources => {
                vec![key_range(1, 0, Access::Changes.flags()), key_range(2, -1, Access::Reads.flags())]
            }
            Self::CountedSources => {
                let mut sources = key_range(2, 0, Access::Reads.flags());
                sources.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_KEYNUM;
                sources.fk.keynum = raw::RedisModuleCommandKeySpec__bindgen_ty_2__bindgen_ty_2 {
                    keynumidx: 0,
                    firstkey: 1,
                    keystep: 1,
                };
                vec![key_range(1, 0, Access::Changes.flags()), sources]
            }
        };
        all.push(absent());
        all
    }
}

/// Owns what the server's declarations point to until the server has copied it.
#[derive(Default)]
struct Owned {
    texts: Vec<CString>,
    arguments: Vec<Vec<raw::RedisModuleCommandArg>>,
}

impl Owned {
    fn text(&mut self, text: &str) -> *const c_char {
        self.texts.push(c_string(text));
        self.texts.last().map_or(std::ptr::null(), |text| text.as_ptr())
    }

    /// The arguments, and an absent one that ends them.
    fn arguments(&mut self, arguments: &[Argument]) -> *mut raw::RedisModuleCommandArg {
        let mut all: Vec<_> = arguments.iter().map(|argument| self.argument(argument)).collect();
        all.push(absent());
        self.arguments.push(all);
        self.arguments.last_mut().map_or(std::ptr::null_mut(), |all| all.as_mut_ptr())
    }

    fn argument(&mut self, argument: &Argument) -> raw::RedisModuleCommandArg {
        let mut told: raw::RedisModuleCommandArg = absent();
        told.name = self.text(argument.name);
        told.token = argument.token.map_or(std::ptr::null(), |token| self.text(token));
        told.flags = argument.flags as c_int;
        told.key_spec_index = -1;
        told.type_ = match argument.kind {
            Kind::Key(number) => {
                told.key_spec_index = number;
                raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_KEY
            }
            Kind::Text => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_STRING,
            Kind::Integer => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_INTEGER,
            Kind::Number => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_DOUBLE,
            Kind::Word => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_PURE_TOKEN,
            Kind::OneOf(arguments) => {
                told.subargs = self.arguments(arguments);
                raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_ONEOF
            }
            Kind::Block(arguments) => {
                told.subargs = self.arguments(arguments);
                raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_BLOCK
            }
        };
        told
    }
}

impl Description {
    /// Describes `command` to the server; returns whether it took the description.
    ///
    /// # Safety
    /// Only while the module is loaded, with a command of this module.
    pub(super) unsafe fn tell(&self, command: *mut raw::RedisModuleCommand) -> bool {
        let version = raw::RedisModuleCommandInfoVersion {
            version: 1,
            sizeof_historyentry: size_of::<raw::RedisModuleCommandHistoryEntry>(),
            sizeof_keyspec: size_of::<raw::RedisModuleCommandKeySpec>(),
            sizeof_arg: size_of::<raw::RedisModuleCommandArg>(),
        };
        let (mut owned, mut keys) = (Owned::default(), self.keys.specifications());
        let mut info: raw::RedisModuleCommandInfo = absent();
        info.version = &raw const version;
        info.summary = owned.text(self.summary);
        info.complexity = owned.text(self.complexity);
        info.since = owned.text(self.since);
        info.arity = self.arity;
        info.key_specs = keys.as_mut_ptr();
        info.args = owned.arguments(self.arguments);
        // SAFETY: the caller's; all that `info` points to lives until the call returns, and the
        // server copies it.
        let status = unsafe { server!(RedisModule_SetCommandInfo(command, &raw const info)) };
        status == raw::REDISMODULE_OK as c_int
    }
}
