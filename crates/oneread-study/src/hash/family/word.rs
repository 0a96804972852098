//! Machine words as keys.

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for u16 {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A machine word: the keys of the multiply-shift and tabulation families.
///
/// Programs use `u32` and `u64`; `u8` and `u16` are small enough to test every function on every
/// pair of keys.
pub trait Word: Copy + Into<u64> + sealed::Sealed {
    /// A word with twice the bits, in which products do not overflow.
    type Double: Copy + Into<u128>;

    /// The number of bits (w in the lecture).
    const BITS: u32;
}

impl Word for u8 {
    type Double = u16;
    const BITS: u32 = u8::BITS;
}

impl Word for u16 {
    type Double = u32;
    const BITS: u32 = u16::BITS;
}

impl Word for u32 {
    type Double = u64;
    const BITS: u32 = u32::BITS;
}

impl Word for u64 {
    type Double = u128;
    const BITS: u32 = u64::BITS;
}
