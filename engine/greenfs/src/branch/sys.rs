//! What the kernel offers and Rust's library does not: the only unsafe code of the crate.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// Open a folder below another one, through no symbolic link.
pub fn open_below(root: &impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    let path = c_path(if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    })?;
    // SAFETY: zeros are a valid `open_how`.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = (libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC) as u64;
    how.resolve = libc::RESOLVE_BENEATH | libc::RESOLVE_NO_SYMLINKS;
    let root = root.as_fd().as_raw_fd();
    // SAFETY: descriptor, path and structure are valid, and the size is that of the structure.
    let opened = unsafe {
        libc::syscall(
            libc::SYS_openat2,
            root,
            path.as_ptr(),
            &raw const how,
            size_of::<libc::open_how>(),
        )
    };
    if opened < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given this descriptor, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(opened as RawFd) })
}

/// Make all of a file system durable.
pub fn sync_file_system(folder: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    match unsafe { libc::syncfs(folder.as_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Set when a file was changed, in nanoseconds since 1970; not through a symbolic link.
pub fn set_modified(path: &Path, modified_ns: i64) -> io::Result<()> {
    let path = c_path(path)?;
    let keep = libc::timespec {
        tv_sec: 0,
        tv_nsec: libc::UTIME_OMIT,
    };
    let time = libc::timespec {
        tv_sec: modified_ns.div_euclid(1_000_000_000),
        tv_nsec: modified_ns.rem_euclid(1_000_000_000),
    };
    let times = [keep, time];
    let flags = libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: the path is a valid string, and there are two times.
    match unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Take the lock of an open file for this process, or fail if another one has it.
pub fn lock(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
