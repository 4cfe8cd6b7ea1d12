//! A branch: plain files in a folder, and beside them, in `.greenfs`, what it holds of a volume.

mod at_once;
pub mod carry;
pub mod folder;
mod folders;
pub mod history;
pub mod identity;
pub mod kept;
pub mod past;
pub mod sparse;
pub mod stage;
pub mod store;
pub mod walk;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The folder of our own in the root of every branch.
pub const OWN: &str = ".greenfs";

/// What is being restored has a name that begins so until it is whole; it has no versions.
pub const RESTORING: &str = ".greenfs-restore-";

/// Whether a path is of something that is being restored.
pub fn is_being_restored(path: &Path) -> bool {
    let is_so = |name: &OsStr| name.as_encoded_bytes().starts_with(RESTORING.as_bytes());
    path.iter().any(is_so)
}

/// A file or folder of our own.
pub fn own(name: impl AsRef<Path>) -> PathBuf {
    Path::new(OWN).join(name)
}
