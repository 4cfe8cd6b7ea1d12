//! A branch: plain files in a folder, and beside them, in `.greenfs`, what it holds of a volume.

pub mod carry;
pub mod folder;
pub mod history;
pub mod identity;
pub mod kept;
pub mod past;
pub mod stage;
pub mod store;
pub mod walk;

use std::path::{Path, PathBuf};

/// The folder of our own in the root of every branch.
pub const OWN: &str = ".greenfs";

/// A file or folder of our own.
pub fn own(name: impl AsRef<Path>) -> PathBuf {
    Path::new(OWN).join(name)
}
