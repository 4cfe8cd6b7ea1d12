//! All nodes of a volume, by identity and by name.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::protocol::node::{Kind, Name, Node, NodeId, ROOT};

/// Folders in one another; more are a circle.
const DEPTH_MOST: usize = 100_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    nodes: BTreeMap<NodeId, Node>,
    children: BTreeMap<NodeId, BTreeMap<OsString, NodeId>>,
    inodes: HashMap<u64, NodeId>,
}

impl Catalogue {
    pub fn of(nodes: BTreeMap<NodeId, Node>) -> Self {
        let mut catalogue = Self::default();
        for (id, node) in nodes {
            catalogue.set(id, Some(node));
        }
        catalogue
    }

    pub fn nodes(&self) -> &BTreeMap<NodeId, Node> {
        &self.nodes
    }

    pub fn get(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(&id)
    }

    pub fn child(&self, parent: NodeId, name: &OsStr) -> Option<NodeId> {
        self.children.get(&parent)?.get(name).copied()
    }

    /// What a folder holds, in the order of the names.
    pub fn children(&self, parent: NodeId) -> impl Iterator<Item = (&OsString, NodeId)> {
        let children = self.children.get(&parent).into_iter().flatten();
        children.map(|(name, id)| (name, *id))
    }

    pub fn by_inode(&self, inode: u64) -> Option<NodeId> {
        self.inodes.get(&inode).copied()
    }

    /// Put another state of a node in the place of its own, which is returned.
    pub fn set(&mut self, id: NodeId, node: Option<Node>) -> Option<Node> {
        let before = self.nodes.remove(&id);
        if let Some(before) = &before {
            for name in &before.names {
                if self.child(name.parent, &name.name) == Some(id) {
                    let siblings = self.children.entry(name.parent).or_default();
                    siblings.remove(&name.name);
                    if siblings.is_empty() {
                        self.children.remove(&name.parent);
                    }
                }
            }
            if self.by_inode(before.inode) == Some(id) {
                self.inodes.remove(&before.inode);
            }
        }
        if let Some(node) = node {
            for Name { parent, name } in &node.names {
                let siblings = self.children.entry(*parent).or_default();
                siblings.insert(name.clone(), id);
            }
            self.inodes.insert(node.inode, id);
            self.nodes.insert(id, node);
        }
        before
    }

    /// A path to a node from the root; none if it is not there.
    pub fn path(&self, id: NodeId) -> Option<PathBuf> {
        match self.get(id)?.names.first() {
            Some(name) => self.path_of(name),
            None => (id == ROOT).then(PathBuf::new),
        }
    }

    /// The path that a name stands for.
    pub fn path_of(&self, name: &Name) -> Option<PathBuf> {
        path(name, |id| self.get(id))
    }

    /// Whether everything has a place, and no two have the same.
    ///
    /// # Errors
    /// Says which node has none.
    pub fn check(&self) -> Result<(), String> {
        if self.get(ROOT).is_none_or(|root| root.kind != Kind::Folder) {
            return Err("there is no root".into());
        }
        for (&id, node) in &self.nodes {
            let wrong = |why: &str| Err(format!("node {}: {why}", id.0));
            if (id == ROOT) != node.names.is_empty() {
                return wrong("the root alone has no name");
            }
            if node.names.len() > 1 && node.kind == Kind::Folder {
                return wrong("a folder has one name");
            }
            for name in &node.names {
                let parent = self.get(name.parent);
                if parent.is_none_or(|parent| parent.kind != Kind::Folder) {
                    return wrong("it is in no folder");
                }
                if !is_name(&name.name) {
                    return wrong("its name is none");
                }
                if self.child(name.parent, &name.name) != Some(id) {
                    return wrong("another node has its name");
                }
                if self.path_of(name).is_none() {
                    return wrong("it is in a circle");
                }
            }
        }
        Ok(())
    }
}

/// Whether a name can stand in a folder.
fn is_name(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    !matches!(bytes, b"" | b"." | b"..") && !bytes.contains(&b'/') && !bytes.contains(&0)
}

/// The path of a name in the tree whose nodes `get` knows.
pub fn path<'a>(name: &'a Name, get: impl Fn(NodeId) -> Option<&'a Node>) -> Option<PathBuf> {
    let mut parts = vec![&name.name];
    let mut folder = name.parent;
    while folder != ROOT {
        let above = get(folder)?.names.first()?;
        parts.push(&above.name);
        folder = above.parent;
        if parts.len() > DEPTH_MOST {
            return None;
        }
    }
    Some(parts.into_iter().rev().collect())
}
