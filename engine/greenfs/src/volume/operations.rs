//! What programs do to names and attributes. Each operation is done on flash first, and then written
//! down; an operation that was not written down is found when the volume is opened.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::branch::OWN;
use crate::branch::store::Store;
use crate::protocol::{Attributes, Catalogue, Name, Node, NodeId, ROOT};
use crate::volume::flash::{Flash, OTHERS_FROM};

type Changed = (NodeId, Option<Node>);

/// How a new node is to be.
#[derive(Clone, Copy, Debug)]
pub struct New {
    pub mode: u32,
    /// User and group; the group of the folder goes before it where the folder says so (setgid).
    pub owner: Option<(u32, u32)>,
}

impl<S: Store> Flash<S> {
    /// The node that a name in a folder stands for.
    pub fn lookup(&self, parent: NodeId, name: &OsStr) -> Option<NodeId> {
        let known = self.state.catalogue.child(parent, name);
        known.or_else(|| self.others.child(parent, name))
    }

    /// What a folder holds, without our own.
    pub fn entries(&self, parent: NodeId) -> Vec<(OsString, NodeId)> {
        let all = self.state.catalogue.children(parent);
        let all = all.chain(self.others.children(parent));
        all.map(|(name, id)| (name.clone(), id)).collect()
    }

    pub fn node(&self, id: NodeId) -> io::Result<&Node> {
        self.catalogue(id).get(id).ok_or_else(gone)
    }

    pub fn create(&mut self, parent: NodeId, name: &OsStr, new: New) -> io::Result<NodeId> {
        let create = |store: &mut S, path: &Path| store.create(path, new.mode);
        self.create_by(parent, name, new, create).map(|(id, ())| id)
    }

    /// The same, by what makes a file in the store. Also returns what that does.
    pub fn create_by<T>(
        &mut self,
        parent: NodeId,
        name: &OsStr,
        new: New,
        create: impl FnOnce(&mut S, &Path) -> io::Result<T>,
    ) -> io::Result<(NodeId, T)> {
        let path = self.free(parent, name)?;
        let created = create(&mut self.store, &path)?;
        Ok((self.made(parent, name, &path, new)?, created))
    }

    pub fn make_folder(&mut self, parent: NodeId, name: &OsStr, new: New) -> io::Result<NodeId> {
        let path = self.free(parent, name)?;
        self.store.make_folder(&path, new.mode)?;
        self.made(parent, name, &path, new)
    }

    /// Make a symbolic link.
    pub fn symlink(
        &mut self,
        parent: NodeId,
        name: &OsStr,
        target: &OsStr,
        new: New,
    ) -> io::Result<NodeId> {
        let path = self.free(parent, name)?;
        self.store.symlink(&path, target)?;
        self.made(parent, name, &path, new)
    }

    /// Make a device, a socket or a pipe, of the kind that the mode says: it stays on flash alone.
    pub fn make_other(
        &mut self,
        parent: NodeId,
        name: &OsStr,
        device: u64,
        new: New,
    ) -> io::Result<NodeId> {
        let path = self.free(parent, name)?;
        self.store.make_other(&path, new.mode, device)?;
        self.made(parent, name, &path, new)
    }

    pub fn link(&mut self, id: NodeId, parent: NodeId, name: &OsStr) -> io::Result<()> {
        let path = self.free(parent, name)?;
        self.store.link(&self.path(id)?, &path)?;
        let mut node = self.node(id)?.clone();
        node.names.insert(entry(parent, name));
        self.refresh(&mut node, &path)?;
        self.record_nodes(vec![(id, Some(node))])
    }

    pub fn unlink(&mut self, parent: NodeId, name: &OsStr) -> io::Result<()> {
        let (id, path) = self.existing(parent, name)?;
        self.store.remove_file(&path)?;
        let changed = self.without(id, &entry(parent, name))?;
        self.record_nodes(vec![changed])
    }

    pub fn remove_folder(&mut self, parent: NodeId, name: &OsStr) -> io::Result<()> {
        let (id, path) = self.existing(parent, name)?;
        self.store.remove_folder(&path)?;
        self.record_nodes(vec![(id, None)])
    }

    /// Give what has one name another one; what had that is replaced, as rename(2) has it.
    pub fn rename(&mut self, from: (NodeId, &OsStr), to: (NodeId, &OsStr)) -> io::Result<()> {
        let (id, old_path) = self.existing(from.0, from.1)?;
        let new_path = self.place(to.0, to.1)?;
        let replaced = self.lookup(to.0, to.1);
        self.store.rename(&old_path, &new_path)?;
        if replaced == Some(id) {
            return Ok(()); // two names of one file: both stay
        }
        let (old, new) = (entry(from.0, from.1), entry(to.0, to.1));
        let mut changes = Vec::new();
        if let Some(replaced) = replaced {
            changes.push(self.without(replaced, &new)?);
        }
        let mut node = self.node(id)?.clone();
        node.names.remove(&old);
        node.names.insert(new);
        self.refresh(&mut node, &new_path)?;
        changes.push((id, Some(node)));
        self.record_nodes(changes)
    }

