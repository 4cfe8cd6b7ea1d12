//! The folder that is served, for one client: with plain files, or with files whose data are in a pool.

use std::io;

use crate::branch::folder::Folder;
use crate::branch::store::Store;
use crate::pool::pooled::Pooled;

pub enum Tree<'a> {
    Plain(Folder),
    Pooled(Box<Pooled<'a>>),
}

impl Tree<'_> {
    /// The folder itself, with all that is in it as it lies there.
    pub fn folder(&self) -> &Folder {
        match self {
            Self::Plain(folder) => folder,
            Self::Pooled(pooled) => &pooled.folder,
        }
    }

    pub fn store(&self) -> &dyn Store {
        match self {
            Self::Plain(folder) => folder,
            Self::Pooled(pooled) => pooled.as_ref(),
        }
    }

    pub fn store_mut(&mut self) -> &mut dyn Store {
        match self {
            Self::Plain(folder) => folder,
            Self::Pooled(pooled) => pooled.as_mut(),
        }
    }

    /// What a client has written so far lies in the folder.
    pub fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Pooled(pooled) => pooled.finish(),
        }
    }
}
