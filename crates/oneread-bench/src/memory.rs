//! Measures peak memory as the system counts it.

use std::fs;

/// The peak memory of this process during `work`, in MiB; `None` where the system does not report
/// it.
///
/// This includes the program itself and what it held before, so it is an upper bound for the work.
pub(crate) fn peak_mib(work: impl FnOnce()) -> Option<f64> {
    /// Resets Linux's record of the peak.
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
        // Written to, since the system only counts pages that have been written.
        let large = peak_mib(|| drop(black_box(vec![1u8; 256 * MIB])));
        let small = peak_mib(|| drop(black_box(vec![1u8; MIB])));
        // A container may forbid the reset.
        if let (Some(large), Some(small)) = (large, small) {
            assert!(large > 256.0 && small < 200.0, "{large} and {small} MiB");
        }
    }
}
