//! What a volume is made of, and how it goes on by a record.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::branch::own;
use crate::branch::store::{Store, replace};
use crate::fault::Fault;
use crate::journal::{checkpoint, frame};
use crate::protocol::{Behind, Change, NodeId, Record, Role, State};

pub(super) const CHECKPOINT: &str = "checkpoint";
pub(super) const JOURNAL: &str = "journal";

/// A journal that is longer than this, and than what the last checkpoint had, is begun anew. Bytes.
const JOURNAL_MOST_B: u64 = 1 << 20;

pub struct Volume<S> {
    /// Flash, for messages.
    pub(super) name: PathBuf,
    pub(super) flash: S,
    pub(super) id: String,
    pub(super) state: State,
    pub(super) journal_b: u64,
    pub(super) checkpoint_b: u64,
    /// Files whose change is in the journal and whose new size and time are not.
    pub(super) written: HashSet<NodeId>,
    pub(super) branches: BTreeMap<Role, Connected<S>>,
    /// Why a branch that was connected no longer is.
    pub(super) away: BTreeMap<Role, Fault>,
    /// Devices, sockets, pipes and mounts on flash: no branch has them.
    pub(super) left_out: usize,
    /// The journal lacks something that was done: only opening the volume again mends that.
    pub(super) is_broken: bool,
}

/// A branch that can be reached.
pub(super) struct Connected<S> {
    pub(super) name: PathBuf,
    pub(super) store: S,
}

impl<S: Store> Volume<S> {
    pub fn state(&self) -> &State {
        &self.state
    }

    /// How many devices, sockets, pipes and mounts there were on flash: no branch has them.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The branch in a role, if it is connected.
    pub fn branch(&self, role: Role) -> Option<&S> {
        self.branches.get(&role).map(|connected| &connected.store)
    }

    /// Let go of a branch, as when its cable is pulled or its disk sleeps.
    pub fn disconnect(&mut self, role: Role) -> Option<S> {
        self.branches.remove(&role).map(|connected| connected.store)
    }

    /// Write a record, then go on by it.
    pub(super) fn record(&mut self, change: Change) -> io::Result<()> {
        if self.is_broken {
            return Err(io::Error::other("the journal could not be written"));
        }
        let seq = self.state.seq + 1;
        let record = Record { seq, change };
        self.is_broken = true;
        let line = frame::line(&record)?;
        self.flash.write(&own(JOURNAL), self.journal_b, &line)?;
        self.state.apply(record).map_err(io::Error::other)?;
        self.is_broken = false;
        self.journal_b += line.len() as u64;
        if self.journal_b > JOURNAL_MOST_B.max(self.checkpoint_b) {
            self.compact()?;
        }
        Ok(())
    }

    /// Put a checkpoint in the place of the journal.
    pub(super) fn compact(&mut self) -> io::Result<()> {
        self.flash.sync_all()?;
        let text = checkpoint::written(&self.state)?;
        replace(&mut self.flash, &own(CHECKPOINT), &text)?;
        self.flash.truncate(&own(JOURNAL), 0)?;
        self.flash.sync(&own(JOURNAL))?;
        self.checkpoint_b = text.len() as u64;
        self.journal_b = 0;
        Ok(())
    }

    /// Write down the sizes and times of the files that were written to.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        let mut ids: Vec<_> = self.written.drain().collect();
        ids.sort();
        for id in ids {
            self.note_file(id)?;
        }
        Ok(())
    }

    /// Write down that a file changed, if it did. Returns whether.
    pub(super) fn note_file(&mut self, id: NodeId) -> io::Result<bool> {
        let catalogue = &self.state.catalogue;
        let (Some(node), Some(path)) = (catalogue.get(id), catalogue.path(id)) else {
            return Ok(false);
        };
        let found = self.flash.look(&path)?;
        let found = found.filter(|found| found.inode == node.inode && found.kind == node.kind);
        let Some(found) = found else {
            return Err(io::Error::other(format!(
                "{} was changed by another program; begin again",
                path.display()
            )));
        };
        let mut now = node.clone();
        now.attributes = found.attributes;
        now.changed_ns = found.changed_ns;
        let is_changed = !node.expected().is(&found);
        if is_changed {
            now.version = self.state.seq + 1;
        }
        if *node != now {
            self.record(Change::Nodes(vec![(id, Some(now))]))?;
        }
        Ok(is_changed)
    }

    pub(super) fn behind(&self, role: Role) -> Option<&Behind> {
        self.state.behind.get(&role)
    }
}

/// An error of a branch or of flash as a person reads it.
pub(super) fn failed(what: &str, error: &io::Error, place: &Path) -> Fault {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let next = match error.kind() {
        StorageFull | QuotaExceeded => "make room there, then begin again",
        PermissionDenied | ReadOnlyFilesystem => "see who may read and write there",
        _ => "see that it is mounted and answers, then begin again",
    };
    Fault::new(format!("{what}: {error}"), place, next)
}
