//! Work on many items with several threads.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread;

use super::progress;
use crate::failure::Failure;
use crate::signals;

/// The most items that a thread takes at once: so many that neighbours among the items are worked
/// on by one thread.
const MAX_CHUNK: usize = 256;
/// How many chunks each thread has at least, so that all end at about the same time.
const MIN_CHUNKS: usize = 16;
/// Beyond these, threads only wait for the locks of the file system.
const MAX_WORKERS: usize = 32;

/// Twice the processors, so that the disk has work while they compute.
pub fn workers() -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    (2 * processors).min(MAX_WORKERS)
}

/// Do `work` for every chunk of the items, each thread with a state of its own from `begin`. The
/// first failure, or a signal that asks for the end, stops everyone and is returned. Says on the
/// standard error how far `what` is.
pub fn work_on<T: Sync, S>(
    what: &str,
    items: &[T],
    workers: usize,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &[T]) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let stopped = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let workers = workers.clamp(1, items.len().max(1));
    let chunk_length = (items.len() / (MIN_CHUNKS * workers)).clamp(1, MAX_CHUNK);
    let running = AtomicUsize::new(workers);
    let reporter = thread::current();
    let chunk = || -> Option<Range<usize>> {
        let first = next.fetch_add(chunk_length, Relaxed);
        (first < items.len()).then(|| first..(first + chunk_length).min(items.len()))
    };
    let worker = || {
        // Descriptors of its own: in a table that is shared, opening and closing take a lock.
        // SAFETY: touches no memory. If it is refused, the table is shared as it was.
        unsafe { libc::unshare(libc::CLONE_FILES) };
        let mut state = begin();
        while let (false, Some(range)) = (stopped.load(Relaxed), chunk()) {
            let count = range.len();
            let done_here = signals::check().and_then(|()| work(&mut state, &items[range]));
            if let Err(error) = done_here {
                stopped.store(true, Relaxed);
                let mut failure = failure.lock().expect("no thread panics");
                failure.get_or_insert(error);
            }
            done.fetch_add(count, Relaxed);
        }
        if running.fetch_sub(1, AcqRel) == 1 {
            reporter.unpark();
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(worker);
        }
        progress::report(what, &done, items.len(), || running.load(Acquire) == 0);
    });
    let failure = failure.into_inner().expect("no thread panics");
    failure.map_or(Ok(()), Err)
}
