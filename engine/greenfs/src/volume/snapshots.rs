//! Copies on flash of files that programs would disturb while they are copied to a branch.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::branch::own;
use crate::branch::store::{Store, copy_within, ensure_folder, remove_tree};
use crate::protocol::{NodeId, Role};
use crate::volume::flash::Flash;
use crate::volume::round::{Origin, Round, SNAPSHOTS_MOST_B};
use crate::volume::trouble::is_full;

/// What it takes to copy a small file counts as so many bytes more.
const SNAPSHOT_ITSELF_B: u64 = 64 << 10;

/// Copies take this part of the room that is free, at most: programs go on.
const ROOM: u64 = 2;

/// Where copies on flash wait.
fn snapshots(role: Role) -> PathBuf {
    own(format!("snapshots-{role}"))
}

/// Where the copy of a file on flash waits.
pub(super) fn snapshot(role: Role, id: NodeId) -> PathBuf {
    snapshots(role).join(id.0.to_string())
}

impl<S: Store> Flash<S> {
    /// Those of these files that are small enough to be copied on flash, where there is room for each.
    pub(super) fn with_room(&self, files: &BTreeSet<NodeId>) -> io::Result<BTreeSet<NodeId>> {
        let room_b = self.store.free_b()? / ROOM;
        let has_room = |id: &&NodeId| {
            let size_b = self.node(**id).map(|node| node.attributes.size);
            size_b.is_ok_and(|size_b| {
                size_b <= SNAPSHOTS_MOST_B && size_b + SNAPSHOT_ITSELF_B <= room_b
            })
        };
        Ok(files.iter().filter(has_room).copied().collect())
    }

    /// Copy on flash what would be disturbed again: files that were, and of the others those that changed
    /// last. Writes wait meanwhile. Returns those that were disturbed and are not copied.
    pub(super) fn take_snapshots(
        &mut self,
        role: Role,
        round: &mut Round,
        disturbed: &BTreeSet<NodeId>,
    ) -> io::Result<BTreeSet<NodeId>> {
        let mut left_b = SNAPSHOTS_MOST_B;
        let mut room_b = self.store.free_b()? / ROOM;
        let copies = round.plan.copies().zip(&mut round.copies);
        let mut copies: Vec<_> = copies
            .filter(|(put, copied)| {
                copied.origin == Origin::Flash && !self.parts.contains_key(&put.node)
            })
            .collect();
        copies.sort_by_key(|(_, copied)| Reverse(copied.version));
        let mut missing = BTreeSet::new();
        for (put, copied) in copies {
            let size_b = put.expected.attributes.size;
            let takes_b = size_b.saturating_add(SNAPSHOT_ITSELF_B);
            let was_disturbed = disturbed.contains(&put.node);
            let counts_b = match was_disturbed && size_b <= SNAPSHOTS_MOST_B {
                true => 0,
                false => takes_b,
            };
            let is_wanted = counts_b <= left_b && takes_b <= room_b;
            if is_wanted && self.take_snapshot(role, put.node, &put.path)? {
                left_b -= counts_b;
                room_b -= takes_b;
                copied.origin = Origin::Snapshot;
            } else if was_disturbed {
                missing.insert(put.node);
            }
        }
        Ok(missing)
    }

    /// Returns whether there was room for it.
    fn take_snapshot(&mut self, role: Role, id: NodeId, from: &Path) -> io::Result<bool> {
        let to = snapshot(role, id);
        let taken = ensure_folder(&mut self.store, &snapshots(role))
            .and_then(|()| copy_within(&mut self.store, from, &to));
        match taken {
            Err(error) if is_full(&error) => {
                remove_tree(&mut self.store, &to)?;
                Ok(false)
            }
            taken => taken.map(|()| true),
        }
    }

    /// Remove the copies on flash, of a push that has ended.
    pub(super) fn drop_snapshots(&mut self, role: Role) -> io::Result<()> {
        remove_tree(&mut self.store, &snapshots(role))
    }
}
