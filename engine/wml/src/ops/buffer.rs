//! Page-aligned memory, as direct I/O needs it.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

use crate::model::{Class, Operation, Thread};

pub const PAGE_B: usize = 4096;

pub struct Buffer {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: the buffer owns its memory and has no interior mutability.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// A buffer of at least one byte, every page of it touched.
    pub fn zeroed(length: usize) -> Self {
        let layout = Layout::from_size_align(length.max(1), PAGE_B).expect("a sane size");
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        let mut buffer = Self { start, layout };
        for page in buffer.bytes_mut().chunks_mut(PAGE_B) {
            // SAFETY: a valid byte; volatile, so that the store happens.
            unsafe { std::ptr::write_volatile(&raw mut page[0], 1) };
        }
        buffer
    }

    pub fn start(&self) -> *mut u8 {
        self.start
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation is that long and initialised.
        unsafe { std::slice::from_raw_parts(self.start, self.layout.size()) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the allocation is that long, initialised, and ours.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.layout.size()) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start, self.layout) };
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
