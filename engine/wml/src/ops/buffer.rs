//! Page-aligned memory, as direct I/O needs it.

use std::io;
use std::ptr;

use crate::failure::Failure;
use crate::model::{Class, Operation, Thread};

pub const PAGE_B: usize = 4096;
const TOUCHED_B: usize = 256 * 1024;
/// Bytes that are stored in a row without a look at how many are left.
const ROW: usize = 64;

pub struct Buffer {
    start: *mut u8,
    length: usize,
}

// SAFETY: the buffer owns its memory and has no interior mutability.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// A buffer of at least one byte. What most transfers use of it is touched, so that their page
    /// faults fall into no measured operation; the rest takes memory when it is used.
    pub fn zeroed(length: usize) -> Result<Self, Failure> {
        let length = length.max(1);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, which nothing else knows of.
        let start = unsafe { libc::mmap(ptr::null_mut(), length, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            let what = format!("no memory for a buffer of {length} bytes");
            return Err(Failure::io(what, &io::Error::last_os_error())
                .next("choose a smaller iosize or memsize, or fewer requests in flight"));
        }
        let mut buffer = Self {
            start: start.cast(),
            length,
        };
        let touched_b = length.min(TOUCHED_B);
        for page in buffer.bytes_mut()[..touched_b].chunks_mut(PAGE_B) {
            // SAFETY: a valid byte; volatile, so that the store happens.
            unsafe { ptr::write_volatile(&raw mut page[0], 1) };
        }
        Ok(buffer)
    }

    pub fn start(&self) -> *mut u8 {
        self.start
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is that long and initialised.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is that long, initialised, and ours.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }

    /// Store so many single bytes, from the first on and over and over, into as many as the largest
    /// power of two that fits.
    pub fn store_bytes(&mut self, count: usize) {
        let mask = (1usize << self.length.ilog2()) - 1;
        let store = |at: usize, value: usize| {
            // SAFETY: the offset is masked to the buffer; volatile, so that the store happens.
            unsafe { self.start.add(at).write_volatile(value as u8) };
        };
        let rows = if mask < ROW { 0 } else { count / ROW };
        for row in 0..rows {
            let first = (row * ROW) & mask;
            (0..ROW).for_each(|nth| store(first + nth, nth));
        }
        (rows * ROW..count).for_each(|at| store(at & mask, at % ROW));
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the whole of the mapping, which nothing refers to any more.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}

/// As much as the largest transfer of a thread into its own memory needs, and its `memsize` if
/// that is more.
pub fn buffer_size(thread: &Thread) -> usize {
    const WHOLE_FILE_B: f64 = 1048576.0;
    /// Longer reads take several calls.
    const LARGEST_B: f64 = 256.0 * 1048576.0;
    /// What readdir of the C library asks for.
    const DIRECTORY_B: f64 = 32768.0;
    let needs = thread.flowops.iter().map(|flowop| {
        let iosize = flowop.iosize.usual_maximum();
        match flowop.operation {
            Operation::ListDir | Operation::ListStatDir => DIRECTORY_B,
            Operation::SetXattr | Operation::GetXattr => iosize,
            operation if operation.class() != Class::Reads => 0.0,
            _ if iosize == 0.0 => WHOLE_FILE_B,
            _ => iosize,
        }
    });
    let largest = needs.fold(PAGE_B as f64, f64::max);
    (largest.min(LARGEST_B) as usize).max(thread.memsize as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_stored_up_to_the_count_and_none_behind_it_or_the_power_of_two() {
        const OLD: u8 = 0xff;
        for length in [1, 48, 4096, 5000, 8192] {
            let reached = 1 << usize::ilog2(length);
            for count in [0, 1, 47, 63, 64, 65, 4095, 4096, 4097, 100_000] {
                let mut buffer = Buffer::zeroed(length).expect("memory for it");
                buffer.bytes_mut().fill(OLD);
                buffer.store_bytes(count);
                let stored: Vec<usize> = (0..length)
                    .filter(|&at| buffer.bytes()[at] != OLD)
                    .collect();
                let expected: Vec<usize> = (0..count.min(reached)).collect();
                assert_eq!(stored, expected, "{count} in {length}");
            }
        }
    }
}
