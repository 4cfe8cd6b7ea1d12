//! What the server asks of the kernel so that it answers in time, whatever else the machine does.

use std::io;

use serde::Serialize;

use crate::serve::sys;

/// The thread that receives goes before the one that answers, which may be waiting exactly.
pub const RECEIVING: i32 = 20;
pub const ANSWERING: i32 = 10;
/// Threads that carry out orders hold locks for which the others wait: were they not in real time,
/// these would wait for whatever else the machine does.
pub const ORDERING: i32 = 5;

/// The heap that there is from the start, so that nothing has to be won back from the kernel while
/// it waits for this disk in order to win memory. Bytes.
const HEAP_B: usize = 96 << 20;

/// What was granted, and why not what was not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Privileges {
    /// SCHED_RR.
    pub realtime: bool,
    /// All memory locked.
    pub locked: bool,
    /// Memory is won for it without waiting for file systems.
    pub io_flusher: bool,
    pub missing: Vec<String>,
}

impl Privileges {
    /// Ask for all of them.
    pub fn acquire() -> Self {
        let mut granted = Self::default();
        sys::keep_heap(HEAP_B);
        let locked = sys::lock_memory();
        granted.locked = granted.note("mlockall", locked);
        let flusher = sys::never_wait_for_writeback();
        granted.io_flusher = granted.note("PR_SET_IO_FLUSHER", flusher);
        let realtime = sys::set_realtime(Some(RECEIVING)).and_then(|()| sys::set_realtime(None));
        granted.realtime = granted.note("SCHED_RR", realtime);
        let slack = sys::no_timer_slack();
        granted.note("PR_SET_TIMERSLACK", slack);
        granted
    }

    fn note(&mut self, name: &str, asked: io::Result<()>) -> bool {
        if let Err(error) = &asked {
            self.missing.push(format!("{name}: {error}"));
        }
        asked.is_ok()
    }
}
