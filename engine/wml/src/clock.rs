//! The clock of a run, in nanoseconds: the monotonic one, which may stand still between turns.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::*};

pub const SECOND_NS: u64 = 1_000_000_000;

/// Longer than any run; sums of two of these still fit.
pub const FOREVER_NS: u64 = u64::MAX / 4;

/// What the clock is behind the monotonic one; with this bit set, the time at which it stands.
const STANDS: u64 = 1 << 63;

static BEHIND: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

/// Let the clock stand still whenever `behind` says so, here and in processes that come from this.
pub fn follow(behind: &'static AtomicU64) {
    BEHIND.store(std::ptr::from_ref(behind).cast_mut(), Release);
}

fn behind() -> Option<&'static AtomicU64> {
    // SAFETY: null, or what `follow` was given.
    unsafe { BEHIND.load(Relaxed).as_ref() }
}

/// Let the clock stand still.
pub fn halt() {
    if let Some(behind) = behind() {
        behind.store(STANDS | now_ns(), Release);
    }
}

/// Let the clock go on from where it stands.
pub fn go_on() {
    if let Some(behind) = behind() {
        let stands_ns = now_ns();
        behind.store(monotonic_ns() - stands_ns, Release);
    }
}

/// The time of the monotonic clock at which this clock will have this time, if it does not halt.
pub fn on_monotonic(time_ns: u64) -> u64 {
    match behind().map(|behind| behind.load(Acquire)) {
        None => time_ns,
        Some(word) if word & STANDS == 0 => time_ns.saturating_add(word),
        Some(word) => monotonic_ns().saturating_add(time_ns.saturating_sub(word & !STANDS)),
    }
}

/// The time now, of CLOCK_MONOTONIC unless the clock has stood still.
pub fn now_ns() -> u64 {
    let Some(behind) = behind() else {
        return monotonic_ns();
    };
    loop {
        let before = behind.load(Acquire);
        if before & STANDS != 0 {
            return before & !STANDS;
        }
        let now = monotonic_ns() - before;
        // A halt in between would make this time one that the clock has not reached.
        if behind.load(Acquire) == before {
            return now;
        }
    }
}

/// CLOCK_MONOTONIC now.
pub fn monotonic_ns() -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stands_still_between_turns_and_never_goes_back() {
        static OWN: AtomicU64 = AtomicU64::new(0);
        follow(&OWN);
        let start = now_ns();
        assert!(start <= monotonic_ns());
        halt();
        let stands = now_ns();
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert_eq!(now_ns(), stands);
        assert!(on_monotonic(stands + SECOND_NS) >= monotonic_ns() + SECOND_NS / 2);
        go_on();
        let after = now_ns();
        assert!(start <= stands && stands <= after);
        assert!(monotonic_ns() - after >= 5_000_000, "the pause is left out");
        assert_eq!(on_monotonic(after), after + OWN.load(Relaxed));
        BEHIND.store(std::ptr::null_mut(), Release);
    }
}
