//! The processes of a run as their parent sees them: started, waited for, always reaped.

use std::io;
use std::sync::atomic::Ordering::Relaxed;

use super::arena::Arena;
use super::child;
use super::orphan::die_with_parent;
use crate::clock::{SECOND_NS, now_ns};
use crate::failure::Failure;
use crate::signals;

/// How long a killed process may take to be gone.
const KILL_NS: u64 = 2 * SECOND_NS;

#[derive(Default)]
pub struct Children {
    pids: Vec<libc::pid_t>,
    /// How the first process that failed did so.
    pub failure: Option<String>,
}

impl Children {
    /// Start all processes of a run.
    pub fn fork_all(&mut self, arena: &Arena) -> Result<(), Failure> {
        // SAFETY: asking for the own id touches no memory.
        let parent = unsafe { libc::getpid() };
        for nth in 0..arena.places.instances.len() {
            // SAFETY: this process has one thread here, so the child may do anything.
            match unsafe { libc::fork() } {
                -1 => {
                    let error = io::Error::last_os_error();
                    return Err(cannot_start("process", arena, nth, &error));
                }
                0 => child_main(arena, nth, parent),
                pid => self.pids.push(pid),
            }
        }
        Ok(())
    }

    pub fn all_ended(&self) -> bool {
        self.pids.is_empty()
    }

    /// Collect the processes that have ended; returns how many.
    pub fn reap(&mut self) -> usize {
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

    /// End what is left. A process that waits for a disk that does not answer stays until it does.
    pub fn kill_and_reap(&mut self) {
        for &pid in &self.pids {
            // SAFETY: our own child, not yet reaped, so the id is still its.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        let deadline_ns = now_ns() + KILL_NS;
        while !self.all_ended() && now_ns() < deadline_ns {
            signals::next(deadline_ns);
            self.reap();
        }
    }
}

/// The thread that could not be started, if there was one.
pub fn thread_failure(arena: &Arena) -> Option<Failure> {
    let mut records = arena.processes.iter().enumerate();
    records.find_map(|(nth, record)| {
        let errno = record.thread_errno.load(Relaxed);
        let error = io::Error::from_raw_os_error(errno as i32);
        (errno != 0).then(|| cannot_start("thread", arena, nth, &error))
    })
}

fn cannot_start(what: &str, arena: &Arena, nth: usize, error: &io::Error) -> Failure {
    let of = &arena.model.processes[arena.places.instances[nth].process].name;
    let of_all = if what == "thread" {
        arena.places.extent.threads
    } else {
        arena.places.instances.len()
    };
    Failure::io(
        format!("cannot start a {what} of '{of}', one of {of_all}"),
        error,
    )
    .next("allow more of them (ulimit -u, sysctl kernel.threads-max), or use fewer instances")
}

fn child_main(arena: &Arena, nth: usize, parent: libc::pid_t) -> ! {
    // SAFETY: plain system calls. A parent that died before the request is noticed by getppid.
    unsafe {
        if die_with_parent().is_err() || libc::getppid() != parent {
            libc::_exit(1);
        }
        let run = std::panic::AssertUnwindSafe(|| child::run(arena, nth));
        let whole = std::panic::catch_unwind(run).unwrap_or(false);
        libc::_exit(i32::from(!whole));
    }
}
