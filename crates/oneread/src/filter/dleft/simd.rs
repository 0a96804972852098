//! Instructions that not every machine has.
//!
//! Why unsafe: with `pext` an insertion drops the bits that all fingerprints of a bucket lose in one instruction, rather than one after the other.

/// What this machine can do, found out once for each filter.
#[derive(Clone, Copy)]
pub(super) struct Simd {
    with: unsafe fn(u64, u64) -> u64,
}

impl Simd {
    const PORTABLE: Self = Self { with: portable };

    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    pub(super) fn detect() -> Self {
        use std::arch::is_x86_feature_detected as has;
        if !cfg!(miri) && has!("bmi2") && has!("popcnt") { Self { with: x86::with } } else { Self::PORTABLE }
    }

    /// Without the standard library nothing can be asked of the machine.
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    pub(super) fn detect() -> Self {
        Self::PORTABLE
    }

    /// The bucket with one more fingerprint. It must have room.
    #[inline(always)]
    pub(super) fn with(self, bucket: u64, fingerprint: u64) -> u64 {
        // SAFETY: `detect` found the features on this machine; nothing else makes this value.
        unsafe { (self.with)(bucket, fingerprint) }
    }
}

fn portable(bucket: u64, fingerprint: u64) -> u64 {
    super::bucket64::with(bucket, fingerprint, super::bucket64::extract)
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86 {
    use super::super::bucket64;

    #[target_feature(enable = "bmi2,popcnt")]
    pub(super) fn with(bucket: u64, fingerprint: u64) -> u64 {
        bucket64::with(bucket, fingerprint, |word, mask| core::arch::x86_64::_pext_u64(word, mask))
    }
}