    /// Set mode, owner and time of change.
    pub fn dress(&mut self, id: NodeId, attributes: &Attributes) -> io::Result<()> {
        if self.parts.contains_key(&id) {
            return self.dress_part(id, attributes);
        }
        let path = self.path(id)?;
        self.store.dress(&path, attributes)?;
        self.note_attributes(id)
    }

    /// Write down what flash says of a node whose attributes somebody has changed there.
    pub fn note_attributes(&mut self, id: NodeId) -> io::Result<()> {
        let path = self.path(id)?;
        let mut node = self.node(id)?.clone();
        self.refresh(&mut node, &path)?;
        self.record_nodes(vec![(id, Some(node))])
    }

    fn made(&mut self, parent: NodeId, name: &OsStr, path: &Path, new: New) -> io::Result<NodeId> {
        let mut found = self.store.look(path)?.ok_or_else(gone)?;
        if let Some(owner) = self.owner_to_set(parent, new, &found.attributes)? {
            let (uid, gid) = owner;
            let dressed = Attributes {
                uid,
                gid,
                ..found.attributes
            };
            self.store.dress(path, &dressed)?;
            found = self.store.look(path)?.ok_or_else(gone)?;
        }
        let id = self.new_id(&found.kind);
        let mut node = Node::new(found, self.state.seq + 1);
        node.names.insert(entry(parent, name));
        self.record_nodes(vec![(id, Some(node))])?;
        Ok(id)
    }

    /// User and group that a new node should have and has not.
    fn owner_to_set(
        &self,
        parent: NodeId,
        new: New,
        has: &Attributes,
    ) -> io::Result<Option<(u32, u32)>> {
        let folder = self.node(parent)?;
        let is_inherited = folder.attributes.mode & libc::S_ISGID != 0;
        let owner = new.owner.map(|(uid, gid)| match is_inherited {
            true => (uid, folder.attributes.gid),
            false => (uid, gid),
        });
        Ok(owner.filter(|owner| *owner != (has.uid, has.gid)))
    }

    /// A node without one of its names; without the last it is gone.
    fn without(&self, id: NodeId, name: &Name) -> io::Result<Changed> {
        let mut node = self.node(id)?.clone();
        node.names.remove(name);
        let Some(other) = node.names.first() else {
            return Ok((id, None));
        };
        let path = self.state.catalogue.path_of(other).ok_or_else(gone)?;
        self.refresh(&mut node, &path)?;
        Ok((id, Some(node)))
    }

    /// Take over what flash says of a node that an operation has just changed.
    fn refresh(&self, node: &mut Node, path: &Path) -> io::Result<()> {
        let known = self.state.catalogue.by_inode(node.inode);
        if known.is_some_and(|id| self.parts.contains_key(&id)) {
            return Ok(()); // they are in the catalogue alone
        }
        let found = self.store.look(path)?.ok_or_else(gone)?;
        let is_shared = known.is_some_and(|id| self.shared.contains_key(&id));
        if is_shared && !node.expected().is(&found) {
            node.version = self.state.seq + 1; // perhaps memory has changed it
        }
        node.attributes = found.attributes;
        node.changed_ns = match known {
            Some(id) => self.changed_ns(id, &found),
            None => found.changed_ns,
        };
        Ok(())
    }

    fn catalogue(&self, id: NodeId) -> &Catalogue {
        match id.0 >= OTHERS_FROM {
            true => &self.others,
            false => &self.state.catalogue,
        }
    }

    /// The path of one of the names of a node.
    pub fn path(&self, id: NodeId) -> io::Result<PathBuf> {
        match self.node(id)?.names.first() {
            Some(name) => self.state.catalogue.path_of(name).ok_or_else(gone),
            None => Ok(PathBuf::new()),
        }
    }

    /// The path of a name that there may be in a folder.
    fn place(&self, parent: NodeId, name: &OsStr) -> io::Result<PathBuf> {
        if parent == ROOT && name == OWN {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        Ok(self.path(parent)?.join(name))
    }

    fn free(&self, parent: NodeId, name: &OsStr) -> io::Result<PathBuf> {
        match self.lookup(parent, name) {
            Some(_) => Err(io::Error::from_raw_os_error(libc::EEXIST)),
            None => self.place(parent, name),
        }
    }

    fn existing(&self, parent: NodeId, name: &OsStr) -> io::Result<(NodeId, PathBuf)> {
        let path = self.place(parent, name)?;
        Ok((self.lookup(parent, name).ok_or_else(gone)?, path))
    }
}

fn entry(parent: NodeId, name: &OsStr) -> Name {
    Name {
        parent,
        name: name.to_owned(),
    }
}

fn gone() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOENT)
}
