//! What programs do. Each operation is done on flash first, and then written down; an operation that
//! was not written down is found when the volume is opened.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::branch::OWN;
use crate::branch::store::Store;
use crate::protocol::{Attributes, Change, Name, Node, NodeId, ROOT, Role};
use crate::volume::base::Volume;

type Changed = (NodeId, Option<Node>);

impl<S: Store> Volume<S> {
    /// The node that a name in a folder stands for.
    pub fn lookup(&self, parent: NodeId, name: &OsStr) -> Option<NodeId> {
        self.state.catalogue.child(parent, name)
    }

    pub fn create(&mut self, parent: NodeId, name: &OsStr, mode: u32) -> io::Result<NodeId> {
        let path = self.free(parent, name)?;
        self.flash.create(&path, mode)?;
        self.made(parent, name, &path)
    }

    pub fn make_folder(&mut self, parent: NodeId, name: &OsStr, mode: u32) -> io::Result<NodeId> {
        let path = self.free(parent, name)?;
        self.flash.make_folder(&path, mode)?;
        self.made(parent, name, &path)
    }

    pub fn symlink(&mut self, parent: NodeId, name: &OsStr, target: &OsStr) -> io::Result<NodeId> {
        let path = self.free(parent, name)?;
        self.flash.symlink(&path, target)?;
        self.made(parent, name, &path)
    }

    pub fn link(&mut self, id: NodeId, parent: NodeId, name: &OsStr) -> io::Result<()> {
        let path = self.free(parent, name)?;
        self.flash.link(&self.path(id)?, &path)?;
        let mut node = self.node(id)?.clone();
        node.names.insert(entry(parent, name));
        self.refresh(&mut node, &path)?;
        self.record(Change::Nodes(vec![(id, Some(node))]))
    }

    pub fn unlink(&mut self, parent: NodeId, name: &OsStr) -> io::Result<()> {
        let (id, path) = self.existing(parent, name)?;
        self.flash.remove_file(&path)?;
        let changed = self.without(id, &entry(parent, name))?;
        self.record(Change::Nodes(vec![changed]))
    }

    pub fn remove_folder(&mut self, parent: NodeId, name: &OsStr) -> io::Result<()> {
        let (id, path) = self.existing(parent, name)?;
        self.flash.remove_folder(&path)?;
        self.record(Change::Nodes(vec![(id, None)]))
    }

    /// Give what has one name another one; what had that is replaced, as rename(2) has it.
    pub fn rename(&mut self, from: (NodeId, &OsStr), to: (NodeId, &OsStr)) -> io::Result<()> {
        let (id, old_path) = self.existing(from.0, from.1)?;
        let new_path = self.place(to.0, to.1)?;
        let replaced = self.lookup(to.0, to.1);
        self.flash.rename(&old_path, &new_path)?;
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
        self.record(Change::Nodes(changes))
    }

    pub fn read(&self, id: NodeId, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
        self.flash.read(&self.path(id)?, offset, most_b)
    }

    pub fn write(&mut self, id: NodeId, offset: u64, data: &[u8]) -> io::Result<()> {
        let path = self.path(id)?;
        self.begin_writing(id)?;
        self.flash.write(&path, offset, data)
    }

    pub fn truncate(&mut self, id: NodeId, size_b: u64) -> io::Result<()> {
        let path = self.path(id)?;
        self.begin_writing(id)?;
        self.flash.truncate(&path, size_b)
    }

    /// Set mode, owner and time of change.
    pub fn dress(&mut self, id: NodeId, attributes: &Attributes) -> io::Result<()> {
        let path = self.path(id)?;
        self.flash.dress(&path, attributes)?;
        let mut node = self.node(id)?.clone();
        self.refresh(&mut node, &path)?;
        self.record(Change::Nodes(vec![(id, Some(node))]))
    }

    /// Make a file or folder durable on flash, and on every branch that is connected. A branch that
    /// fails meanwhile is disconnected: flash has it all.
    pub fn fsync(&mut self, id: NodeId) -> io::Result<()> {
        self.node(id)?;
        self.flash.sync_all()?;
        let roles: Vec<Role> = self.branches.keys().copied().collect();
        for role in roles {
            if let Err(fault) = self.push(role) {
                if self.branch(role).is_some() {
                    return Err(io::Error::other(fault.to_string()));
                }
            }
        }
        Ok(())
    }

    /// Write down that a file changes, before it does.
    fn begin_writing(&mut self, id: NodeId) -> io::Result<()> {
        if self.written.contains(&id) {
            return Ok(());
        }
        let mut node = self.node(id)?.clone();
        node.version = self.state.seq + 1;
        self.record(Change::Nodes(vec![(id, Some(node))]))?;
        self.written.insert(id);
        Ok(())
    }

    fn made(&mut self, parent: NodeId, name: &OsStr, path: &Path) -> io::Result<NodeId> {
        let found = self.flash.look(path)?.ok_or_else(gone)?;
        let id = NodeId(self.state.next_node);
        let node = Node {
            kind: found.kind,
            attributes: found.attributes,
            names: BTreeSet::from([entry(parent, name)]),
            version: self.state.seq + 1,
            inode: found.inode,
            changed_ns: found.changed_ns,
        };
        self.record(Change::Nodes(vec![(id, Some(node))]))?;
        Ok(id)
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
        let found = self.flash.look(path)?.ok_or_else(gone)?;
        node.attributes = found.attributes;
        node.changed_ns = found.changed_ns;
        Ok(())
    }

    fn node(&self, id: NodeId) -> io::Result<&Node> {
        self.state.catalogue.get(id).ok_or_else(gone)
    }

    fn path(&self, id: NodeId) -> io::Result<PathBuf> {
        self.state.catalogue.path(id).ok_or_else(gone)
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
        let id = self.lookup(parent, name).ok_or_else(gone)?;
        Ok((id, self.place(parent, name)?))
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
