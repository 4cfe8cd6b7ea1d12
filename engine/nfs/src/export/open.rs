//! Files that stay open from one request to the next.

use std::collections::HashMap;
use std::fs::File;
use std::sync::{Arc, Mutex};

use super::tree::{Id, Tree};
use super::windows::Windows;
use crate::lock::locked;
use crate::protocol::nfs3::Status;
use crate::sys;

/// So many files stay open; the one that was not read for longest is closed for another.
pub const MOST_OPEN: usize = 256;

/// An open file, of which the kernel reads nothing ahead by itself.
#[derive(Debug)]
pub struct OpenFile {
    pub file: File,
    pub windows: Mutex<Windows>,
}

#[derive(Debug, Default)]
pub struct OpenFiles(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    files: HashMap<Id, (u64, Arc<OpenFile>)>,
    uses: u64,
}

impl OpenFiles {
    pub fn get(&self, id: Id, tree: &Tree) -> Result<Arc<OpenFile>, Status> {
        if let Some(open) = locked(&self.0).used(id) {
            return Ok(open);
        }
        let found = tree.metadata(id)?;
        if !found.is_file() {
            let is_folder = found.is_dir();
            return Err(if is_folder {
                Status::IsDirectory
            } else {
                Status::Invalid
            });
        }
        let file = tree.open(id, libc::O_RDONLY)?;
        sys::advise(&file, 0, 0, libc::POSIX_FADV_RANDOM)?;
        let windows = Mutex::default();
        let open = Arc::new(OpenFile { file, windows });
        Ok(locked(&self.0).hold(id, open))
    }
}

impl Held {
    fn used(&mut self, id: Id) -> Option<Arc<OpenFile>> {
        self.uses += 1;
        let (used, open) = self.files.get_mut(&id)?;
        *used = self.uses;
        Some(Arc::clone(open))
    }

    /// Another thread may have opened it meanwhile: then that one stays.
    fn hold(&mut self, id: Id, open: Arc<OpenFile>) -> Arc<OpenFile> {
        if !self.files.contains_key(&id) && self.files.len() == MOST_OPEN {
            let oldest = self.files.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(&oldest) = oldest.map(|(id, _)| id) {
                self.files.remove(&oldest);
            }
        }
        self.uses += 1;
        let (_, open) = self.files.entry(id).or_insert((self.uses, open));
        Arc::clone(open)
    }
}
