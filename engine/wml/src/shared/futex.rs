//! Waiting for another thread of any process, without spinning.

use std::sync::atomic::AtomicU32;

use crate::clock::{on_monotonic, timespec};

/// Sleep while the word has the value `seen`, at most until `deadline_ns` of the run's clock.
/// May return early for no reason.
pub fn wait(word: &AtomicU32, seen: u32, deadline_ns: Option<u64>) {
    let deadline = deadline_ns.map(|ns| timespec(on_monotonic(ns)));
    let timeout = deadline
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word outlives the call; the kernel reads the deadline only.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT_BITSET,
            seen,
            timeout,
            std::ptr::null::<u32>(),
            libc::FUTEX_BITSET_MATCH_ANY,
        );
    }
}

/// Wake everyone who waits for the word.
pub fn wake_all(word: &AtomicU32) {
    // SAFETY: the kernel uses the address only to find the waiters.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX);
    }
}
