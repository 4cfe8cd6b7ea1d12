//! The extended attribute of a file, by its path or its descriptor.

use std::ffi::CStr;

use super::call::{Fd, Result, checked, checked_int};
use super::paths::pointer;

const NAME: &CStr = c"user.fsgreen";

pub fn set_xattr(path: &[u8], value: &[u8]) -> Result<()> {
    let path = pointer(path);
    let (value, length) = (value.as_ptr().cast(), value.len());
    // SAFETY: `pointer` has seen the zero byte, and the value is valid for its length.
    checked_int(|| unsafe { libc::setxattr(path, NAME.as_ptr(), value, length, 0) }).map(drop)
}

pub fn set_xattr_of(fd: Fd, value: &[u8]) -> Result<()> {
    let (value, length) = (value.as_ptr().cast(), value.len());
    // SAFETY: the value is valid for its length.
    checked_int(|| unsafe { libc::fsetxattr(fd, NAME.as_ptr(), value, length, 0) }).map(drop)
}

pub fn get_xattr(path: &[u8], value: &mut [u8]) -> Result<usize> {
    let path = pointer(path);
    let (value, length) = (value.as_mut_ptr().cast(), value.len());
    // SAFETY: `pointer` has seen the zero byte, and the value is valid for its length.
    checked(|| unsafe { libc::getxattr(path, NAME.as_ptr(), value, length) })
}

pub fn get_xattr_of(fd: Fd, value: &mut [u8]) -> Result<usize> {
    let (value, length) = (value.as_mut_ptr().cast(), value.len());
    // SAFETY: the value is valid for its length.
    checked(|| unsafe { libc::fgetxattr(fd, NAME.as_ptr(), value, length) })
}
