//! What a tree is made of: directories, files and leaf directories.

use super::name::{self, Name};

/// A file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    pub size_b: u64,
    pub directory: u32,
    /// Whether it exists when a run begins.
    pub preallocated: bool,
}

/// An empty directory, which flowops make and remove.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leafdir {
    pub directory: u32,
    /// Whether it exists when a run begins.
    pub preallocated: bool,
}

/// What stands in a directory, numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// It is no directory but a block device, and the only file.
    Device,
    Directories,
    /// From this entry on.
    Files(u32),
    /// From this leaf directory on.
    Leafdirs(u32),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Directory {
    /// In its parent; the root has another.
    pub name: Name,
    /// Itself, for the root.
    pub parent: u32,
    /// Directories above it.
    pub level: u32,
    pub content: Content,
    pub children: u32,
}

impl Directory {
    pub fn new(parent: u32, number: u32, level: u32, content: Content) -> Self {
        Self {
            name: name::of(number),
            parent,
            level,
            content,
            children: 0,
        }
    }
}
