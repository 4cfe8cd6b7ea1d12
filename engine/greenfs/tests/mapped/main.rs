//! Memory that programs keep of files that they have closed: they read it, and change it, without a word.

mod asked;
mod brought;
#[path = "../common/mod.rs"]
mod common;
mod shown;

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::Path;

use common::Home;

const SIZE_B: usize = 1 << 20;

/// Memory that is shared with the kernel: all of a file, which is closed at once.
struct Memory(*mut u8, usize);

impl Memory {
    fn of(path: &Path, is_changed: bool) -> Self {
        let file = OpenOptions::new().read(true).write(is_changed).open(path);
        let file = file.expect("it is there");
        let access = match is_changed {
            true => libc::PROT_READ | libc::PROT_WRITE,
            false => libc::PROT_READ,
        };
        let size_b = file.metadata().expect("it is open").len() as usize;
        let none = std::ptr::null_mut();
        // SAFETY: the kernel chooses a place where nothing is.
        let memory =
            unsafe { libc::mmap(none, size_b, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        assert_ne!(memory, libc::MAP_FAILED);
        Self(memory.cast(), size_b)
    }

    fn read(&self) -> Vec<u8> {
        // SAFETY: the memory is as large as that, and nobody changes it meanwhile.
        unsafe { std::slice::from_raw_parts(self.0, self.1) }.to_vec()
    }

    fn write(&self, at: usize, byte: u8) {
        assert!(at < self.1);
        // SAFETY: it is within the memory, which was made to be changed.
        unsafe { self.0.add(at).write(byte) };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: nothing refers to it any more.
        unsafe { libc::munmap(self.0.cast(), self.1) };
    }
}

/// Write a file, and have the remote have it.
fn write(home: &Home, name: &str, byte: u8) {
    fs::write(home.mnt(name), vec![byte; SIZE_B]).expect("it is writable");
    File::open(home.mnt(name))
        .and_then(|file| file.sync_all())
        .expect("all are there");
}
