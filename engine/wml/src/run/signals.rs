//! Signals as events: blocked before the fork, waited for by the supervisor only.

use crate::clock::{now_ns, timespec};

/// SIGINT, SIGTERM, SIGHUP and SIGCHLD, blocked in this thread and all that come from it.
pub struct Signals {
    set: libc::sigset_t,
}

impl Signals {
    pub fn block() -> Self {
        // SAFETY: the set is initialised by sigemptyset before its use.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGCHLD] {
                libc::sigaddset(&raw mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            Self { set }
        }
    }

    /// The next signal, or None at the deadline.
    pub fn next(&self, deadline_ns: u64) -> Option<i32> {
        let timeout = timespec(deadline_ns.saturating_sub(now_ns()));
        // SAFETY: set and timeout are valid; no information about the signal is asked for.
        let signal = unsafe {
            libc::sigtimedwait(
                &raw const self.set,
                std::ptr::null_mut(),
                &raw const timeout,
            )
        };
        (signal > 0).then_some(signal)
    }
}
