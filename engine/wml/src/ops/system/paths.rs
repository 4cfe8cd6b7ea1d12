//! Calls that name their file. All paths end in a zero byte.

use super::call::{Result, checked_int};

/// The path as C takes it.
pub fn pointer(path: &[u8]) -> *const libc::c_char {
    assert_eq!(path.last(), Some(&0), "a path must end in a zero byte");
    path.as_ptr().cast()
}

pub fn stat(path: &[u8]) -> Result<()> {
    let path = pointer(path);
    // SAFETY: zeros are a valid stat, and `pointer` has seen the zero byte.
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        checked_int(|| libc::stat(path, &raw mut found)).map(drop)
    }
}

pub fn unlink(path: &[u8]) -> Result<()> {
    let path = pointer(path);
    // SAFETY: `pointer` has seen the zero byte.
    checked_int(|| unsafe { libc::unlink(path) }).map(drop)
}

pub fn rename(path: &[u8], new: &[u8]) -> Result<()> {
    let (path, new) = (pointer(path), pointer(new));
    // SAFETY: `pointer` has seen the zero bytes.
    checked_int(|| unsafe { libc::rename(path, new) }).map(drop)
}

pub fn link(path: &[u8], new: &[u8]) -> Result<()> {
    let (path, new) = (pointer(path), pointer(new));
    // SAFETY: `pointer` has seen the zero bytes.
    checked_int(|| unsafe { libc::link(path, new) }).map(drop)
}

pub fn symlink(path: &[u8], new: &[u8]) -> Result<()> {
    let (path, new) = (pointer(path), pointer(new));
    // SAFETY: `pointer` has seen the zero bytes.
    checked_int(|| unsafe { libc::symlink(path, new) }).map(drop)
}

pub fn truncate(path: &[u8], length: u64) -> Result<()> {
    let path = pointer(path);
    // SAFETY: `pointer` has seen the zero byte.
    checked_int(|| unsafe { libc::truncate(path, length as libc::off_t) }).map(drop)
}

pub fn chmod(path: &[u8], mode: libc::mode_t) -> Result<()> {
    let path = pointer(path);
    // SAFETY: `pointer` has seen the zero byte.
    checked_int(|| unsafe { libc::chmod(path, mode) }).map(drop)
}

pub fn make_directory(path: &[u8]) -> Result<()> {
    let path = pointer(path);
    // SAFETY: `pointer` has seen the zero byte.
    checked_int(|| unsafe { libc::mkdir(path, 0o755) }).map(drop)
}

pub fn remove_directory(path: &[u8]) -> Result<()> {
    let path = pointer(path);
    // SAFETY: `pointer` has seen the zero byte.
    checked_int(|| unsafe { libc::rmdir(path) }).map(drop)
}
