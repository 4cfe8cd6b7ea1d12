//! Files of which flash has a part; the rest is on other branches.
//!
//! On flash, the mode of such a file says that it is not whole, and its status file what of it is
//! there. Its own mode and time of change are in the catalogue alone. Nothing is ever written to one
//! that is not brought back whole first.

use std::io;
use std::ops::Range;

use crate::branch::identity::{self, FORMAT_OF_PARTS, Identity};
use crate::branch::own;
use crate::branch::store::{Store, ensure_folder, if_allowed};
use crate::cache::part::Part;
use crate::protocol::behind::Touched;
use crate::protocol::{Behind, Kind, NodeId, Role};
use crate::ranges::Ranges;
use crate::volume::flash::Flash;
use crate::volume::marks::{FOLDER, MARK, place};

/// What was brought back to flash and is not written down yet.
pub type Brought = Vec<(NodeId, Ranges)>;

impl<S: Store> Flash<S> {
    /// Bring what flash itself says of its parts together with what is known of them.
    pub(super) fn begin_parts(&mut self) -> io::Result<()> {
        if self.store.look(&own(FOLDER))?.is_none() {
            return Ok(());
        }
        let catalogue = &self.state.catalogue;
        self.parts.retain(|id, _| catalogue.get(*id).is_some());
        let ids: Vec<(NodeId, bool)> = self
            .parts
            .iter()
            .map(|(id, p)| (*id, p.is_whole()))
            .collect();
        for (id, is_whole) in ids {
            match is_whole {
                true => self.end_part(id)?,
                false => self.dress_as(id, MARK)?,
            }
        }
        for name in self.store.list(&own(FOLDER))? {
            let number = name.to_str().and_then(|text| text.parse().ok());
            if !number.is_some_and(|number| self.parts.contains_key(&NodeId(number))) {
                self.store.remove_file(&own(FOLDER).join(name))?;
            }
        }
        Ok(())
    }

    /// What flash has of a file that is not whole.
    pub fn part(&self, id: NodeId) -> Option<&Part> {
        self.parts.get(&id)
    }

    /// The files of which flash has a part.
    pub fn parts(&self) -> impl Iterator<Item = (NodeId, &Part)> {
        let is_there = |(id, _): &(&NodeId, &Part)| self.state.catalogue.get(**id).is_some();
        self.parts
            .iter()
            .filter(is_there)
            .map(|(id, part)| (*id, part))
    }

    /// Bytes of files that are on flash.
    pub fn present_b(&self) -> u64 {
        let nodes = self.state.catalogue.nodes().values();
        let all: u64 = nodes.map(|node| node.attributes.size).sum();
        all - self.parts().map(|(_, part)| part.absent_b()).sum::<u64>()
    }

    /// Give up a range of a file, if the branches in all these roles have the file as it is. Its room
    /// is freed by [`Flash::let_go`]. Returns how many bytes will be.
    pub fn give_up(&mut self, id: NodeId, range: Range<u64>, roles: &[Role]) -> io::Result<u64> {
        if !self.is_elsewhere(id, roles) {
            return Ok(0);
        }
        let mut part = match self.parts.get(&id) {
            Some(part) => part.clone(),
            None => match self.new_part(id)? {
                Some(part) => part,
                None => return Ok(0),
            },
        };
        let before_b = part.here.count_b();
        part.give_up(part.within(range));
        let given_up_b = before_b - part.here.count_b();
        if given_up_b == 0 {
            return Ok(0);
        }
        self.write_status(id, &part)?;
        if !self.parts.contains_key(&id) && if_allowed(self.dress_as(id, MARK))?.is_none() {
            // It stays whole, as the status file of somebody else's file says nothing.
            self.store.remove_file(&place(id))?;
            return Ok(0);
        }
        self.parts.insert(id, part);
        Ok(given_up_b)
    }

    /// Whether branches have a file as it is. Who asks has seen that they are there.
    fn is_elsewhere(&self, id: NodeId, roles: &[Role]) -> bool {
        let is_in = |touched: &Touched| touched.contains_key(&id);
        let lacks = |behind: &Behind| {
            is_in(&behind.touched) || behind.pushing.as_ref().is_some_and(|p| is_in(&p.touched))
        };
        let has = |role: &Role| {
            let is_known = !self.surveyed.contains(role);
            is_known && self.behind(*role).is_some_and(|behind| !lacks(behind))
        };
        !self.is_at_work(id) && !roles.is_empty() && roles.iter().all(has)
    }

