//! A fileset that is a block device: one file, used raw.

use std::fs::File;
use std::io::{Seek, SeekFrom};

use super::files::Files;
use crate::failure::Failure;

/// Refuse a device that is too small, or whose contents the text does not give up: only a fileset
/// with `reuse` or `trusttree` may take it as it is. Nothing is written here; before a run writes,
/// [`crate::device::hold`] has the last word.
pub fn check(files: &Files) -> Result<(), Failure> {
    let (fileset, root) = (&files.fileset, files.layout.root());
    if !fileset.reuse && !fileset.trusttree {
        let message = format!("{root} is a block device, and its contents would be overwritten");
        return Err(Failure::new(
            message,
            "add 'reuse' to use it as it is, without a file system",
        ));
    }
    let opened = File::open(root);
    let length_b = opened.and_then(|mut device| device.seek(SeekFrom::End(0)));
    let length_b = length_b.map_err(|error| Failure::io(format!("cannot open {root}"), &error))?;
    let size_b = files.layout.preallocated_b();
    if size_b > length_b {
        let message = format!("{root} has {length_b} bytes and {size_b} are needed");
        return Err(Failure::new(
            message,
            "choose a smaller size or a larger device",
        ));
    }
    Ok(())
}
