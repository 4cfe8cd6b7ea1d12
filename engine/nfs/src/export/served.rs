//! A folder that is served.

use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;

use readahead::Settings;

use super::ahead::{Ahead, Summary};
use super::open::OpenFiles;
use super::tree::Tree;
use crate::fault::Fault;

/// Who asked, and how.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub peer: SocketAddr,
    /// The most bytes of data in a reply.
    pub most_b: u32,
    /// The same message came before, and is no read of its own.
    pub is_repeated: bool,
}

/// A folder that is served, read-only.
#[derive(Debug)]
pub struct Export {
    pub(super) tree: Tree,
    pub(super) open: OpenFiles,
    pub(super) ahead: Ahead,
}

impl Export {
    /// # Errors
    /// If the folder cannot be opened, or a number of the settings is out of its bounds.
    pub fn new(folder: &Path, settings: &Settings, log: Option<File>) -> Result<Self, Fault> {
        let wrong = |what| Fault::new(what, "settings of read-ahead", "fsgreen-nfs serve --help");
        Ok(Self {
            tree: Tree::new(folder)
                .map_err(|error| Fault::of(folder.display(), &error, "name a folder"))?,
            open: OpenFiles::default(),
            ahead: Ahead::new(settings.read_ahead().map_err(wrong)?, log),
        })
    }

    /// What was done so far. What is to be logged is in the log then.
    pub fn summary(&self) -> Summary {
        self.ahead.summary()
    }
}
