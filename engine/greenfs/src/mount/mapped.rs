//! Files that programs have closed, and whose memory some may still share with the kernel.

use std::io;
use std::time::Duration;

use crate::branch::folder::Folder;
use crate::volume::Flash;

/// How often it is looked whether somebody still has memory of a file that was closed.
pub const LOOK: Duration = Duration::from_secs(10);

/// Files that no memory can change any more are like all others from now on; what changed of them after
/// they were brought is brought once more. Returns whether anything is.
pub fn let_go(flash: &mut Flash<Folder>) -> io::Result<bool> {
    let before = flash.state().seq;
    for id in flash.closed() {
        // One that has no name any more is nobody's.
        let path = flash.path(id).ok();
        if !path.is_some_and(|path| flash.store().may_be_written(&path)) {
            flash.end_mapping(id)?;
        }
    }
    Ok(flash.state().seq != before)
}

/// Find the files of which somebody has memory since an earlier mount, which was killed or taken away.
pub fn begin(flash: &mut Flash<Folder>) -> io::Result<()> {
    for id in flash.untold() {
        let path = flash.path(id).ok();
        if path.is_some_and(|path| flash.store().may_be_written(&path)) {
            flash.keep_sharing(id)?;
        }
    }
    Ok(())
}

/// Nobody has a file open any more, whatever the kernel came to say. What memory may still change stays
/// one that counts as changed when the volume is opened.
pub fn end(flash: &mut Flash<Folder>) -> io::Result<()> {
    flash.close_all()?;
    let_go(flash).map(drop)
}
