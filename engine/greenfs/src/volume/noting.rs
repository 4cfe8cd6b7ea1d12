//! What flash says of files that programs change: their sizes and times are written down once that is over.

use std::io;

use crate::branch::store::Store;
use crate::protocol::{Change, Changes, Found, Kind, Node, NodeId};
use crate::volume::flash::Flash;

/// So many files are written down together. Others wait meanwhile.
pub const NOTED_AT_ONCE: usize = 256;

/// A file as flash has it.
struct Seen {
    /// None if it is as it is written down.
    now: Option<Node>,
    /// Whether its data are other than is written down.
    is_changed: bool,
}

/// A file of which flash cannot be asked, and why.
type Failed = (NodeId, io::Error);

impl<S: Store> Flash<S> {
    /// Write down the sizes and times of the files that were written to.
    pub fn settle(&mut self) -> io::Result<()> {
        self.check_journal()?;
        let mut ids = self.written();
        ids.sort();
        let noted = ids
            .chunks(NOTED_AT_ONCE)
            .map(|some| self.note_written(some));
        noted.fold(Ok(()), io::Result::and)
    }

    /// Files that were written to, and whose new size and time are not in the journal. That they change is, but
    /// of those that are empty as far as it says and that no branch has.
    pub fn written(&self) -> Vec<NodeId> {
        self.written.iter().copied().collect()
    }

    /// Write down the sizes and times of those of these files that were written to, in one record.
    ///
    /// # Errors
    /// If the journal is broken, and if flash cannot be asked of one of them: that one counts as written to no more.
    /// The others are written down, or left to whoever settles next.
    pub fn note_written(&mut self, ids: &[NodeId]) -> io::Result<()> {
        let mut failed = self.note(ids)?.into_iter();
        let told = failed.next();
        self.leave_written(failed);
        told.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// The same of files that nobody asks for. Those that cannot be written down are left to whoever settles next,
    /// who is told.
    pub fn note_closed(&mut self, ids: &[NodeId]) {
        let failed = self.note(ids).unwrap_or_default();
        self.leave_written(failed.into_iter());
    }

    /// Nobody was told of these yet.
    fn leave_written(&mut self, failed: impl Iterator<Item = Failed>) {
        self.written.extend(failed.map(|(id, _)| id));
    }

    /// Returns those of which flash cannot be asked. Nothing more is known of them, and they do not count as written
    /// to any more.
    fn note(&mut self, ids: &[NodeId]) -> io::Result<Vec<Failed>> {
        let ids = ids.iter().filter(|id| self.written.contains(id));
        let ids: Vec<NodeId> = ids.copied().collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.check_journal()?;
        for id in &ids {
            self.written.remove(id);
        }
        let ranges = ids.iter().try_for_each(|id| self.note_ranges(*id));
        let noted = ranges.and_then(|()| self.note_all(&ids, true));
        if noted.is_err() {
            self.written.extend(ids); // whoever closes one later is told, too
        }
        noted
    }

    /// Write down that a file changed, if it did, and nobody said so. Returns whether.
    pub fn note_file(&mut self, id: NodeId) -> io::Result<bool> {
        let Some(seen) = self.seen(id, false)? else {
            return Ok(false);
        };
        if let Some(now) = seen.now {
            self.record(Change::Nodes(vec![(id, Some(now))]))?;
        }
        Ok(seen.is_changed)
    }

    /// Write down what flash says of these files, in one record. Returns those of which it cannot be asked.
    fn note_all(&mut self, ids: &[NodeId], were_written: bool) -> io::Result<Vec<Failed>> {
        let mut changes = Changes::new();
        let mut failed = Vec::new();
        for &id in ids {
            match self.seen(id, were_written) {
                Ok(seen) => {
                    let now = seen.and_then(|seen| seen.now);
                    changes.extend(now.map(|now| (id, Some(now))));
                }
                Err(error) => failed.push((id, error)),
            }
        }
        if !changes.is_empty() {
            self.record(Change::Nodes(changes))?;
        }
        Ok(failed)
    }

    /// What flash says of a file; none if nothing is to be written down of it. What of a file is other that was
    /// written to here is known, unless it is shared.
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
        let ripe = ids.iter().filter(|id| !self.is_changing(**id));
        let ripe: Vec<NodeId> = ripe.copied().collect();
        let failed = self.note_all(&ripe, false)?;
        failed.into_iter().try_for_each(|(_, error)| Err(error))
    }

    /// Write down the times of all files that are ripe.
    pub fn ripen_all(&mut self) -> io::Result<()> {
        let ids = self.ripe();
        let ripened = ids.chunks(NOTED_AT_ONCE).map(|some| self.ripen(some));
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
