//! The records of the demo's store, generated from their numbers so that every value can be
//! compared.

pub(super) struct Records {
    value_bytes: usize,
}

impl Records {
    pub(super) const KEY_BYTES: usize = 16;

    /// Records with values of `value_bytes` bytes.
    pub(super) const fn new(value_bytes: usize) -> Self {
        Self { value_bytes }
    }

    /// `key-` and twelve digits.
    pub(super) fn key(&self, number: u64) -> [u8; Self::KEY_BYTES] {
        let mut key = *b"key-000000000000";
        let mut rest = number;
        for digit in key[4..].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        key
    }

    /// The key repeated, after a word that describes it.
    pub(super) fn value(&self, number: u64, value: &mut Vec<u8>) {
        value.clear();
        value.extend_from_slice(b"value of ");
        let key = self.key(number);
        while value.len() < self.value_bytes {
            value.extend_from_slice(&key);
            value.push(b' ');
        }
        value.truncate(self.value_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_tell_their_number() {
        let mut value = Vec::new();
        Records::new(30).value(42, &mut value);
        assert_eq!(Records::new(0).key(123_456_789_012), *b"key-123456789012");
        assert_eq!(value, b"value of key-000000000042 key-");
        Records::new(0).value(42, &mut value);
        assert!(value.is_empty());
    }
}
