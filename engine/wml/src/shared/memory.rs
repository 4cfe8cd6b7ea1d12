//! Anonymous shared memory; no file exists for it, and it ends with the last of its processes.

use std::io;
use std::ops::Deref;
use std::ptr::NonNull;
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

/// A slice that child processes will share. A process gives its part back when it drops this.
pub struct Mapping<T: Shared> {
    first: NonNull<T>,
    length: usize,
}

// SAFETY: it owns its memory, and what stands there may be reached from any thread.
unsafe impl<T: Shared> Send for Mapping<T> {}
// SAFETY: as above.
unsafe impl<T: Shared> Sync for Mapping<T> {}

impl<T: Shared> Mapping<T> {
    /// A zeroed slice; memory is used only where it is touched.
    pub fn new(length: usize) -> Result<Self, Failure> {
        const { assert!(align_of::<T>() <= 4096 && size_of::<T>() > 0) };
        let bytes = length.max(1).saturating_mul(size_of::<T>());
        // SAFETY: asks for fresh memory only.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        match NonNull::new(address.cast()) {
            Some(first) if address != libc::MAP_FAILED => Ok(Self { first, length }),
            _ => {
                let what = format!("cannot share {bytes} bytes of memory");
                Err(Failure::io(what, &io::Error::last_os_error()))
            }
        }
    }

    /// The slice for the rest of the process's life.
    pub fn leak(self) -> &'static [T] {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: as in `deref`, and never unmapped from now on.
        unsafe { std::slice::from_raw_parts(this.first.as_ptr(), this.length) }
    }
}

impl<T: Shared> Deref for Mapping<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: mapped with that length, page-aligned, and `Shared` promises that its zeros are
        // valid values.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.length) }
    }
}

impl<T: Shared> Drop for Mapping<T> {
    fn drop(&mut self) {
        let bytes = self.length.max(1) * size_of::<T>();
        // SAFETY: mapped with that length; nobody borrows it any more.
        unsafe { libc::munmap(self.first.as_ptr().cast(), bytes) };
    }
}

/// A zeroed slice that child processes will share.
pub fn slice<T: Shared>(length: usize) -> Result<&'static [T], Failure> {
    Mapping::new(length).map(Mapping::leak)
}

/// One zeroed value that child processes will share.
pub fn one<T: Shared>() -> Result<&'static T, Failure> {
    Ok(&slice(1)?[0])
}
