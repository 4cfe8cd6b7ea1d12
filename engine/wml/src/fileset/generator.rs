//! Draws the directories of a fileset.

use super::nodes::{Content, Directory, Entry, Leafdir};
use crate::failure::Failure;
use crate::model::Fileset;
use crate::random::{Amount, Distribution, Shape, Stream};

/// What is put into the leaves.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Files,
    Leafdirs,
}

#[derive(Default)]
pub struct Tree {
    pub directories: Vec<Directory>,
    pub entries: Vec<Entry>,
    pub leafdirs: Vec<Leafdir>,
}

pub struct Generator<'a> {
    fileset: &'a Fileset,
    stream: Stream,
    mean_depth: f64,
    depth: Option<Distribution>,
    /// The deepest level that a directory may have.
    deepest: u32,
    tree: Tree,
}

impl<'a> Generator<'a> {
    pub fn new(fileset: &'a Fileset, stream: Stream, deepest: u32) -> Self {
        let (count, width) = (fileset.entries + fileset.leafdirs, fileset.dirwidth.mean());
        // Directories of one file each stand side by side.
        let mean_depth = match width {
            ..=1.0 => 0.0,
            _ => (count as f64).ln() / width.ln(),
        };
        Self {
            fileset,
            stream,
            mean_depth,
            depth: fileset.dirdepth.clone().map(|distribution| Distribution {
                mean: mean_depth,
                ..distribution
            }),
            deepest,
            tree: Tree {
                entries: Vec::with_capacity(fileset.entries as usize),
                ..Tree::default()
            },
        }
    }

    pub fn tree(mut self) -> Result<Tree, Failure> {
        let root = Directory::new(0, 0, 0, Content::Directories);
        self.tree.directories.push(root);
        for kind in [Kind::Files, Kind::Leafdirs] {
            while !self.is_complete(kind) {
                self.directory(0, 1, kind)?;
            }
        }
        self.tree.directories.shrink_to_fit();
        Ok(self.tree)
    }

    fn is_complete(&self, kind: Kind) -> bool {
        match kind {
            Kind::Files => self.tree.entries.len() as u64 >= self.fileset.entries,
            Kind::Leafdirs => self.tree.leafdirs.len() as u64 >= self.fileset.leafdirs,
        }
    }

    fn gamma(&mut self, mean: f64) -> f64 {
        let shape = Shape::Gamma(self.fileset.dirgamma);
        Distribution {
            shape,
            mean,
            ..Distribution::default()
        }
        .sample(&mut self.stream)
    }

    fn depth(&mut self) -> u32 {
        let depth = match &self.depth {
            Some(depth) => depth.sample(&mut self.stream),
            None if self.fileset.dirgamma > 0.0 && self.mean_depth > 0.0 => {
                self.gamma(self.mean_depth)
            }
            None => self.mean_depth,
        };
        (depth as u32).max(1)
    }

    fn width(&mut self) -> u32 {
        let width = match &self.fileset.dirwidth {
            Amount::Fixed(mean) if self.fileset.dirgamma > 0.0 && *mean > 1.0 => self.gamma(*mean),
            width => width.draw_exact(&mut self.stream),
        };
        (width.ceil() as u32).max(1)
    }

    /// Add a directory with all that is in it.
    fn directory(&mut self, parent: u32, level: u32, kind: Kind) -> Result<(), Failure> {
        if level > self.deepest {
            let name = &self.fileset.name;
            let message = format!("the directories of fileset {name} are too deep for a path");
            return Err(Failure::new(
                message,
                "choose a larger dirwidth or dirgamma",
            ));
        }
        let own = self.tree.directories.len() as u32;
        let above = &mut self.tree.directories[parent as usize];
        above.children += 1;
        let number = above.children;
        let is_leaf = level >= self.depth();
        let content = match kind {
            _ if !is_leaf => Content::Directories,
            Kind::Files => Content::Files(self.tree.entries.len() as u32),
            Kind::Leafdirs => Content::Leafdirs(self.tree.leafdirs.len() as u32),
        };
        let directory = Directory::new(parent, number, level, content);
        self.tree.directories.push(directory);
        for _ in 0..self.width() {
            if self.is_complete(kind) {
                break;
            }
            if is_leaf {
                self.leaf(own, kind);
            } else {
                self.directory(own, level + 1, kind)?;
            }
        }
        Ok(())
    }

    /// Add a file or an empty directory.
    fn leaf(&mut self, directory: u32, kind: Kind) {
        let preallocated = false;
        match kind {
            Kind::Files => self.tree.entries.push(Entry {
                size_b: 0,
                directory,
                preallocated,
            }),
            Kind::Leafdirs => self.tree.leafdirs.push(Leafdir {
                directory,
                preallocated,
            }),
        }
        self.tree.directories[directory as usize].children += 1;
    }
}
