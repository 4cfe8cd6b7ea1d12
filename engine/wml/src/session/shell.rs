//! Commands of `system`.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::clock::{SECOND_NS, now_ns};
use crate::failure::Failure;
use crate::run::{Halt, die_with_parent};
use crate::signals::{self, Event};

/// How long a command has to end after SIGTERM.
const GRACE_NS: u64 = 2 * SECOND_NS;

/// Run a command to its end; says how it ended, if not well. What it prints goes to the standard
/// error, so that the standard output holds results only.
pub fn run(command: &str) -> Result<Option<String>, Halt> {
    let mut child = start(command).map_err(|error| Failure::io("cannot start sh", &error))?;
    match wait(&mut child, u64::MAX) {
        Ok(status) => Ok(status.and_then(how_it_failed)),
        Err(signal) => {
            end(&mut child);
            Err(Halt::by_signal(signal))
        }
    }
}

fn start(command: &str) -> io::Result<Child> {
    let output = io::stderr().as_fd().try_clone_to_owned()?;
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(output)
        .process_group(0);
    let prepare = || {
        signals::unblock();
        die_with_parent().map_err(|_| io::Error::last_os_error())
    };
    // SAFETY: nothing but system calls on the way that succeeds.
    unsafe { shell.pre_exec(prepare) };
    shell.spawn()
}

/// Wait for the end or the deadline; a signal that asks for the end is an error.
fn wait(child: &mut Child, deadline_ns: u64) -> Result<Option<ExitStatus>, &'static str> {
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Ok(Some(status));
        }
        match signals::next(deadline_ns) {
            Event::Stop(name) => return Err(name),
            Event::Deadline if now_ns() >= deadline_ns => return Ok(None),
            Event::Child | Event::Deadline => {}
        }
    }
}

/// End a command and all that it has started.
fn end(child: &mut Child) {
    let group = -(child.id() as libc::pid_t);
    // SAFETY: our own child, not yet waited for, leads this group.
    unsafe { libc::kill(group, libc::SIGTERM) };
    let _ = wait(child, now_ns() + GRACE_NS);
    // SAFETY: the group's number is not given anew as long as one of it lives.
    unsafe { libc::kill(group, libc::SIGKILL) };
    let _ = child.wait();
}

fn how_it_failed(status: ExitStatus) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("ended with status {code}")),
        (None, signal) => Some(format!("was ended by signal {}", signal.unwrap_or(0))),
    }
}
