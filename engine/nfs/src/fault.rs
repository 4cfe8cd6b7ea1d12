//! What went wrong.

use std::fmt;
use std::io;

/// What is wrong, where, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub what: String,
    pub place: String,
    pub next: String,
}

impl Fault {
    pub fn new(what: impl fmt::Display, place: impl fmt::Display, next: impl fmt::Display) -> Self {
        let [what, place, next] = [what.to_string(), place.to_string(), next.to_string()];
        Self { what, place, next }
    }

    /// What the system said of something.
    pub fn of(place: impl fmt::Display, error: &io::Error, next: impl fmt::Display) -> Self {
        Self::new(error, place, next)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, place, next } = self;
        write!(f, "{what}\n  where: {place}\n  next:  {next}")
    }
}

impl std::error::Error for Fault {}
