//! The signals that ask for the end.

use std::mem::MaybeUninit;

/// The end of a terminal is none of them where it is ignored (`nohup`).
fn stops() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the set is initialised by sigemptyset before its use.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            if signal != libc::SIGHUP || !is_ignored(signal) {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
        }
        set.assume_init()
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: zeros are a valid sigaction, which the call fills in.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the old action only is asked for, into valid memory.
    unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) };
    now.sa_sigaction == libc::SIG_IGN
}

/// Keep the signals that ask for the end for [`wait_for_stop`], in this thread and its threads.
pub fn block_stops() {
    let set = stops();
    // SAFETY: the set is valid for the call.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
}

/// Wait until a signal asks for the end.
pub fn wait_for_stop() {
    let set = stops();
    let mut signal = 0;
    // SAFETY: both are valid for the call.
    unsafe { libc::sigwait(&raw const set, &raw mut signal) };
}

/// Ask this process for its end.
pub fn stop() {
    // SAFETY: touches no memory.
    unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
}
