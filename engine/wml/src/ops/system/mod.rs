//! System calls on files, with the errno as error. Interrupted calls are repeated.
//!
//! The most frequent are made without their wrappers in the C library, which let another thread
//! cancel this one and so add two atomic operations to each call.

mod call;
mod directory;
mod files;
mod paths;
mod xattr;

pub use call::{Fd, Result};
pub use directory::{entry_names, read_directory, stat_at};
pub use files::{
    advise_random, allocate, append, close, copy_range, fdatasync, fsync, open, read, read_at,
    resize, rewind, size_of_file, write, write_at,
};
pub use paths::{
    chmod, link, make_directory, remove_directory, rename, stat, symlink, truncate, unlink,
};
pub use xattr::{get_xattr, get_xattr_of, set_xattr, set_xattr_of};

/// End the sleeps of this thread on time rather than up to 50 microseconds late.
pub fn wake_on_time() {
    // SAFETY: touches no memory of ours. A refusal leaves the sleeps a little longer.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}
