//! What went wrong, where, and what to do next.

use std::fmt;
use std::path::Path;

use crate::text;

/// An error as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub what: String,
    /// A file or folder, or the command line.
    pub place: String,
    pub next: String,
}

impl Fault {
    pub fn new(what: impl Into<String>, place: &Path, next: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            place: text::shown(place),
            next: next.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, place, next } = self;
        write!(f, "{what}\n  where: {place}\n  next:  {next}")
    }
}

impl std::error::Error for Fault {}
