//! What flash says of files that programs change: their sizes and times are written down once that is over.

use std::io;

use crate::branch::store::Store;
use crate::protocol::{Change, Changes, Found, Kind, Node, NodeId};
use crate::volume::flash::Flash;

/// The times of so many files are written down together. Others wait meanwhile.
pub const RIPEN_AT_ONCE: usize = 256;

/// A file as flash has it.
struct Seen {
    /// None if it is as it is written down.
    now: Option<Node>,
    /// Whether its data are other than is written down.
    is_changed: bool,
}

impl<S: Store> Flash<S> {
    /// Write down the sizes and times of the files that were written to.
    pub fn settle(&mut self) -> io::Result<()> {
        self.check_journal()?;
        let mut ids: Vec<_> = self.written.iter().copied().collect();
        ids.sort();
        ids.into_iter().try_for_each(|id| self.note_written(id))
    }

    /// Write down the size and time of a file, if it was written to.
    pub fn note_written(&mut self, id: NodeId) -> io::Result<()> {
        if !self.written.remove(&id) {
            return Ok(());
        }
        let noted = self
            .check_journal()
            .and_then(|()| self.note_ranges(id))
            .and_then(|()| self.note(id, true));
        if self.is_broken {
            self.written.insert(id); // whoever closes it later is told, too
        }
        noted.map(drop)
    }

    /// Write down that a file changed, if it did, and nobody said so. Returns whether.
    pub fn note_file(&mut self, id: NodeId) -> io::Result<bool> {
        self.note(id, false)
    }

    /// The same. What of a file is other that was written to here is known, unless it is shared.
    fn note(&mut self, id: NodeId, was_written: bool) -> io::Result<bool> {
        let Some(seen) = self.seen(id, was_written)? else {
            return Ok(false);
        };
        if let Some(now) = seen.now {
            self.record(Change::Nodes(vec![(id, Some(now))]))?;
        }
        Ok(seen.is_changed)
    }

    /// What flash says of a file; none if nothing is to be written down of it.
    fn seen(&self, id: NodeId, was_written: bool) -> io::Result<Option<Seen>> {
        let catalogue = &self.state.catalogue;
        let (Some(node), Some(path)) = (catalogue.get(id), catalogue.path(id)) else {
            return Ok(None);
        };
        if self.parts.contains_key(&id) {
            return Ok(None); // nobody changes it before it is whole
        }
        let found = self.store.look(&path)?;
        let found = found.filter(|found| found.inode == node.inode && found.kind == node.kind);
        let Some(found) = found else {
            return Err(io::Error::other(format!(
                "{} was changed by another program; begin again",
                path.display()
            )));
        };
        let mut now = node.clone();
        now.attributes = found.attributes;
        now.changed_ns = self.changed_ns(id, &found);
        let is_changed = !node.expected().is(&found);
        let is_other = match was_written {
            true => self.shared.contains_key(&id),
            false => is_changed,
        };
        if is_other {
            now.version = self.state.seq + 1;
        }
        let now = (*node != now).then_some(now);
        Ok(Some(Seen { now, is_changed }))
    }

    pub(super) fn note_fresh(&mut self, seq: u64, change: &Change) {
        match change {
            Change::Write(id, ..) => drop(self.fresh.entry(*id).or_insert(seq)),
            Change::Nodes(nodes) => {
                for (id, node) in nodes {
                    let is_fresh = |node: &Node| node.kind == Kind::File && node.changed_ns == 0;
                    match node.as_ref().is_some_and(is_fresh) {
                        true => drop(self.fresh.entry(*id).or_insert(seq)),
                        false => drop(self.fresh.remove(id)),
                    }
                }
            }
            _ => (),
        }
    }

    /// Files whose times may now tell further changes, which is not written down yet. Without that they count
    /// as changed when the volume is opened.
    pub fn ripe(&self) -> Vec<NodeId> {
        let ids = self.fresh.keys().copied();
        ids.filter(|id| !self.is_changing(*id)).collect()
    }

    /// Write down the times of those of these files that are ripe still, in one record.
    pub fn ripen(&mut self, ids: &[NodeId]) -> io::Result<()> {
        let mut changes = Changes::new();
        let mut done = Ok(());
        for &id in ids.iter().filter(|id| !self.is_changing(**id)) {
            match self.seen(id, false) {
                Ok(seen) => {
                    let now = seen.and_then(|seen| seen.now);
                    changes.extend(now.map(|now| (id, Some(now))));
                }
                Err(error) => done = Err(error), // of the others it is written down all the same
            }
        }
        if !changes.is_empty() {
            self.record(Change::Nodes(changes))?;
        }
        done
    }

    /// Write down the times of all files that are ripe.
    pub fn ripen_all(&mut self) -> io::Result<()> {
        let ids = self.ripe();
        let ripened = ids.chunks(RIPEN_AT_ONCE).map(|some| self.ripen(some));
        ripened.fold(Ok(()), io::Result::and)
    }

    /// Whether a file is being written to, or was since its time was written down.
    pub(super) fn is_at_work(&self, id: NodeId) -> bool {
        self.written.contains(&id) || self.writing.contains_key(&id)
    }

    /// The same, or it may change without a word.
    fn is_changing(&self, id: NodeId) -> bool {
        self.is_at_work(id) || self.shared.contains_key(&id)
    }

    /// When flash last changed a node, as far as that is to be written down now: 0 if it tells no further
    /// changes.
    pub(super) fn changed_ns(&self, id: NodeId, found: &Found) -> i64 {
        let known = self.state.catalogue.get(id);
        match known.filter(|_| self.is_at_work(id)) {
            _ if self.shared.contains_key(&id) => 0,
            Some(node) => node.changed_ns,
            None => found.changed_ns,
        }
    }
}
