//! What the kernel is answered, when something was found or done, or not.

use std::io;
use std::time::Duration;

use fuser::{Errno, FileAttr, Generation, ReplyAttr, ReplyEmpty, ReplyEntry};

/// Names change here alone, and the kernel sees it. Attributes also change as files are written to.
const NAMES_LAST: Duration = Duration::from_secs(3600);
pub const ATTRIBUTES_LAST: Duration = Duration::from_secs(1);

pub fn errno(error: &io::Error) -> Errno {
    Errno::from_i32(error.raw_os_error().unwrap_or(libc::EIO))
}

pub fn entry(reply: ReplyEntry, result: &io::Result<FileAttr>) {
    match result {
        Ok(found) => {
            reply.entry_with_ttls(&ATTRIBUTES_LAST, &NAMES_LAST, found, Generation(0));
        }
        Err(error) => reply.error(errno(error)),
    }
}

pub fn attributes(reply: ReplyAttr, result: &io::Result<FileAttr>) {
    match result {
        Ok(found) => reply.attr(&ATTRIBUTES_LAST, found),
        Err(error) => reply.error(errno(error)),
    }
}

pub fn empty(reply: ReplyEmpty, result: &io::Result<()>) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(errno(error)),
    }
}
