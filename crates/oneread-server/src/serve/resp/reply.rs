//! Writes replies, in version 2 or 3 of the protocol.

use std::io::Write;

/// Replies that are not sent yet.
#[derive(Debug, Default)]
pub(super) struct Replies {
    pub(super) bytes: Vec<u8>,
    /// Whether the client asked for version 3.
    pub(super) is_resp3: bool,
}

impl Replies {
    fn line(&mut self, kind: u8, text: &str) {
        self.bytes.push(kind);
        // A line break would end the reply early.
        self.bytes.extend(text.bytes().map(|byte| if byte == b'\r' || byte == b'\n' { b' ' } else { byte }));
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// A length, the fast way: every value has one.
    fn length(&mut self, kind: u8, length: usize) {
        let mut digits = [0; 24];
        let mut at = digits.len();
        let mut rest = length;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.bytes.push(kind);
        self.bytes.extend_from_slice(&digits[at..]);
        self.bytes.extend_from_slice(b"\r\n");
    }

    pub(super) fn simple(&mut self, text: &str) {
        self.line(b'+', text);
    }

    pub(super) fn error(&mut self, text: &str) {
        self.line(b'-', text);
    }

    pub(super) fn integer(&mut self, number: u64) {
        self.signed(number.try_into().unwrap_or(i64::MAX));
    }

    pub(super) fn signed(&mut self, number: i64) {
        // Writing to memory does not fail.
        _ = write!(self.bytes, ":{number}\r\n");
    }

    #[inline]
    pub(super) fn bulk(&mut self, value: &[u8]) {
        self.length(b'$', value.len());
        self.bytes.extend_from_slice(value);
        self.bytes.extend_from_slice(b"\r\n");
    }

    pub(super) fn null(&mut self) {
        self.bytes.extend_from_slice(if self.is_resp3 { b"_\r\n" } else { b"$-1\r\n" });
    }

    /// The elements follow.
    pub(super) fn array(&mut self, elements: usize) {
        self.length(b'*', elements);
    }

    /// The keys and values follow, in turn.
    pub(super) fn map(&mut self, pairs: usize) {
        if self.is_resp3 {
            self.length(b'%', pairs);
        } else {
            self.length(b'*', 2 * pairs);
        }
    }
}
