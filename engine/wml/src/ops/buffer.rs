//! Page-aligned memory, as direct I/O needs it.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

const ALIGNMENT: usize = 4096;

pub struct Buffer {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: the buffer owns its memory and has no interior mutability.
unsafe impl Send for Buffer {}

impl Buffer {
    /// A buffer of at least one byte, every page of it touched.
    pub fn zeroed(length: usize) -> Self {
        let layout = Layout::from_size_align(length.max(1), ALIGNMENT).expect("a sane size");
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        let mut buffer = Self { start, layout };
        for page in buffer.bytes_mut().chunks_mut(ALIGNMENT) {
            // SAFETY: a valid byte; volatile, so that the store happens.
            unsafe { std::ptr::write_volatile(&raw mut page[0], 1) };
        }
        buffer
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the allocation is that long, initialised, and ours.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.layout.size()) }
    }

    /// Give the memory to the rest of the process's life.
    pub fn leak(self) -> &'static mut [u8] {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: never freed from now on.
        unsafe { std::slice::from_raw_parts_mut(this.start, this.layout.size()) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start, self.layout) };
    }
}
