//! Progress of a long creation, on the standard error.

use crate::stderr::{say, show};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Shorter work needs no progress.
const QUIET: Duration = Duration::from_secs(5);

/// Report how much is done until the work is finished; whoever finishes it unparks this thread.
pub fn report(what: &str, done: &AtomicUsize, total: usize, finished: impl Fn() -> bool) {
    let start = Instant::now();
    let terminal = std::io::stderr().is_terminal();
    let step = if terminal {
        Duration::from_secs(1)
    } else {
        QUIET
    };
    let mut next = start + QUIET;
    while !finished() {
        let now = Instant::now();
        if now < next {
            thread::park_timeout(next - now);
            continue;
        }
        next = now + step;
        let made = done.load(Relaxed);
        let share = made as f64 / total as f64;
        let left = start.elapsed().as_secs_f64() * (1.0 / share.max(1e-9) - 1.0);
        let end = if terminal { '\r' } else { '\n' };
        show!(
            "{what}: {made} of {total} ({:.0} %), {left:.0} s left{end}",
            share * 100.0
        );
    }
    if terminal && start.elapsed() > QUIET {
        say!("");
    }
}
