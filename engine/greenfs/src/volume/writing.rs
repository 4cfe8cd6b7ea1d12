//! What programs do to the data of files. That they change is written down first, and which bytes; so
//! a branch gets those, and keeps the others of what it has.

use std::io;
use std::ops::Range;

use crate::branch::store::Store;
use crate::protocol::dirty::EVERYTHING;
use crate::protocol::{Change, NodeId};
use crate::volume::flash::Flash;

/// What may change with the size of a file: a program that moves its end back and forth leaves zeros.
pub fn cut(size_b: u64) -> Range<u64> {
    size_b..EVERYTHING.end
}

impl<S: Store> Flash<S> {
    pub fn write(&mut self, id: NodeId, offset: u64, data: &[u8]) -> io::Result<()> {
        let path = self.path(id)?;
        let range = offset..offset + data.len() as u64;
        self.complete(id)?;
        self.begin_writing(id, &range)?;
        let written = self.store.write(&path, offset, data);
        self.end_writing(id, &range)?;
        written
    }

    pub fn truncate(&mut self, id: NodeId, size_b: u64) -> io::Result<()> {
        let path = self.path(id)?;
        if size_b > 0 {
            self.complete(id)?;
        }
        self.begin_writing(id, &cut(size_b))?;
        let emptied = self.empty(id);
        let written = emptied.and_then(|()| self.store.truncate(&path, size_b));
        self.end_writing(id, &cut(size_b))?;
        written
    }

    /// Write down that these bytes of a file change, before they do. One that has no name any more is
    /// nobody's.
    pub fn begin_writing(&mut self, id: NodeId, range: &Range<u64>) -> io::Result<()> {
        if !self.written.contains(&id) && !self.writing.contains_key(&id) {
            // What others did to it on flash would pass for what is written now.
            self.note_file(id)?;
        }
        *self.writing.entry(id).or_default() += 1;
        self.mark(id, range)
    }

    /// A write that was begun has come to its end: what was copied meanwhile may lack it.
    pub fn end_writing(&mut self, id: NodeId, range: &Range<u64>) -> io::Result<()> {
        if let Some(count) = self.writing.get_mut(&id) {
            *count -= 1;
            if *count == 0 {
                self.writing.remove(&id);
            }
        }
        self.mark(id, range)
    }

    fn mark(&mut self, id: NodeId, range: &Range<u64>) -> io::Result<()> {
        let range = match self.shared.contains_key(&id) {
            true => &EVERYTHING,
            false => range,
        };
        let mut behind = self.state.behind.values();
        let is_noted = self.written.contains(&id) && behind.all(|its| its.has_noted(id, range));
        if is_noted || self.state.catalogue.get(id).is_none() {
            return Ok(());
        }
        self.record(Change::Write(id, range.start, range.end))?;
        self.written.insert(id);
        Ok(())
    }

    /// A program opens a file so that it can change it through memory, without a word.
    pub fn begin_sharing(&mut self, id: NodeId) {
        *self.shared.entry(id).or_default() += 1;
    }

    /// It has closed it, and may have changed any of it; and may go on, for its memory stays.
    pub fn end_sharing(&mut self, id: NodeId) -> io::Result<()> {
        self.begin_writing(id, &EVERYTHING)?;
        self.end_writing(id, &EVERYTHING)?;
        if let Some(count) = self.shared.get_mut(&id) {
            *count = count.saturating_sub(1);
        }
        Ok(())
    }

    /// Nobody has anything open any more, whether the kernel came to say so or not.
    pub fn end_all_sharing(&mut self) -> io::Result<()> {
        for (id, count) in std::mem::take(&mut self.shared) {
            match count {
                0 => self.note_file(id).map(drop)?,
                _ => self.end_sharing(id)?,
            }
        }
        Ok(())
    }
}
