//! Noting when files were read last, where the file system below does not note it at each read.

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, Sender};

use fuser::INodeNo;

use crate::branch::folder::changed_ns;
use crate::mount::shared::Shared;
use crate::mount::tree::Known;
use crate::protocol::NodeId;
use crate::sys;

/// Have the file system below note that files were read when they are closed, and the kernel ask when that was.
pub fn note_reads(
    shared: &Shared,
    closed: &Receiver<(NodeId, i64)>,
    known: &Sender<(INodeNo, Known)>,
) {
    for (id, read_ns) in closed {
        let opened = shared.open_to_read(|flash| flash.path(id));
        // Nobody is left to be told that it failed.
        if opened.and_then(|file| note_read(&file, read_ns)).is_ok() {
            let _ = known.send((INodeNo(id.0), Known::Attributes));
        }
    }
}

/// Unless it was changed since, or somebody said when it was read: then it counts as not read.
fn note_read(file: &File, read_ns: i64) -> io::Result<()> {
    match changed_ns(&sys::status(file)?) < read_ns {
        true => sys::note_read(file),
        false => Ok(()),
    }
}
