//! Errors as the kernel numbers them.

use std::io;

use fuser::Errno;

pub fn error(code: i32) -> io::Error {
    io::Error::from_raw_os_error(code)
}

/// Nothing has this name or number.
pub fn gone() -> io::Error {
    error(libc::ENOENT)
}

pub fn errno(error: &io::Error) -> Errno {
    Errno::from_i32(error.raw_os_error().unwrap_or(libc::EIO))
}
