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
    /// More operations failed than may.
    Failing = 4,
}

/// What went wrong, and what to do next.
#[derive(Debug)]
pub struct Failure {
    message: String,
    next_step: Option<String>,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            next_step: None,
        }
    }

    /// The same with the next step.
    pub fn next(self, step: impl Into<String>) -> Self {
        Self {
            next_step: Some(step.into()),
            ..self
        }
    }

    /// Without the next step.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn io(what: impl fmt::Display, error: &io::Error) -> Self {
        Self::new(format!("{what}: {error}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.next_step
            .as_ref()
            .map_or(Ok(()), |step| write!(f, "\n  next:  {step}"))
    }
}

pub fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
