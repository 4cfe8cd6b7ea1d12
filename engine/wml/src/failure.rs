//! Errors that end a command, with the exit status that they mean.

use std::fmt;
use std::io;

/// Exit status of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Ok = 0,
    /// Something outside the text: a directory, the disk, an option of the command line.
    Failed = 1,
    /// The text does not parse or does not pass the checks.
    Text = 2,
    /// The run ended early; its results are marked partial.
    Partial = 3,
}

#[derive(Debug)]
pub struct Failure {
    pub message: String,
    pub exit: Exit,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit: Exit::Failed }
    }

    pub fn io(what: impl fmt::Display, error: &io::Error) -> Self {
        Self::new(format!("{what}: {error}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

pub fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
