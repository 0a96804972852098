//! Parses commands: flat arrays of strings, or lines as a person types them.
//!
//! Crates that parse the whole protocol accept nested arrays, by recursion without a limit, and
//! begin anew with every piece that arrives. Clients send only flat arrays. This parser keeps its
//! place, so that each byte is looked at once, and checks each length before it waits for the
//! bytes.
//!
//! # Invariants
//! 1. `at` is where the next element begins, in bytes from the beginning of the command.
//! 2. `arguments` lie before `at`, in order.

use std::ops::Range;

/// The longest line of a length: `*` or `$`, a number of 20 characters, and the end of the line.
const MAX_LENGTH_LINE: usize = 24;

/// The longest command on a line.
const MAX_INLINE: usize = 64 << 10;

/// What one command may take.
#[derive(Clone, Copy, Debug)]
pub struct CommandLimits {
    /// All arguments, with the command's name.
    pub arguments: usize,
    /// The bytes of the command.
    pub bytes: usize,
}

/// Bytes that are no command. After that, nobody knows where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The number of arguments is no number, or too large.
    Count,
    /// The length of an argument is no number, or too large.
    Length,
    /// An argument without its `$`.
    Dollar,
    /// An argument that does not end where its length says.
    End,
    /// A line that does not end.
    Line,
}

impl Malformed {
    /// The error that Redis gives.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Count => "ERR Protocol error: invalid multibulk length",
            Self::Length => "ERR Protocol error: invalid bulk length",
            Self::Dollar => "ERR Protocol error: expected '$'",
            Self::End => "ERR Protocol error: expected the end of a line",
            Self::Line => "ERR Protocol error: too big inline request",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Command,
    Length,
    Argument(usize),
}

/// Parses one command after the other, from bytes that arrive in any pieces.
#[derive(Debug)]
pub struct Parser {
    at: usize,
    left: usize,
    expected: Expected,
    /// The arguments of the command, in bytes from its beginning.
    arguments: Vec<Range<usize>>,
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// A parser at the beginning of a command.
    #[must_use]
    pub const fn new() -> Self {
        Self { at: 0, left: 0, expected: Expected::Command, arguments: Vec::new() }
    }

    /// The arguments of the command that [`parse`](Self::parse) found last, from its beginning.
    #[must_use]
    pub fn arguments(&self) -> &[Range<usize>] {
        &self.arguments
    }

    /// The bytes that the present command needs at least, as far as it is known.
    #[must_use]
    pub const fn needed(&self) -> usize {
        match self.expected {
            Expected::Argument(bytes) => self.at + bytes + 2,
            Expected::Command | Expected::Length => self.at + 1,
        }
    }

    /// Parses the command at the beginning of `input`. Returns its length once it is whole; until
    /// then, call it again with the same bytes and more.
    ///
    /// # Errors
    /// If the bytes are no command, or it exceeds the limits.
    pub fn parse(&mut self, input: &[u8], limits: CommandLimits) -> Result<Option<usize>, Malformed> {
        loop {
            match self.expected {
                Expected::Command => {
                    self.arguments.clear();
                    self.at = 0;
                    let Some(&first) = input.first() else { return Ok(None) };
                    if first != b'*' {
                        return self.inline(input, limits);
                    }
                    let Some((count, end)) = length(input, 0, Malformed::Count)? else { return Ok(None) };
                    self.at = end;
                    // Redis skips empty commands, too.
                    if count <= 0 {
                        return Ok(Some(end));
                    }
                    self.left = usize::try_from(count)
                        .ok()
                        .filter(|&count| count <= limits.arguments)
                        .ok_or(Malformed::Count)?;
                    self.expected = Expected::Length;
                }
                Expected::Length => {
                    let Some(&first) = input.get(self.at) else { return Ok(None) };
                    if first != b'$' {
                        return Err(Malformed::Dollar);
                    }
                    let Some((bytes, end)) = length(input, self.at, Malformed::Length)? else {
                        return Ok(None);
                    };
                    let room = limits.bytes.saturating_sub(end);
                    let bytes = usize::try_from(bytes)
                        .ok()
                        .filter(|&bytes| bytes <= room)
                        .ok_or(Malformed::Length)?;
                    self.at = end;
                    self.expected = Expected::Argument(bytes);
                }
                Expected::Argument(bytes) => {
                    let end = self.at + bytes;
                    let Some(after) = input.get(end..end + 2) else { return Ok(None) };
                    if after != b"\r\n" {
                        return Err(Malformed::End);
                    }
                    self.arguments.push(self.at..end);
                    self.at = end + 2;
                    self.left -= 1;
                    if self.left == 0 {
                        self.expected = Expected::Command;
                        return Ok(Some(self.at));
                    }
                    self.expected = Expected::Length;
                }
            }
        }
    }

    /// A command on a line: words between spaces.
    fn inline(&mut self, input: &[u8], limits: CommandLimits) -> Result<Option<usize>, Malformed> {
        let most = limits.bytes.min(MAX_INLINE);
        let Some(end) = input.iter().take(most).position(|&byte| byte == b'\n') else {
            return if input.len() < most { Ok(None) } else { Err(Malformed::Line) };
        };
        let mut start = None;
        for (at, byte) in input[..=end].iter().enumerate() {
            match (byte.is_ascii_whitespace(), start) {
                (false, None) => start = Some(at),
                (true, Some(from)) => {
                    self.arguments.push(from..at);
                    start = None;
                }
                _ => {}
            }
        }
        if self.arguments.len() > limits.arguments {
            return Err(Malformed::Count);
        }
        Ok(Some(end + 1))
    }
}

/// The number on the line that begins one byte after `start`, and where the line ends; `None` if it
/// is not there yet.
fn length(input: &[u8], start: usize, malformed: Malformed) -> Result<Option<(i64, usize)>, Malformed> {
    let line = &input[start + 1..input.len().min(start + MAX_LENGTH_LINE)];
    let (is_negative, from) = (line.first() == Some(&b'-'), usize::from(line.first() == Some(&b'-')));
    let mut number = 0i64;
    for (at, &byte) in line.iter().enumerate().skip(from) {
        match byte {
            b'0'..=b'9' => {
                number = number
                    .checked_mul(10)
                    .and_then(|number| number.checked_add(i64::from(byte - b'0')))
                    .ok_or(malformed)?;
            }
            b'\r' if at > from => {
                return match line.get(at + 1) {
                    Some(b'\n') => Ok(Some((if is_negative { -number } else { number }, start + at + 3))),
                    Some(_) => Err(malformed),
                    None => Ok(None),
                };
            }
            _ => return Err(malformed),
        }
    }
    if line.len() < MAX_LENGTH_LINE - 1 { Ok(None) } else { Err(malformed) }
}
