//! Files that programs have closed, and whose memory some may still share with the kernel.

use std::io;
use std::thread;
use std::time::Duration;

use crate::mount::shared::Shared;

/// Of so many files the kernel is asked while everybody else waits.
const AT_ONCE: usize = 256;

/// Then others have flash for so long.
pub const TURN: Duration = Duration::from_micros(100);

/// How often it is looked whether somebody still has memory of a file that was closed.
pub const LOOK: Duration = Duration::from_secs(10);

/// Files that no memory can change any more are like all others from now on; what changed of them after
/// they were brought is brought once more. Returns whether anything is.
pub fn let_go(shared: &Shared) -> io::Result<bool> {
    let ids = shared.flash().closed();
    let mut is_more = false;
    for some in ids.chunks(AT_ONCE) {
        is_more |= shared.flash().end_mappings(some)?;
        if some.len() == AT_ONCE {
            thread::sleep(TURN);
        }
    }
    Ok(is_more)
}

/// Nobody has a file open any more, whatever the kernel came to say. What memory may still change stays
/// one that counts as changed when the volume is opened.
pub fn end(shared: &Shared) -> io::Result<()> {
    shared.flash().close_all()?;
    let_go(shared).map(drop)
}
