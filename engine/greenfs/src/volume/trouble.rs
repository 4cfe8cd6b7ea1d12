//! What keeps a branch from being brought up.

use std::io;
use std::path::{Path, PathBuf};

use crate::fault::Fault;
use crate::protocol::Role;

#[derive(Debug)]
pub enum Trouble {
    Flash(io::Error),
    Branch(io::Error),
    /// The branch is not what it should be; nothing was changed.
    Refused(Fault),
    /// This file was written to whenever it was copied.
    Busy(PathBuf),
    /// The same; the branch has everything else.
    AllBut(PathBuf),
    /// A part of this file is not on flash, and no other branch gives it.
    Absent(PathBuf, io::Error),
}

impl Trouble {
    /// As a person reads it.
    pub fn fault(self, role: Role, flash: &Path, branch: &Path) -> Fault {
        match self {
            Self::Flash(error) => failed("flash failed", &error, flash),
            Self::Branch(error) if role == Role::Remote && is_full(&error) => failed(
                "the remote is full, of earlier versions in .greenfs/history too",
                &error,
                branch,
            ),
            Self::Branch(error) => failed(&format!("the {role} failed"), &error, branch),
            Self::Refused(fault) => fault,
            Self::Busy(path) => Fault::new(
                "this file changes while it is copied",
                &flash.join(path),
                "let the programs end that write it",
            ),
            Self::AllBut(path) => Fault::new(
                format!("the {role} has all but this file, which changes while it is copied"),
                &flash.join(path),
                "let the programs end that write it, or make room on flash",
            ),
            Self::Absent(path, error) => Fault::new(
                format!(
                    "only a part of this file is on flash, and no other branch gives it: {error}"
                ),
                &flash.join(path),
                "name the branch that has it, and see that it is mounted",
            ),
        }
    }
}

/// An error of a branch or of flash as a person reads it.
pub(super) fn failed(what: &str, error: &io::Error, place: &Path) -> Fault {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    let next = match error.kind() {
        _ if is_full(error) => "make room there, then begin again",
        PermissionDenied | ReadOnlyFilesystem => "see who may read and write there",
        _ => "see that it is mounted and answers, then begin again",
    };
    Fault::new(format!("{what}: {error}"), place, next)
}

pub(super) fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded)
}
