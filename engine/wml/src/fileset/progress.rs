//! Progress of a long creation, on the standard error.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Shorter work needs no progress.
const QUIET: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_secs(5);

/// Report until `done` reaches `total`; sleeps in short steps.
pub fn report(what: &str, done: &AtomicUsize, total: usize, finished: impl Fn() -> bool) {
    let start = Instant::now();
    let terminal = std::io::stderr().is_terminal();
    let mut last = start;
    while !finished() {
        std::thread::sleep(Duration::from_millis(2));
        let step = if terminal {
            Duration::from_secs(1)
        } else {
            STEP
        };
        if start.elapsed() < QUIET || last.elapsed() < step {
            continue;
        }
        last = Instant::now();
        let made = done.load(Relaxed);
        let share = made as f64 / total as f64;
        let left = start.elapsed().as_secs_f64() * (1.0 / share.max(1e-9) - 1.0);
        let end = if terminal { '\r' } else { '\n' };
        eprint!(
            "{what}: {made} of {total} files ({:.0} %), {left:.0} s left{end}",
            share * 100.0
        );
        let _ = std::io::stderr().flush();
    }
    if terminal && start.elapsed() > QUIET {
        eprintln!();
    }
}
