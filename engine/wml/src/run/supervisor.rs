//! The parent: forks the processes, starts the clock, ends the run, and always reaps.

use std::io;

use super::Options;
use super::arena::Arena;
use super::child;
use super::signals::Signals;
use crate::clock::{SECOND_NS, now_ns};
use crate::failure::Failure;

/// How long operations that are under way at the end may take.
const GRACE_NS: u64 = 120 * SECOND_NS;
const POLL_NS: u64 = SECOND_NS / 500;

/// Why a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The measured interval was over.
    Complete,
    /// Every thread had reached its goal before.
    Finished,
    /// Early, for this reason: results are partial.
    Cut(String),
}

struct Children {
    pids: Vec<libc::pid_t>,
    failure: Option<String>,
}

/// Run to the end of the measured interval, or to a signal.
pub fn supervise(arena: &Arena, options: &Options) -> Result<Ending, Failure> {
    raise_descriptor_limit();
    let signals = Signals::block();
    let mut children = Children {
        pids: Vec::new(),
        failure: None,
    };
    if let Err(failure) = children.fork_all(arena) {
        arena.stop();
        children.kill_and_reap();
        return Err(failure);
    }
    let early = await_ready(arena, &signals, &mut children);
    if let Some(reason) = early {
        arena.stop();
        children.kill_and_reap();
        return Err(Failure::new(format!(
            "the workload did not start: {reason}"
        )));
    }
    arena.control.start(options.warmup_ns, options.duration_ns);
    let mut ending = await_end(arena, &signals, &mut children);
    if ending != Ending::Complete {
        // What still runs is cut here; what has finished is timed by its last operation.
        let now = if ending == Ending::Finished {
            arena.control.last_ns()
        } else {
            now_ns()
        };
        arena.control.cut_to(now);
    }
    arena.stop();
    if let Some(reason) = await_children(&signals, &mut children) {
        children.kill_and_reap();
        ending = Ending::Cut(reason);
    }
    if let Some(reason) = children.failure {
        ending = Ending::Cut(reason);
    }
    Ok(ending)
}

/// Wait until every thread stands at the start; a reason if that will not happen.
fn await_ready(arena: &Arena, signals: &Signals, children: &mut Children) -> Option<String> {
    while u64::from(arena.control.ready()) < arena.model.thread_count() {
        match signals.next(now_ns() + POLL_NS) {
            Some(libc::SIGCHLD) if children.reap() > 0 => {
                let lost = || "a process ended early".to_owned();
                return Some(children.failure.take().unwrap_or_else(lost));
            }
            Some(libc::SIGCHLD) => {}
            Some(signal) => return Some(stopped_by(signal)),
            None => {}
        }
    }
    None
}

fn await_end(arena: &Arena, signals: &Signals, children: &mut Children) -> Ending {
    loop {
        match signals.next(arena.control.end_ns()) {
            None if now_ns() >= arena.control.end_ns() => return Ending::Complete,
            None => {}
            Some(libc::SIGCHLD) => {
                children.reap();
                if let Some(reason) = &children.failure {
                    return Ending::Cut(reason.clone());
                }
                if children.pids.is_empty() {
                    let early = now_ns() < arena.control.end_ns();
                    return if early {
                        Ending::Finished
                    } else {
                        Ending::Complete
                    };
                }
            }
            Some(signal) => return Ending::Cut(stopped_by(signal)),
        }
    }
}

/// Wait for all processes after the stop; a reason if some had to be left.
fn await_children(signals: &Signals, children: &mut Children) -> Option<String> {
    let deadline = now_ns() + GRACE_NS;
    children.reap();
    while !children.pids.is_empty() {
        match signals.next(deadline) {
            Some(libc::SIGCHLD) => {
                children.reap();
            }
            Some(signal) => return Some(stopped_by(signal)),
            None if now_ns() >= deadline => {
                return Some("an operation did not end within two minutes".to_owned());
            }
            None => {}
        }
    }
    None
}

impl Children {
    fn fork_all(&mut self, arena: &Arena) -> Result<(), Failure> {
        // SAFETY: asking for the own id touches no memory.
        let parent = unsafe { libc::getpid() };
        for nth in 0..arena.instances.len() {
            // SAFETY: this process has one thread here, so the child may do anything.
            match unsafe { libc::fork() } {
                -1 => {
                    let error = io::Error::last_os_error();
                    return Err(Failure::io("cannot start a process", &error));
                }
                0 => child_main(arena, nth, parent),
                pid => self.pids.push(pid),
            }
        }
        Ok(())
    }

    /// Collect the processes that have ended; returns how many.
    fn reap(&mut self) -> usize {
        let before = self.pids.len();
        let failure = &mut self.failure;
        self.pids.retain(|&pid| {
            let mut status = 0;
            // SAFETY: `status` is valid for the call.
            if unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } != pid {
                return true;
            }
            if libc::WIFSIGNALED(status) {
                let signal = libc::WTERMSIG(status);
                failure.get_or_insert(format!("a process was killed by signal {signal}"));
            } else if libc::WEXITSTATUS(status) != 0 {
                failure.get_or_insert("a process failed".to_owned());
            }
            false
        });
        before - self.pids.len()
    }

    fn kill_and_reap(&mut self) {
        for pid in self.pids.drain(..) {
            // SAFETY: our own child, not yet reaped, so the id is still its.
            unsafe {
                libc::kill(pid, libc::SIGKILL);
                libc::waitpid(pid, std::ptr::null_mut(), 0);
            }
        }
    }
}

fn child_main(arena: &Arena, nth: usize, parent: libc::pid_t) -> ! {
    // SAFETY: plain system calls. A parent that died before the request is noticed by getppid.
    unsafe {
        if super::die_with_parent().is_err() || libc::getppid() != parent {
            libc::_exit(1);
        }
        let run = std::panic::AssertUnwindSafe(|| child::run(arena, nth));
        libc::_exit(std::panic::catch_unwind(run).unwrap_or(1));
    }
}

fn stopped_by(signal: i32) -> String {
    let name = match signal {
        libc::SIGINT => "SIGINT",
        libc::SIGTERM => "SIGTERM",
        _ => "SIGHUP",
    };
    format!("stopped by {name}")
}

/// As many descriptors as this user may have; the hard limit stays.
fn raise_descriptor_limit() {
    // SAFETY: zeros are a valid rlimit, and the pointers are valid for the calls.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}
