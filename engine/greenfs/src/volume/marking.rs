//! Files of which flash has a part, as flash itself shows them: with a mode of their own, and with a
//! status file.

use std::io;
use std::path::Path;

use crate::branch::own;
use crate::branch::store::{Store, remove_tree};
use crate::cache::part::Part;
use crate::clock;
use crate::journal::frame;
use crate::protocol::{Attributes, NodeId};
use crate::volume::flash::Flash;
use crate::volume::marks::{AT_WORK, FOLDER, MARK, place};

impl<S: Store> Flash<S> {
    /// Set mode, owner and time of change of a file of which there is a part.
    pub(super) fn dress_part(&mut self, id: NodeId, attributes: &Attributes) -> io::Result<()> {
        let mut node = self.node(id)?.clone();
        let size = node.attributes.size;
        node.attributes = Attributes {
            size,
            ..*attributes
        };
        node.changed_ns = clock::now_us().saturating_mul(1000);
        self.store.dress(
            &self.path(id)?,
            &Attributes {
                mode: MARK,
                ..node.attributes
            },
        )?;
        self.record_nodes(vec![(id, Some(node))])
    }

    /// A file has no name any more. Who has it open gets what is here of it.
    pub(super) fn forget_part(&mut self, id: NodeId) -> io::Result<()> {
        match self.parts.contains_key(&id) {
            true => remove_tree(&mut self.store, &place(id)),
            false => Ok(()),
        }
    }

    /// The data are durable: it is not marked any more, and then not known as a part.
    pub(super) fn end_part(&mut self, id: NodeId) -> io::Result<()> {
        let mode = self.node(id)?.attributes.mode;
        self.dress_as(id, mode)?;
        remove_tree(&mut self.store, &place(id))?;
        // Nothing is written to it while a crash could bring its status file back.
        self.store.sync(&own(FOLDER))?;
        self.parts.remove(&id);
        self.note_attributes(id)
    }

    /// Work in a file that is marked.
    pub fn at_work<R>(
        &mut self,
        id: NodeId,
        work: impl FnOnce(&mut S, &Path) -> io::Result<R>,
    ) -> io::Result<R> {
        let path = self.path(id)?;
        self.dress_as(id, AT_WORK)?;
        let done = work(&mut self.store, &path);
        self.dress_as(id, MARK)?;
        done
    }

    pub(super) fn dress_as(&mut self, id: NodeId, mode: u32) -> io::Result<()> {
        let attributes = self.node(id)?.attributes;
        self.store
            .dress(&self.path(id)?, &Attributes { mode, ..attributes })
    }

    /// Say in the status file what is durable here; it need not be there after a loss of power.
    pub(super) fn write_status(&mut self, id: NodeId, part: &Part) -> io::Result<()> {
        let new = place(id).with_extension("new");
        remove_tree(&mut self.store, &new)?;
        self.store.create(&new, 0o600)?;
        self.store.write(&new, 0, &frame::line(&part.status)?)?;
        self.store.rename(&new, &place(id))
    }
}
