//! A request, from when the kernel asks until it is answered.

use std::sync::Arc;

use crate::device::{Action, Extent, SECTOR_B};
use crate::host::Request;
use crate::time::Ns;

/// Takes the data of a read, nothing of other requests, or an errno.
pub type Answer = Box<dyn FnOnce(Result<&[u8], i32>) + Send>;

/// A request as it comes from the kernel. `data` is what a write brings.
pub struct Asked<'a> {
    pub action: Action,
    pub extent: Extent,
    pub stream: u32,
    pub data: &'a [u8],
}

impl Asked<'_> {
    /// Memory that it needs until it is answered.
    pub fn size_b(&self) -> usize {
        size_b(self.action, self.extent)
    }
}

pub(super) fn size_b(action: Action, extent: Extent) -> usize {
    match action {
        Action::Read | Action::Write => (extent.sectors * SECTOR_B) as usize,
        Action::Flush | Action::Discard => 0,
    }
}

/// What is known of the data of a request.
pub(super) enum Data {
    /// There are none, or those of a read are taken when it is answered.
    None,
    Write(Arc<[u8]>),
    /// Of a read, taken beforehand; they hold as long as nothing there is written.
    Ahead(Vec<u8>),
    /// Something there was written before they were taken.
    Stale,
}

pub(super) struct Pending {
    pub request: Request,
    pub sent: Ns,
    pub data: Data,
    pub answer: Answer,
}

/// A request whose answer is due.
pub struct Due {
    pub request: Request,
    pub sent: Ns,
    pub planned: Ns,
    /// The data of a read, or an errno.
    pub result: Result<Vec<u8>, i32>,
    pub answer: Answer,
}

impl Due {
    /// Bytes that the answer moves.
    pub fn moved_b(&self) -> usize {
        self.result.as_ref().map_or(0, Vec::len)
    }
}
