//! How a branch gets from what it holds to what flash holds.
//!
//! What leaves a name is taken out of the tree first, the deepest first, and held aside under its
//! identity; then everything is put where it belongs, folders first. So names can be swapped, and a
//! folder goes with all that is in it without being copied. Either half can be repeated from its
//! start, however much of it was done.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::protocol::behind::Touched;
use crate::protocol::catalogue::{Catalogue, path};
use crate::protocol::node::{Expected, Kind, Name, Node, NodeId, OWNERS, ROOT};
use crate::text;

/// Take what a name stands for out of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    pub node: NodeId,
    #[serde(with = "text")]
    pub path: PathBuf,
    /// What is held aside is called so.
    pub held: String,
    /// What was left there.
    pub expected: Expected,
}

/// Where what is put comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A copy of the file on flash, made before.
    Copy,
    /// A new folder or symbolic link.
    Make,
    /// What was taken and held aside.
    Held(String),
    /// Another name of the same node.
    Link(#[serde(with = "text")] PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Put {
    pub node: NodeId,
    #[serde(with = "text")]
    pub path: PathBuf,
    pub source: Source,
    pub expected: Expected,
    /// The version of the same file that was left there.
    pub replaces: Option<Expected>,
}

/// Mode, owner and times of what is in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dress {
    #[serde(with = "text")]
    pub path: PathBuf,
    pub expected: Expected,
    /// What was left there, if not that.
    pub was: Option<Expected>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The branch then holds what was so after this record.
    pub to: u64,
    /// What it changes is kept as what stood there until this time, in microseconds since 1970; none
    /// on a branch that keeps nothing.
    #[serde(default)]
    pub history_us: Option<i64>,
    pub takes: Vec<Take>,
    pub puts: Vec<Put>,
    pub dresses: Vec<Dress>,
}

impl Plan {
    /// The plan for a branch that holds the touched nodes as they are there, and all others as in
    /// the catalogue.
    pub fn new(to: u64, catalogue: &Catalogue, touched: &Touched) -> Self {
        let mut planner = Planner {
            catalogue,
            touched,
            takes: Vec::new(),
            puts: Vec::new(),
            dressed: BTreeMap::new(),
        };
        for (&id, before) in touched {
            planner.add(id, before.as_ref());
        }
        let Planner {
            mut takes,
            mut puts,
            dressed,
            ..
        } = planner;
        takes.sort_by_key(|take| usize::MAX - depth(&take.path));
        puts.sort_by_key(|put| match put.expected.kind {
            Kind::Folder => depth(&put.path),
            _ => usize::MAX,
        });
        Self {
            to,
            history_us: None,
            takes,
            puts,
            dresses: dressed.into_values().rev().collect(),
        }
    }

    /// The files that must be copied from flash first.
    pub fn copies(&self) -> impl Iterator<Item = &Put> {
        let is_copy = |put: &&Put| put.source == Source::Copy;
        self.puts.iter().filter(is_copy)
    }
}

fn depth(path: &Path) -> usize {
    path.components().count()
}

struct Planner<'a> {
    catalogue: &'a Catalogue,
    touched: &'a Touched,
    takes: Vec<Take>,
    puts: Vec<Put>,
    /// In the order of the paths: what is in a folder comes after it.
    dressed: BTreeMap<PathBuf, Dress>,
}

impl Planner<'_> {
    fn add(&mut self, id: NodeId, before: Option<&Node>) {
        let after = self.catalogue.get(id);
        let none = BTreeSet::new();
        let old = before.map_or(&none, |node| &node.names);
        let new = after.map_or(&none, |node| &node.names);
        if let Some(before) = before {
            for (index, name) in old.difference(new).enumerate() {
                self.take(id, index, name, before);
            }
        }
        let Some(after) = after else { return };
        let is_new =
            before.is_none_or(|before| before.version != after.version && after.kind == Kind::File);
        let mut source = match (old.intersection(new).next(), &after.kind) {
            _ if is_new && after.kind == Kind::File => Source::Copy,
            _ if is_new => Source::Make,
            (Some(kept), _) => match self.catalogue.path_of(kept) {
                Some(path) => Source::Link(path),
                None => return,
            },
            (None, _) => Source::Held(held_name(id, 0)),
        };
        for name in new {
            let was_there = old.contains(name);
            let Some(path) = self.catalogue.path_of(name) else {
                continue;
            };
            self.dress(id, path.clone());
            let catalogue = self.catalogue;
            self.dress_closed(name.parent, |id| catalogue.get(id));
            if was_there && !is_new {
                continue;
            }
            self.dress_folder(name.parent);
            let link = Source::Link(path.clone());
            self.puts.push(Put {
                node: id,
                path,
                source: std::mem::replace(&mut source, link),
                expected: after.expected(),
                replaces: before.filter(|_| was_there).map(Node::expected),
            });
        }
    }

    fn take(&mut self, id: NodeId, index: usize, name: &Name, before: &Node) {
        let (touched, catalogue) = (self.touched, self.catalogue);
        let then = |id| match touched.get(&id) {
            Some(before) => before.as_ref(),
            None => catalogue.get(id),
        };
        // Without a path it was in a folder that the branch has lost.
        if let Some(path) = path(name, then) {
            self.takes.push(Take {
                node: id,
                path,
                held: held_name(id, index),
                expected: before.expected(),
            });
            self.dress_folder(name.parent);
            self.dress_closed(name.parent, then);
        }
    }

    /// A folder that is closed to its owner may have to be opened for what is done in it or below.
    fn dress_closed<'a>(&mut self, folder: NodeId, get: impl Fn(NodeId) -> Option<&'a Node>) {
        let mut folder = folder;
        while let Some(node) = get(folder).filter(|_| folder != ROOT) {
            let now = self.catalogue.get(folder);
            if now.is_some_and(|now| now.attributes.mode & OWNERS != OWNERS) {
                self.dress_folder(folder);
            }
            let Some(name) = node.names.first() else {
                return;
            };
            folder = name.parent;
        }
    }

    /// A folder whose entries change may have to be made writable for that.
    fn dress_folder(&mut self, id: NodeId) {
        if let Some(path) = self.catalogue.path(id) {
            self.dress(id, path);
        }
    }

    fn dress(&mut self, id: NodeId, path: PathBuf) {
        // The root of a branch is its owner's.
        let Some(after) = self.catalogue.get(id).filter(|_| id != ROOT) else {
            return;
        };
        let before = self.touched.get(&id).and_then(Option::as_ref);
        let dress = Dress {
            path: path.clone(),
            expected: after.expected(),
            was: before.map(Node::expected),
        };
        self.dressed.insert(path, dress);
    }
}

fn held_name(id: NodeId, index: usize) -> String {
    format!("{}-{index}", id.0)
}
