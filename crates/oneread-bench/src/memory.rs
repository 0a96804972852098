//! How much memory a piece of work takes, as the system counts it.

use std::fs;

/// The most memory that this process held while it did some work, in MiB; none where the system
/// does not tell.
///
/// The program itself and what it had in memory before are in it: an upper bound on what the work
/// took.
pub(crate) fn peak_mib(work: impl FnOnce()) -> Option<f64> {
    /// Makes Linux forget the peak so far.
    const FORGET_THE_PEAK: &str = "5";
    let forgotten = fs::write("/proc/self/clear_refs", FORGET_THE_PEAK);
    work();
    forgotten.ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = peak.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::hint::black_box;

    use super::peak_mib;

    #[test]
    fn a_peak_is_forgotten_when_the_next_is_measured() {
        const MIB: usize = 1 << 20;
        // Written to, since memory that nobody writes to is none.
        let large = peak_mib(|| drop(black_box(vec![1u8; 256 * MIB])));
        let small = peak_mib(|| drop(black_box(vec![1u8; MIB])));
        // A container may forbid to forget.
        if let (Some(large), Some(small)) = (large, small) {
            assert!(large > 256.0 && small < 200.0, "{large} and {small} MiB");
        }
    }
}
