//! Errors that end a command, with the exit status that they mean.

use std::fmt;
use std::io;

/// Exit status of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Ok = 0,
    /// Something outside the text: a directory, the disk, an option of the command line.
    Failed = 1,
    /// The text or the command line is wrong.
    Text = 2,
    /// The run ended early; its results are marked partial.
    Partial = 3,
    /// More operations failed than may, or a run did nothing.
    Failing = 4,
}

/// What went wrong, and what to do next.
#[derive(Debug)]
pub struct Failure {
    message: String,
    next_step: String,
}

impl Failure {
    pub fn new(message: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            next_step: next_step.into(),
        }
    }

    /// The same with another next step.
    pub fn next(self, next_step: impl Into<String>) -> Self {
        Self {
            next_step: next_step.into(),
            ..self
        }
    }

    /// Without the next step.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the system refused, with what usually mends it; `next` replaces that.
    pub fn io(what: impl fmt::Display, error: &io::Error) -> Self {
        Self::new(format!("{what}: {error}"), mends(error.kind()))
    }
}

fn mends(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "see whether the path is right, and what is there (ls)",
        io::ErrorKind::AlreadyExists => "move away what is there, or choose another path",
        io::ErrorKind::IsADirectory => "name a file",
        io::ErrorKind::NotADirectory => "see which part of the path is a file (ls)",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "run it as a user who may do that, or choose a path where you may"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room (df -h), or choose a smaller scale or a larger file system"
        }
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => {
            "use fewer threads or smaller buffers, or allow more (ulimit -a, free -h)"
        }
        _ => "see whether the device failed (dmesg)",
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  next:  {}", self.message, self.next_step)
    }
}

pub fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_refuses_says_what_to_do_next() {
        for number in [
            libc::ENOENT,
            libc::EACCES,
            libc::ENOSPC,
            libc::EIO,
            libc::EAGAIN,
        ] {
            let failure = Failure::io("cannot", &io::Error::from_raw_os_error(number));
            assert!(failure.to_string().contains("\n  next:  "), "{failure}");
        }
        let failure = Failure::io("cannot", &io::Error::from_raw_os_error(libc::EIO)).next("wait");
        assert!(failure.to_string().ends_with("\n  next:  wait"));
    }
}
