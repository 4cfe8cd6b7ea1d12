//! The monotonic clock, in nanoseconds.

pub const SECOND_NS: u64 = 1_000_000_000;

/// Longer than any run; sums of two of these still fit.
pub const FOREVER_NS: u64 = u64::MAX / 4;

/// CLOCK_MONOTONIC now.
pub fn now_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a valid timespec, and this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * SECOND_NS + now.tv_nsec as u64
}

pub fn timespec(ns: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (ns / SECOND_NS) as i64,
        tv_nsec: (ns % SECOND_NS) as i64,
    }
}

/// Nanoseconds, at most [`FOREVER_NS`].
pub fn from_seconds(seconds: f64) -> u64 {
    ((seconds * SECOND_NS as f64).round() as u64).min(FOREVER_NS)
}

pub fn to_seconds(ns: u64) -> f64 {
    ns as f64 / SECOND_NS as f64
}
