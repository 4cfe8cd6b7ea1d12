//! Which files programs used last, and which pieces of those that are not whole.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use crate::cache::Recent;
use crate::cache::part::PIECE_B;
use crate::protocol::NodeId;

#[derive(Default)]
struct Table {
    files: Recent<NodeId>,
    pieces: HashMap<NodeId, Recent<u64>>,
}

#[derive(Default)]
pub struct Uses(Mutex<Table>);

impl Uses {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().expect("a panic ends this process")
    }

    /// Files that were used before, in this order.
    pub fn add_older(&self, ids: impl Iterator<Item = NodeId>) {
        let mut table = self.table();
        let newer: Vec<NodeId> = table.files.oldest().collect();
        ids.chain(newer).for_each(|id| table.files.use_now(id));
    }

    /// A file is opened.
    pub fn open(&self, id: NodeId) {
        self.table().files.use_now(id);
    }

    /// A range is read of a file that is not whole.
    pub fn read(&self, id: NodeId, range: &Range<u64>) {
        let mut table = self.table();
        table.files.use_now(id);
        let pieces = table.pieces.entry(id).or_default();
        let all = range.start / PIECE_B..range.end.div_ceil(PIECE_B);
        all.for_each(|piece| pieces.use_now(piece));
    }

    /// A file is whole, or gone.
    pub fn forget_pieces(&self, id: NodeId) {
        self.table().pieces.remove(&id);
    }

    pub fn forget(&self, id: NodeId) {
        self.table().files.forget(id);
        self.forget_pieces(id);
    }

    /// All files, the longest unused first.
    pub fn oldest(&self) -> Vec<NodeId> {
        self.table().files.oldest().collect()
    }

    /// The pieces of a file that were read.
    pub fn pieces(&self, id: NodeId) -> Recent<u64> {
        self.table().pieces.get(&id).cloned().unwrap_or_default()
    }
}
