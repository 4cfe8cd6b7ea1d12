//! Files that programs may change through memory that they share with the kernel, without a word: as
//! long as one has it open, and as long as that memory stays. Their time tells nothing meanwhile, and
//! what was copied of them may be a mix of then and later.

use std::io;

use crate::branch::store::Store;
use crate::protocol::NodeId;
use crate::protocol::dirty::EVERYTHING;
use crate::volume::flash::Flash;

impl<S: Store> Flash<S> {
    /// A program opens a file so that it can change it. Returns the record up to which the journal must
    /// be durable before it can; none if it need not.
    ///
    /// # Errors
    /// If the journal cannot be written, or another program has put another file there. It is not open
    /// then.
    pub fn begin_sharing(&mut self, id: NodeId) -> io::Result<Option<u64>> {
        self.check_journal()?;
        if !self.shared.contains_key(&id) {
            self.look_before(id)?;
        }
        *self.shared.entry(id).or_default() += 1;
        let node = self.state.catalogue.get(id);
        if node.is_some_and(|node| node.changed_ns != 0) {
            // From here on its time tells nothing.
            if let Err(error) = self.note_file(id) {
                self.leave_shared(id);
                return Err(error);
            }
        }
        Ok(self.first_durable(id, 0))
    }

    /// Whether memory may change a file without a word.
    pub fn is_shared(&self, id: NodeId) -> bool {
        self.shared.contains_key(&id)
    }

    /// It has closed it, and may have changed any of it; and may go on, for its memory stays.
    pub fn end_sharing(&mut self, id: NodeId) -> io::Result<()> {
        self.leave_shared(id);
        match self.is_as_before(id)? {
            true => Ok(()),
            false => self.mark(id, &EVERYTHING),
        }
    }

    /// Remember what a file is like that nobody has memory of, if its time will tell of any change.
    fn look_before(&mut self, id: NodeId) -> io::Result<()> {
        let is_told = self.store.tells_of_memory() && !self.is_at_work(id);
        let path = self.state.catalogue.path(id).filter(|_| is_told);
        let found = path.map_or(Ok(None), |path| self.store.look(&path))?;
        if let Some(found) = found.filter(|found| found.changed_ns != 0) {
            self.before.insert(id, found);
        }
        Ok(())
    }

    /// Whether a file is known not to have changed since it is shared. Once it has, it never is again.
    fn is_as_before(&mut self, id: NodeId) -> io::Result<bool> {
        let (Some(before), Some(path)) = (self.before.get(&id), self.state.catalogue.path(id))
        else {
            return Ok(false);
        };
        let is_so = self.store.look(&path)?.as_ref() == Some(before);
        if !is_so {
            self.before.remove(&id);
        }
        Ok(is_so)
    }

    fn leave_shared(&mut self, id: NodeId) {
        if let Some(count) = self.shared.get_mut(&id) {
            *count = count.saturating_sub(1);
        }
    }

    /// Whether nobody has a file open that memory may still change, as far as the kernel can tell.
    fn is_closed(&self, id: NodeId) -> bool {
        // Of one that has no name any more nobody is asked.
        let is_told = !self.untellable.contains(&id) || self.state.catalogue.get(id).is_none();
        is_told && self.shared.get(&id) == Some(&0)
    }

    /// Those files.
    pub fn closed(&self) -> Vec<NodeId> {
        let ids = self.shared.keys().copied();
        ids.filter(|id| self.is_closed(*id)).collect()
    }

    /// The kernel never says whether memory can change this file: it counts as one that memory may
    /// change as long as the volume is open.
    pub fn stop_asking(&mut self, id: NodeId) {
        self.untellable.insert(id);
    }

    /// Those of these files that are closed and that no memory can change any more are like all others from
    /// now on; what changed of them after they were brought is brought once more. Returns whether any is.
    pub fn end_mappings(&mut self, ids: &[NodeId]) -> io::Result<bool> {
        let before = self.state.seq;
        for &id in ids {
            if !self.is_closed(id) {
                continue; // somebody opened it meanwhile
            }
            // One that has no name any more is nobody's.
            let path = self.path(id).ok();
            match path.map_or(Ok(false), |path| self.store.may_be_written(&path)) {
                Ok(true) => (),
                Ok(false) => self.end_mapping(id)?,
                Err(_) => self.stop_asking(id),
            }
        }
        Ok(self.state.seq != before)
    }

    /// No memory can change a file any more: it is brought once more, unless it did not change or is
    /// still to be brought.
    pub fn end_mapping(&mut self, id: NodeId) -> io::Result<()> {
        self.bring_again(id)?;
        self.shared.remove(&id);
        self.before.remove(&id);
        self.untellable.remove(&id);
        Ok(())
    }

    fn bring_again(&mut self, id: NodeId) -> io::Result<()> {
        match self.is_as_before(id)? || self.has_noted(id, &EVERYTHING) {
            true => Ok(()),
            false => self.mark(id, &EVERYTHING),
        }
    }

    /// Nobody has anything open any more, whether the kernel came to say so or not; what memory may still
    /// change is brought once more.
    pub fn close_all(&mut self) -> io::Result<()> {
        self.shared.values_mut().for_each(|count| *count = 0);
        let ids: Vec<NodeId> = self.shared.keys().copied().collect();
        ids.into_iter().try_for_each(|id| self.bring_again(id))
    }
}
