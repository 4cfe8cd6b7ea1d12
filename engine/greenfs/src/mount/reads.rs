//! Noting when files were read last, where the kernel does not note it at each read.

use std::sync::mpsc::{Receiver, Sender};

use fuser::INodeNo;

use crate::mount::shared::Shared;
use crate::mount::tree::Known;
use crate::protocol::NodeId;
use crate::sys;

/// Have the file system below note that files were read when they are closed, and the kernel ask for that.
pub fn note_reads(shared: &Shared, closed: &Receiver<NodeId>, known: &Sender<(INodeNo, Known)>) {
    for id in closed {
        let opened = shared.open_to_read(|flash| flash.path(id));
        // Nobody is left to be told that it failed.
        if opened.and_then(|file| sys::note_read(&file)).is_ok() {
            let _ = known.send((INodeNo(id.0), Known::Attributes));
        }
    }
}
