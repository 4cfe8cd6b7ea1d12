//! One program at a time works in a tree.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::failure::Failure;

/// Held until it is dropped, also by the processes of a run.
pub struct Lock {
    _directory: Option<File>,
}

/// Have a tree alone, if it is there. Fails if another program has it; where the file system has no
/// locks nothing is held.
pub fn lock(root: &Path) -> Result<Lock, Failure> {
    let Ok(directory) = File::open(root) else {
        return Ok(Lock { _directory: None });
    };
    // SAFETY: touches no memory.
    let refused = unsafe { libc::flock(directory.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0;
    if refused && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock {
        let message = format!("another fsgreen-wml works in {}", root.display());
        return Err(Failure::new(
            message,
            "wait until it has ended, or choose another --set dir",
        ));
    }
    Ok(Lock {
        _directory: (!refused).then_some(directory),
    })
}
