//! Files that are mapped into memory.

use std::ops::Range;

use super::sigbus;
use super::system::{self, Fd};
use crate::failure::errno;

/// The errno of an access that found no file behind the mapping.
pub const LOST: i32 = libc::EFAULT;

/// A shared mapping of a file as long as it was then.
pub struct View {
    start: *mut u8,
    pub length: usize,
    is_writable: bool,
}

// SAFETY: the view owns its mapping and has no state of a thread.
unsafe impl Send for View {}

impl View {
    pub fn new(fd: Fd, is_writable: bool) -> system::Result<Self> {
        let length = system::size_of_file(fd)? as usize;
        let writes = if is_writable { libc::PROT_WRITE } else { 0 };
        // SAFETY: a fresh mapping touches no memory that exists.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | writes,
                libc::MAP_SHARED,
                fd,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(errno());
        }
        Ok(Self {
            start: start.cast(),
            length,
            is_writable,
        })
    }

    /// Copy a part of the file into the buffer, piece after piece.
    pub fn read(&self, part: Range<usize>, buffer: &mut [u8]) -> system::Result<u64> {
        let (to, step) = (buffer.as_mut_ptr(), buffer.len());
        self.access(part, step, |from, length| {
            // SAFETY: both are valid for that length, and nobody looks at bytes that race with
            // the writes of others.
            unsafe { std::ptr::copy_nonoverlapping(from, to, length) };
        })
    }

    /// Copy the data, over and over, into a part of the file.
    pub fn write(&self, part: Range<usize>, data: &[u8]) -> system::Result<u64> {
        if !self.is_writable {
            return Err(libc::EACCES);
        }
        self.access(part, data.len(), |to, length| {
            // SAFETY: both are valid for that length; the file may change at any time anyhow.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, length) };
        })
    }

    fn access(
        &self,
        part: Range<usize>,
        step: usize,
        copy: impl Fn(*mut u8, usize),
    ) -> system::Result<u64> {
        assert!(part.start <= part.end && part.end <= self.length);
        let bytes = part.len() as u64;
        let whole = sigbus::guarded(self.start, self.length, || {
            for from in part.clone().step_by(step.max(1)) {
                // SAFETY: within the mapping, as asserted above.
                copy(unsafe { self.start.add(from) }, step.min(part.end - from));
            }
        });
        if whole { Ok(bytes) } else { Err(LOST) }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nobody uses any more.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}
