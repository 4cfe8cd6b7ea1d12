//! A file, folder or symbolic link, with an identity that outlives its names.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text;

/// The identity of a node. It is never given to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u64);

/// The folder that holds everything.
pub const ROOT: NodeId = NodeId(1);

/// A branch that is brought up to what flash holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Remote,
    Disk,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Remote => "remote",
            Self::Disk => "disk",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    File,
    Folder,
    /// With what it points to.
    Symlink(#[serde(with = "text")] OsString),
    /// A device, a socket or a pipe: it stays on flash alone.
    Other,
}

/// The bits without which the owner of a folder cannot change what is in it.
pub const OWNERS: u32 = 0o700;

/// What a branch keeps of a node beside its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// Bytes of a file, else 0.
    pub size: u64,
    /// When the data of a file were changed, in nanoseconds since 1970, else 0: the times of
    /// folders and links are those of each branch.
    pub modified_ns: i64,
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Name {
    pub parent: NodeId,
    #[serde(with = "text")]
    pub name: OsString,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub kind: Kind,
    pub attributes: Attributes,
    /// A file may have several; the root has none.
    pub names: BTreeSet<Name>,
    /// The record that last changed the data.
    pub version: u64,
    /// On flash.
    pub inode: u64,
    /// When flash last changed the inode, in nanoseconds since 1970; 0 if that was too short ago
    /// for the time to tell further changes.
    pub changed_ns: i64,
}

/// What a branch has under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    pub kind: Kind,
    pub attributes: Attributes,
    pub inode: u64,
    pub changed_ns: i64,
}

/// What a branch should have under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    pub kind: Kind,
    pub attributes: Attributes,
}

impl Expected {
    /// Whether the data are as they should be, by their size and time.
    pub fn is(&self, found: &Found) -> bool {
        let (own, its) = (&self.attributes, &found.attributes);
        self.kind == found.kind && own.size == its.size && own.modified_ns == its.modified_ns
    }
}

impl Node {
    /// A node as it was found, without its names.
    pub fn new(found: Found, version: u64) -> Self {
        Self {
            kind: found.kind,
            attributes: found.attributes,
            names: BTreeSet::new(),
            version,
            inode: found.inode,
            changed_ns: found.changed_ns,
        }
    }

    /// Whether size and time do not tell two states of a file from one another.
    pub fn is_alike(&self, other: &Self) -> bool {
        let told = |node: &Self| (node.attributes.size, node.attributes.modified_ns);
        self.kind == Kind::File && other.kind == Kind::File && told(self) == told(other)
    }

    /// Whether two states of a node are one to the other branches.
    pub fn is_same_elsewhere(one: Option<&Self>, other: Option<&Self>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => {
                one.kind == other.kind
                    && one.attributes == other.attributes
                    && one.names == other.names
                    && one.version == other.version
            }
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    pub fn expected(&self) -> Expected {
        Expected {
            kind: self.kind.clone(),
            attributes: self.attributes,
        }
    }
}
