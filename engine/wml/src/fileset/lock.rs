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

/// Have a tree alone, if it is there. Fails if another program has it, or one that it is a part of;
/// where the file system has no locks nothing is held.
pub fn lock(root: &Path) -> Result<Lock, Failure> {
    let whole = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    for above in whole.ancestors().skip(1) {
        drop(locked(above, libc::LOCK_SH)?);
    }
    let directory = locked(root, libc::LOCK_EX)?;
    Ok(Lock {
        _directory: directory,
    })
}

/// Open and lock a directory, if it is there and has locks; fails if another program has it.
fn locked(path: &Path, how: libc::c_int) -> Result<Option<File>, Failure> {
    let Ok(directory) = File::open(path) else {
        return Ok(None);
    };
    // SAFETY: touches no memory.
    let refused = unsafe { libc::flock(directory.as_raw_fd(), how | libc::LOCK_NB) } != 0;
    if refused && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock {
        let message = format!("another fsgreen-wml works in {}", path.display());
        return Err(Failure::new(
            message,
            "wait until it has ended, or choose another --set dir",
        ));
    }
    Ok((!refused).then_some(directory))
}
