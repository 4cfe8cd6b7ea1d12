//! The folders of a branch, each held open while it is used, so that no link can lead elsewhere.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::sys;

/// Folders that are kept open, as they may be used again at once.
const KEPT_OPEN: usize = 4;

pub(super) struct Folders {
    pub root: File,
    /// Whether this process alone renames and removes them.
    pub are_own: bool,
    /// Where that is so, those that were used last, and their paths; the last one first.
    last: RefCell<Vec<(PathBuf, Arc<OwnedFd>)>>,
}

/// A name in a folder that is held open.
pub(super) struct Place {
    _folder: Arc<OwnedFd>,
    pub path: PathBuf,
}

impl Folders {
    pub fn below(root: File) -> Self {
        Self {
            root,
            are_own: false,
            last: RefCell::default(),
        }
    }

    /// The folder that a path is in, and its name there.
    pub fn above<'p>(&self, path: &'p Path) -> io::Result<(Arc<OwnedFd>, &'p OsStr)> {
        let parent = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name().unwrap_or(OsStr::new("."));
        let mut last = self.last.borrow_mut();
        if let Some(nth) = last.iter().position(|(path, _)| path == parent) {
            last[..=nth].rotate_right(1);
            return Ok((Arc::clone(&last[0].1), name));
        }
        let folder = Arc::new(sys::open_below(&self.root, parent)?);
        if self.are_own {
            last.truncate(KEPT_OPEN - 1);
            last.insert(0, (parent.to_owned(), Arc::clone(&folder)));
        }
        Ok((folder, name))
    }

    /// A path for calls that take no open folder.
    pub fn place(&self, path: &Path) -> io::Result<Place> {
        let (folder, name) = self.above(path)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
        Ok(Place {
            _folder: folder,
            path,
        })
    }

    /// Their names may stand for others from now on.
    pub fn forget(&mut self) {
        self.last.get_mut().clear();
    }
}
