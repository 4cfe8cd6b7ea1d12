//! What programs do to the data of files. That they change is written down first, and which bytes; so
//! a branch gets those, and keeps the others of what it has.
//!
//! Data that are overwritten in place may reach flash long before the time of the file does. So the
//! journal says durably that the file may be other before the first of them is written: whoever opens
//! the volume after a loss of power takes all of it for changed. That holds until the time is written
//! down; until then further ranges are kept in memory.

use std::io;
use std::ops::Range;

use crate::branch::own;
use crate::branch::store::Store;
use crate::protocol::dirty::EVERYTHING;
use crate::protocol::{Change, NodeId};
use crate::volume::flash::{Flash, JOURNAL};

/// What may change with the size of a file: a program that moves its end back and forth leaves zeros.
fn cut(size_b: u64) -> Range<u64> {
    size_b..EVERYTHING.end
}

impl<S: Store> Flash<S> {
    pub fn write(&mut self, id: NodeId, offset: u64, data: &[u8]) -> io::Result<()> {
        let path = self.path(id)?;
        let range = offset..offset + data.len() as u64;
        self.complete(id)?;
        let first = self.begin_writing(id, &range)?;
        let ready = self.make_durable(first);
        let written = ready.and_then(|()| self.store.write(&path, offset, data));
        self.end_writing(id, &range)?;
        written
    }

    pub fn truncate(&mut self, id: NodeId, size_b: u64) -> io::Result<()> {
        let path = self.path(id)?;
        if size_b > 0 {
            self.complete(id)?;
        }
        let first = self.begin_cutting(id, size_b)?;
        let ready = self.make_durable(first);
        let done = ready.and_then(|()| self.store.truncate(&path, size_b));
        self.end_cutting(id, size_b, done)
    }

    /// Write down that a file gets another size, before it does. Returns the record up to which the journal
    /// must be durable first; if there is none, it must get it before others go on.
    pub fn begin_cutting(&mut self, id: NodeId, size_b: u64) -> io::Result<Option<u64>> {
        let first = self.begin_writing(id, &cut(size_b))?;
        if size_b > 0 {
            return Ok(first);
        }
        let emptied = self.empty(id);
        if emptied.is_err() {
            self.end_writing(id, &cut(size_b))?;
        }
        emptied.map(|()| None)
    }

    /// It was cut, or `done` says why not.
    pub fn end_cutting(&mut self, id: NodeId, size_b: u64, done: io::Result<()>) -> io::Result<()> {
        if done.is_ok() && size_b == 0 && self.state.catalogue.get(id).is_some() {
            // What comes next is written elsewhere, and is found with the new time or not at all.
            self.fresh.insert(id, 0);
        }
        self.end_writing(id, &cut(size_b))?;
        done
    }

    /// Write down that these bytes of a file change, before they do. One that has no name any more is
    /// nobody's. Returns the record up to which the journal must be durable first; none if it need not.
    pub fn begin_writing(&mut self, id: NodeId, range: &Range<u64>) -> io::Result<Option<u64>> {
        self.check_journal()?;
        let is_first = !self.is_at_work(id);
        *self.writing.entry(id).or_default() += 1;
        let noted = match is_first && !self.is_unwritten(id) {
            // What others did to it on flash would pass for what is written now.
            true => self.note_file(id).map(drop),
            false => Ok(()),
        };
        let begun = noted.and_then(|()| self.mark(id, range));
        if begun.is_err() {
            self.leave(id);
        }
        begun.map(|()| self.first_durable(id, range.start))
    }

    /// A write that was begun has come to its end: what was copied meanwhile may lack it.
    pub fn end_writing(&mut self, id: NodeId, range: &Range<u64>) -> io::Result<()> {
        self.leave(id);
        self.mark(id, range)
    }

    fn leave(&mut self, id: NodeId) {
        if let Some(count) = self.writing.get_mut(&id) {
            *count -= 1;
            if *count == 0 {
                self.writing.remove(&id);
            }
        }
    }

    /// Write down that these bytes of a file may be other: at once if nothing says yet that it changes, else
    /// when its time is written down.
    pub(super) fn mark(&mut self, id: NodeId, range: &Range<u64>) -> io::Result<()> {
        let range = match self.shared.contains_key(&id) {
            true => &EVERYTHING,
            false => range,
        };
        if self.state.catalogue.get(id).is_none() {
            return Ok(());
        }
        if self.is_unwritten(id) {
            self.written.insert(id);
        } else if !self.written.contains(&id) || !self.has_noted(id, &(0..0)) {
            self.record(Change::Write(id, range.start, range.end))?;
            self.written.insert(id);
        } else if !self.has_noted(id, range) {
            self.unnoted.insert(id, range.clone());
        }
        Ok(())
    }

    /// Whether a file is empty, as far as the journal says, and no branch has it. That it is written to goes
    /// without saying then: its new size tells that, and every branch gets all of it.
    fn is_unwritten(&self, id: NodeId) -> bool {
        let node = self.state.catalogue.get(id);
        let is_empty = node.is_some_and(|node| node.attributes.size == 0);
        let mut behind = self.state.behind.values();
        is_empty && !self.shared.contains_key(&id) && behind.all(|its| its.lacks_all(id))
    }

    /// Whether it is written down for all branches that these bytes of a file may be other.
    pub(super) fn has_noted(&self, id: NodeId, range: &Range<u64>) -> bool {
        let mut behind = self.state.behind.values();
        behind.all(|its| its.has_noted(id, range))
    }

    /// Write down which bytes of a file may be other, as far as that was left for now.
    pub(super) fn note_ranges(&mut self, id: NodeId) -> io::Result<()> {
        let ranges = self.unnoted.take(id);
        if self.state.catalogue.get(id).is_none() {
            return Ok(());
        }
        let mut changes = ranges
            .iter()
            .map(|range| Change::Write(id, range.start, range.end));
        changes.try_for_each(|change| self.record(change))
    }

    /// The record up to which the journal must be durable before bytes of a file from this one on are
    /// overwritten; none if that is so already, or a loss of power would show it anyway: by the size of
    /// the file, or because every branch gets all of it.
    pub(super) fn first_durable(&self, id: NodeId, from: u64) -> Option<u64> {
        let node = self.state.catalogue.get(id)?;
        let is_durable = |since: &u64| self.is_durable(*since);
        let is_said = self.fresh.get(&id).is_some_and(is_durable);
        let mut behind = self.state.behind.values();
        let is_elsewhere = behind.any(|its| !its.lacks_all(id));
        let is_needed = from < node.attributes.size && is_elsewhere && !is_said;
        is_needed.then_some(self.state.seq)
    }

    /// Make the journal durable up to a record, if there is one to wait for. A mount
    /// must not do it so: another of its threads could be told of a failure in place of this one.
    fn make_durable(&mut self, record: Option<u64>) -> io::Result<()> {
        if let Some(record) = record {
            self.check_journal()?;
            let done = self.store.sync(&own(JOURNAL));
            self.note_synced(done)?;
            self.note_durable(record);
        }
        Ok(())
    }

    /// Whether the journal is known to be durable up to this record.
    pub fn is_durable(&self, record: u64) -> bool {
        record <= self.durable
    }

    /// The journal was made durable up to this record.
    pub fn note_durable(&mut self, record: u64) {
        self.durable = self.durable.max(record);
    }
}
