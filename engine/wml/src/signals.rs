//! Signals as events: blocked before anything starts, and looked at wherever something takes long.

use std::mem::MaybeUninit;

use crate::clock::{now_ns, timespec};
use crate::failure::Failure;

/// Those that ask for the end.
const STOPS: [(libc::c_int, &str); 3] = [
    (libc::SIGINT, "SIGINT"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGHUP, "SIGHUP"),
];

/// What a wait was ended by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The name of a signal that asks for the end.
    Stop(&'static str),
    /// A process that was started here has ended or changed.
    Child,
    /// The deadline, or sooner for no reason.
    Deadline,
}

fn set() -> libc::sigset_t {
    let stops = STOPS.iter().map(|(signal, _)| *signal);
    set_of(stops.chain([libc::SIGCHLD]))
}

fn set_of(signals: impl Iterator<Item = libc::c_int>) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the set is initialised by sigemptyset before its use.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// Keep the signals for [`next`], in this thread and in all threads and processes that come from it.
///
/// The end of a terminal stays ignored where it was (`nohup`), and ends of processes do not.
pub fn block() {
    // SAFETY: the default is a valid disposition.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    change_mask(libc::SIG_BLOCK, set());
    if is_ignored(libc::SIGHUP) {
        change_mask(libc::SIG_UNBLOCK, set_of([libc::SIGHUP].into_iter()));
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: zeros are a valid sigaction, which the call fills in.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the old action only is asked for, into valid memory.
    unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) };
    now.sa_sigaction == libc::SIG_IGN
}

/// Undo [`block`], in a process that is about to become another program.
pub fn unblock() {
    change_mask(libc::SIG_UNBLOCK, set());
}

fn change_mask(how: libc::c_int, set: libc::sigset_t) {
    // SAFETY: the set is valid for the call.
    unsafe { libc::pthread_sigmask(how, &raw const set, std::ptr::null_mut()) };
}

/// The signal that asks for the end, if there is one; it stays for whoever asks next.
pub fn pending() -> Option<&'static str> {
    let mut pending = set();
    // SAFETY: the set is valid for the calls.
    unsafe {
        libc::sigpending(&raw mut pending);
        STOPS
            .iter()
            .find(|(signal, _)| libc::sigismember(&raw const pending, *signal) == 1)
            .map(|(_, name)| *name)
    }
}

/// Fails if something asks for the end.
pub fn check() -> Result<(), Failure> {
    pending().map_or(Ok(()), |name| {
        Err(Failure::new(format!("stopped by {name}"), "start it again"))
    })
}

/// Take the next event; a deadline is of the run's clock.
pub fn next(deadline_ns: u64) -> Event {
    within(deadline_ns.saturating_sub(now_ns()))
}

/// Take the next event of so many nanoseconds.
pub fn within(duration_ns: u64) -> Event {
    let timeout = timespec(duration_ns);
    let set = set();
    // SAFETY: set and timeout are valid; no information about the signal is asked for.
    let signal =
        unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const timeout) };
    if signal == libc::SIGCHLD {
        return Event::Child;
    }
    STOPS
        .iter()
        .find(|(stop, _)| *stop == signal)
        .map_or(Event::Deadline, |(_, name)| Event::Stop(name))
}

/// Sleep until a time of the monotonic clock; the name of the signal that ended it early.
pub fn sleep_until(deadline_ns: u64) -> Result<(), &'static str> {
    while now_ns() < deadline_ns {
        if let Event::Stop(name) = next(deadline_ns) {
            return Err(name);
        }
    }
    Ok(())
}
