//! What the kernel offers and Rust's library does not: the only unsafe code of the crate.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// The kernel takes no longer paths at once. Bytes.
const PATH_MOST_B: usize = 4000;

/// Open a folder below another one, through no symbolic link.
pub fn open_below(root: &impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    let mut pieces = vec![PathBuf::new()];
    for part in path {
        let last = pieces.last_mut().filter(|piece| {
            piece.as_os_str().len() + 1 + part.len() <= PATH_MOST_B
        });
        match last {
            Some(piece) => piece.push(part),
            None => pieces.push(part.into()),
        }
    }
    let mut pieces = pieces.iter();
    let first = pieces.next().map_or(Path::new(""), PathBuf::as_path);
    let mut folder = open_piece(root, first)?;
    for piece in pieces {
        folder = open_piece(&folder, piece)?;
    }
    Ok(folder)
}

fn open_piece(root: &impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    let path = c_path(match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
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
    checked(unsafe { libc::syncfs(folder.as_raw_fd()) })
}

fn checked(result: libc::c_int) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Make a device, a socket or a pipe.
pub fn make_node(path: &Path, mode: u32, device: u64) -> io::Result<()> {
    let path = c_path(path)?;
    // SAFETY: the path is a valid string.
    checked(unsafe { libc::mknod(path.as_ptr(), mode, device) })
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
    checked(unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), flags) })
}

/// Take the lock of an open file for this process, or fail if another one has it.
pub fn lock(file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open.
    checked(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) })
}