    /// A file that is whole, if flash has it as the catalogue says.
    fn new_part(&mut self, id: NodeId) -> io::Result<Option<Part>> {
        let node = self.node(id)?.clone();
        let found = self.store.look(&self.path(id)?)?;
        let is_known = found.is_some_and(|found| {
            let is_same = found.inode == node.inode && found.changed_ns == node.changed_ns;
            is_same && node.changed_ns != 0 && node.expected().is(&found)
        });
        if !is_known || node.kind != Kind::File {
            return Ok(None);
        }
        self.ensure_parts()?;
        Ok(Some(Part::whole(node.inode, node.attributes.size)))
    }

    /// Make the folder of status files; programs that do not know it refuse this flash from then on.
    fn ensure_parts(&mut self) -> io::Result<()> {
        if self.store.look(&own(FOLDER))?.is_some() {
            return Ok(());
        }
        let identity = identity::read(&self.store, &self.name);
        let identity = identity.map_err(|fault| io::Error::other(fault.what))?;
        if let Some(identity) = identity {
            let format = FORMAT_OF_PARTS;
            identity::write(&mut self.store, &Identity { format, ..identity })?;
        }
        ensure_folder(&mut self.store, &own(FOLDER))
    }

    /// Free the room of what was given up. All of flash was made durable since.
    pub fn let_go(&mut self) -> io::Result<()> {
        let is_leaving = |(_, part): &(&NodeId, &Part)| part.leaving.count_b() > 0;
        let leaving = self.parts.iter().filter(is_leaving);
        let ids: Vec<NodeId> = leaving.map(|(id, _)| *id).collect();
        for id in ids {
            let Some(part) = self.parts.get_mut(&id) else {
                continue;
            };
            part.losses += 1;
            let leaving = std::mem::take(&mut part.leaving);
            if self.state.catalogue.get(id).is_none() {
                continue; // it was removed
            }
            self.at_work(id, |store, path| {
                let mut ranges = leaving.iter();
                ranges.try_for_each(|range| store.punch(path, range))
            })?;
        }
        Ok(())
    }

    /// Put back to flash what was read of a file on a branch.
    pub fn fill(&mut self, id: NodeId, offset: u64, data: &[u8]) -> io::Result<()> {
        let Some(part) = self.parts.get(&id) else {
            return Ok(());
        };
        let range = offset..offset + data.len() as u64;
        for gap in part.here.gaps(part.within(range)) {
            let from = (gap.start - offset) as usize;
            let piece = &data[from..from + (gap.end - gap.start) as usize];
            self.at_work(id, |store, path| store.write(path, gap.start, piece))?;
            if let Some(part) = self.parts.get_mut(&id) {
                part.claim(gap);
            }
        }
        Ok(())
    }

    /// What was brought back since it was last written down.
    pub fn brought(&self) -> Brought {
        let is_more = |(_, part): &(NodeId, &Part)| part.here != part.status.here;
        let brought = self.parts().filter(is_more);
        brought.map(|(id, part)| (id, part.here.clone())).collect()
    }

    /// Write down what was brought back, as far as it was not given up meanwhile. All of flash was made
    /// durable since.
    pub fn save(&mut self, brought: Brought) -> io::Result<()> {
        for (id, durable) in brought {
            let Some(mut part) = self.parts.get(&id).cloned() else {
                continue;
            };
            part.status.here = part.here.clone();
            for gap in durable.gaps(0..part.status.size_b) {
                part.status.here.remove(gap);
            }
            match part.status.here.has_all(0..part.status.size_b) {
                true => self.complete(id)?,
                false => {
                    self.write_status(id, &part)?;
                    self.parts.insert(id, part);
                }
            }
        }
        Ok(())
    }

    /// A file of which all is here is one like any other.
    ///
    /// # Errors
    /// If not all is here.
    pub fn complete(&mut self, id: NodeId) -> io::Result<()> {
        match self.parts.get(&id).map(Part::is_whole) {
            None => Ok(()),
            Some(false) => Err(absent()),
            Some(true) => {
                self.at_work(id, |store, path| store.sync(path))?;
                self.end_part(id)
            }
        }
    }

    /// Take all data of a file of which there is a part; that it changes was written down before.
    pub fn empty(&mut self, id: NodeId) -> io::Result<()> {
        if !self.parts.contains_key(&id) {
            return Ok(());
        }
        self.at_work(id, |store, path| {
            store.truncate(path, 0)?;
            store.sync(path)
        })?;
        self.end_part(id)
    }
}

/// A part of a file is not on flash, and cannot be had now.
pub fn absent() -> io::Error {
    io::Error::from_raw_os_error(libc::EHOSTDOWN)
}
