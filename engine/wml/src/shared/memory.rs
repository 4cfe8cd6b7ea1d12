//! Anonymous shared memory. It lives as long as the process; no file exists for it.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::failure::Failure;

/// Types that may stand in shared memory.
///
/// # Safety
/// All zeros must be a valid value, and every change must go through atomics.
pub unsafe trait Shared: Sync {}

// SAFETY: atomics, valid as zeros.
unsafe impl Shared for AtomicU32 {}
// SAFETY: atomics, valid as zeros.
unsafe impl Shared for AtomicU64 {}

/// A zeroed slice that child processes will share.
pub fn slice<T: Shared>(length: usize) -> Result<&'static [T], Failure> {
    const { assert!(align_of::<T>() <= 4096) };
    let bytes = length.max(1) * size_of::<T>();
    // SAFETY: a fresh anonymous mapping of the right size, zeroed and page-aligned by the kernel,
    // never unmapped; `Shared` promises that zeros are valid.
    unsafe {
        let address = libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        );
        if address == libc::MAP_FAILED {
            let what = format!("cannot share {bytes} bytes of memory");
            return Err(Failure::io(what, &io::Error::last_os_error()));
        }
        Ok(std::slice::from_raw_parts(address.cast(), length))
    }
}

/// One zeroed value that child processes will share.
pub fn one<T: Shared>() -> Result<&'static T, Failure> {
    Ok(&slice(1)?[0])
}
