//! Outlines of values as bytes: all but their large arrays.

use super::Refused;

/// Numbers below this take one byte. The others begin with a byte that says how many follow.
const LONG: u8 = 248;

/// Writes an outline.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn number(&mut self, number: u64) {
        match u8::try_from(number) {
            Ok(byte) if byte < LONG => self.0.push(byte),
            _ => {
                let length = 8 - number.leading_zeros() / 8;
                self.0.push(LONG - 1 + length as u8);
                self.0.extend_from_slice(&number.to_le_bytes()[..length as usize]);
            }
        }
    }

    /// Numbers that are always there.
    pub(super) fn fields<const N: usize>(&mut self, fields: [u64; N]) {
        fields.into_iter().for_each(|field| self.number(field));
    }

    pub(super) fn rate(&mut self, rate: f64) {
        self.number(rate.to_bits());
    }

    /// Numbers behind their count.
    pub(super) fn numbers(&mut self, numbers: &[u64]) {
        self.number(numbers.len() as u64);
        numbers.iter().for_each(|&number| self.number(number));
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads what a [`Writer`] wrote, and leaves what follows.
pub(crate) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Refused> {
        let (first, rest) =
            self.0.split_at_checked(length).ok_or_else(|| Refused("an outline that is cut short".into()))?;
        self.0 = rest;
        Ok(first)
    }

    pub(super) fn number(&mut self) -> Result<u64, Refused> {
        let first = self.take(1)?[0];
        if first < LONG {
            return Ok(first.into());
        }
        let mut bytes = [0; 8];
        let length = usize::from(first - LONG) + 1;
        bytes[..length].copy_from_slice(self.take(length)?);
        Ok(u64::from_le_bytes(bytes))
    }

    pub(super) fn narrow(&mut self) -> Result<u32, Refused> {
        u32::try_from(self.number()?).map_err(|_| Refused("an impossible option".into()))
    }

    pub(super) fn rate(&mut self) -> Result<f64, Refused> {
        self.number().map(f64::from_bits)
    }

    pub(super) fn numbers(&mut self) -> Result<Vec<u64>, Refused> {
        let count = usize::try_from(self.number()?)?;
        let mut numbers = Vec::new();
        // Each number takes a byte or more.
        numbers.try_reserve_exact(count.min(self.0.len()))?;
        for _ in 0..count {
            numbers.push(self.number()?);
        }
        Ok(numbers)
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Refused> {
        let length = usize::try_from(self.number()?)?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_come_back() {
        let mut numbers = vec![0, 1, 247, 248, 255, 256, u64::MAX];
        numbers.extend((1..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit]));
        let mut writer = Writer::default();
        writer.numbers(&numbers);
        writer.rate(0.85);
        writer.bytes(b"text");
        let bytes = writer.finish();
        let mut reader = Reader(&bytes);
        assert_eq!(reader.numbers().unwrap(), numbers);
        assert_eq!(reader.rate().unwrap(), 0.85);
        assert_eq!((reader.bytes().unwrap(), reader.0), (&b"text"[..], &b""[..]));
        for length in 0..bytes.len() {
            let mut reader = Reader(&bytes[..length]);
            assert!(reader.numbers().is_err() || reader.rate().is_err() || reader.bytes().is_err());
        }
        // A count of numbers that are not there takes no memory for them.
        assert!(Reader(&[255, 255, 255, 255, 255, 255, 255, 255, 0]).numbers().is_err());
    }
}
