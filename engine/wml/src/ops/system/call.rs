//! Calling the kernel: results, and calls that were interrupted.

use crate::failure::errno;

pub type Result<T> = std::result::Result<T, i32>;
pub type Fd = libc::c_int;

pub fn checked(mut call: impl FnMut() -> isize) -> Result<usize> {
    loop {
        let result = call();
        if result >= 0 {
            return Ok(result as usize);
        }
        match errno() {
            libc::EINTR => {}
            errno => return Err(errno),
        }
    }
}

/// The same for calls that return an int.
pub fn checked_int(mut call: impl FnMut() -> libc::c_int) -> Result<usize> {
    checked(|| call() as isize)
}

/// The same for calls without a wrapper.
pub fn checked_long(mut call: impl FnMut() -> libc::c_long) -> Result<usize> {
    checked(|| call() as isize)
}
