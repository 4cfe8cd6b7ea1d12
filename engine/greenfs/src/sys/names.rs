//! What the kernel does with names: in a folder that is open, so that no link can lead elsewhere, and by paths.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use crate::sys::calls::{c_path, checked};

/// The kernel takes no longer paths at once. Bytes.
const PATH_MOST_B: usize = 4000;

/// Open a folder below another one, through no symbolic link.
pub fn open_below(root: &impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    let mut pieces = vec![PathBuf::new()];
    for part in path {
        let last = pieces
            .last_mut()
            .filter(|piece| piece.as_os_str().len() + 1 + part.len() <= PATH_MOST_B);
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
    owned(opened as RawFd)
}

/// The descriptor that the kernel has just given.
fn owned(opened: RawFd) -> io::Result<OwnedFd> {
    if opened < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given this descriptor, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(opened) })
}

/// Open what a name in an open folder stands for, not through a symbolic link, as openat(2).
pub fn open_at(folder: &impl AsFd, name: &OsStr, flags: i32, mode: u32) -> io::Result<File> {
    let (folder, name) = (folder.as_fd().as_raw_fd(), c_path(Path::new(name))?);
    let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: the descriptor is open, and the name is a valid string.
    owned(unsafe { libc::openat(folder, name.as_ptr(), flags, mode) }).map(File::from)
}

/// What a name in an open folder stands for, to look at and to open by /proc/self/fd.
pub fn open_name(folder: &impl AsFd, name: &OsStr) -> io::Result<File> {
    open_at(folder, name, libc::O_PATH, 0)
}

/// Look at what a name in an open folder stands for, not through a symbolic link.
pub fn look_at(folder: &impl AsFd, name: &OsStr) -> io::Result<libc::stat64> {
    status_at(folder, &c_path(Path::new(name))?, libc::AT_SYMLINK_NOFOLLOW)
}

/// Look at what is open.
pub fn status(node: &impl AsFd) -> io::Result<libc::stat64> {
    status_at(node, c"", libc::AT_EMPTY_PATH)
}

fn status_at(folder: &impl AsFd, name: &CStr, flags: i32) -> io::Result<libc::stat64> {
    // SAFETY: zeros are a valid structure, which the call fills in.
    let mut found: libc::stat64 = unsafe { std::mem::zeroed() };
    let folder = folder.as_fd().as_raw_fd();
    // SAFETY: the descriptor is open; the name is a valid string, and the structure is valid for the call.
    checked(unsafe { libc::fstatat64(folder, name.as_ptr(), &raw mut found, flags) })?;
    Ok(found)
}

/// Rename what a path stands for to where nothing is.
pub fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (c_path(from)?, c_path(to)?);
    let (here, flags) = (libc::AT_FDCWD, libc::RENAME_NOREPLACE);
    // SAFETY: both paths are valid strings.
    checked(unsafe { libc::renameat2(here, from.as_ptr(), here, to.as_ptr(), flags) })
}

/// Make a device, a socket or a pipe.
pub fn make_node(path: &Path, mode: u32, device: u64) -> io::Result<()> {
    let path = c_path(path)?;
    // SAFETY: the path is a valid string.
    checked(unsafe { libc::mknod(path.as_ptr(), mode, device) })
}

/// Give a node that is open one more name.
pub fn link_node(node: &File, to: &Path) -> io::Result<()> {
    let from = c_path(&PathBuf::from(format!(
        "/proc/self/fd/{}",
        node.as_raw_fd()
    )))?;
    let to = c_path(to)?;
    let (here, flags) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both paths are valid strings.
    checked(unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), flags) })
}
