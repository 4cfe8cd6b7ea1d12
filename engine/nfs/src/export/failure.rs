//! Why a procedure has no results.

use std::io;

use crate::protocol::nfs3::Status;

pub enum Failure {
    /// The arguments are not what the procedure takes.
    Garbage,
    Status(Status),
}

pub type Done = Result<(), Failure>;

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Status(error.into())
    }
}

/// An argument that is there, and no longer than it may be.
pub fn given<T>(argument: Option<T>) -> Result<T, Failure> {
    argument.ok_or(Failure::Garbage)
}
