//! A folder whose files have recipes, as clients see it: with the files themselves.
//!
//! A file is written once, from its begin to its end, as every greenfs does it; it is finished when the
//! client asks for anything else, and is then replaced, not changed. Names, modes, owners and times are
//! those of the folder.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::path::Path;

use crate::branch::OWN;
use crate::branch::folder::Folder;
use crate::branch::store::{Store, copy_range};
use crate::pool::Pool;
use crate::pool::chunks::Fresh;
use crate::pool::closed;
use crate::pool::recipe::{self, Content, HEAD_B};
use crate::pool::tenants;
use crate::pool::writing::Writing;
use crate::protocol::{Attributes, Found, Kind};

pub struct Pooled<'a> {
    pub folder: Folder,
    pool: &'a Pool,
    writing: Option<Writing>,
    /// Chunks of finished files that are not durable yet.
    fresh: Fresh,
    /// Why a file that was written is not there.
    failed: Option<i32>,
    /// The recipe that was read last, with its first bytes.
    last: RefCell<Option<(Vec<u8>, Content)>>,
}

impl<'a> Pooled<'a> {
    pub fn new(folder: Folder, pool: &'a Pool) -> Self {
        Self {
            folder,
            pool,
            writing: None,
            fresh: Fresh::default(),
            failed: None,
            last: RefCell::default(),
        }
    }

    /// The file that is being written is finished; what comes next may be done.
    pub fn finish(&mut self) -> io::Result<()> {
        let Some(writing) = self.writing.take() else {
            return Ok(());
        };
        let path = writing.path.clone();
        let ended = writing.end(self.pool, &mut self.fresh);
        let written = ended.and_then(|recipe| match recipe.is_empty() {
            true => Ok(()),
            false => self.folder.fill(&path, &recipe),
        });
        written.inspect_err(|error| {
            // None is better than half of one.
            let _ = self.folder.truncate(&path, 0);
            self.failed = Some(code(error));
        })
    }

    fn change<R>(
        &mut self,
        paths: &[&Path],
        act: impl FnOnce(&mut Folder) -> io::Result<R>,
    ) -> io::Result<R> {
        self.finish()?;
        if paths.iter().any(|path| *path == tenants::mark()) {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        act(&mut self.folder)
    }

    /// What was said to be done is durable.
    fn settle(&mut self) -> io::Result<()> {
        self.finish()?;
        match self.failed {
            Some(code) => Err(io::Error::from_raw_os_error(code)),
            None => Ok(()),
        }
    }

    /// How large the file is whose recipe takes so many bytes.
    fn content_b(&self, path: &Path, recipe_b: u64) -> io::Result<u64> {
        let most_b = usize::try_from(recipe_b).map_err(io::Error::other)?;
        let recipe = closed::read(&self.folder, path, most_b)?;
        // No recipe is as large as its file: so what is damaged is not what anybody expects there.
        Ok(recipe::read(&recipe, self.pool.secret()).map_or(recipe_b, |content| content.size_b()))
    }
}

/// What a client is told.
fn code(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}

fn refused<R>() -> io::Result<R> {
    Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP))
}

impl Store for Pooled<'_> {
    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.folder.list(folder)
    }

    /// What a damaged recipe stands for has another size than it had.
    fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        let Some(mut found) = self.folder.look(path)? else {
            return Ok(None);
        };
        let size_b = &mut found.attributes.size;
        match &self.writing {
            Some(writing) if writing.path == path => *size_b = writing.size_b(),
            _ if found.kind == Kind::File && *size_b > 0 => {
                *size_b = match self.content_b(path, *size_b) {
                    // Another client has just removed it.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                    content_b => content_b?,
                };
            }
            _ => (),
        }
        Ok(Some(found))
    }

    fn read(&self, path: &Path, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
        if let Some(writing) = self.writing.as_ref().filter(|writing| writing.path == path) {
            return writing.read(offset, most_b, self.pool);
        }
        let head = self.folder.read(path, 0, HEAD_B)?;
        let mut last = self.last.borrow_mut();
        let content = match &mut *last {
            Some((known, content)) if *known == head => content,
            other => {
                let found = self.folder.look(path)?;
                let gone = || io::Error::from_raw_os_error(libc::ENOENT);
                let found = found.ok_or_else(gone)?;
                let recipe_b = usize::try_from(found.attributes.size).map_err(io::Error::other)?;
                let recipe = self.folder.read(path, 0, recipe_b)?;
                if recipe.is_empty() {
                    return Ok(Vec::new());
                }
                let content = recipe::read(&recipe, self.pool.secret())?;
                let head = recipe.into_iter().take(HEAD_B).collect();
                &mut other.insert((head, content)).1
            }
        };
        match content {
            Content::List(list) => list.read(offset, most_b, |part| self.pool.chunks.get(part)),
            Content::Data(data) => {
                let begin = usize::try_from(offset).map_or(data.len(), |at| at.min(data.len()));
                let end = data.len().min(begin.saturating_add(most_b));
                Ok(data[begin..end].to_vec())
            }
        }
    }

    fn create(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.change(&[path], |folder| folder.create(path, mode))?;
        let is_scratch = path.parent() == Some(Path::new(OWN));
        self.writing = Some(Writing::begin(path.to_owned(), is_scratch));
        Ok(())
    }

    fn write(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        if self
            .writing
            .as_ref()
            .is_none_or(|writing| writing.path != path)
        {
            self.change(&[path], |_| Ok(()))?;
            match self.folder.look(path)? {
                Some(found) if found.kind == Kind::File && found.attributes.size == 0 => {
                    let is_scratch = path.parent() == Some(Path::new(OWN));
                    self.writing = Some(Writing::begin(path.to_owned(), is_scratch));
                }
                Some(_) => return refused(),
                None => return Err(io::Error::from_raw_os_error(libc::ENOENT)),
            }
        }
        let Some(writing) = self.writing.as_mut().filter(|now| now.size_b() == offset) else {
            return refused();
        };
        let added = writing.add(data, self.pool, &mut self.fresh);
        added.inspect_err(|error| {
            self.writing = None;
            self.failed = Some(code(error));
        })
    }

    fn write_copy(&mut self, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write(path, offset, data)
    }

    /// Only what is empty may be emptied.
    fn truncate(&mut self, path: &Path, size_b: u64) -> io::Result<()> {
        self.change(&[path], |folder| match folder.look(path)? {
            Some(found) if found.attributes.size == 0 && size_b == 0 => folder.truncate(path, 0),
            Some(_) => refused(),
            None => Err(io::Error::from_raw_os_error(libc::ENOENT)),
        })
    }

    /// The chunks are read and cut anew: those that are whole in the range are there already.
    fn share(&mut self, from: &Path, to: &Path, range: Range<u64>) -> io::Result<bool> {
        copy_range(self, from, to, range).map(|()| true)
    }

    /// Only flash frees parts of files.
    fn punch(&mut self, _path: &Path, _range: Range<u64>) -> io::Result<()> {
        refused()
    }

    fn make_folder(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        self.change(&[path], |folder| folder.make_folder(path, mode))
    }

    fn symlink(&mut self, path: &Path, target: &OsStr) -> io::Result<()> {
        self.change(&[path], |folder| folder.symlink(path, target))
    }

    fn make_other(&mut self, path: &Path, mode: u32, device: u64) -> io::Result<()> {
        self.change(&[path], |folder| folder.make_other(path, mode, device))
    }

    fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(&[from, to], |folder| folder.link(from, to))
    }

    /// The mark stays where it is, so the folder that it lies in does.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        if [from, to].contains(&Path::new(OWN)) {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        self.change(&[from, to], |folder| folder.rename(from, to))
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.change(&[path], |folder| folder.remove_file(path))
    }

    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        self.change(&[path], |folder| folder.remove_folder(path))
    }

    fn dress(&mut self, path: &Path, attributes: &Attributes) -> io::Result<()> {
        self.change(&[path], |folder| folder.dress(path, attributes))
    }

    fn sync(&mut self, path: &Path) -> io::Result<()> {
        self.settle()?;
        self.pool.chunks.keep(&mut self.fresh)?;
        self.folder.sync(path)
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.settle()?;
        self.pool.chunks.keep(&mut self.fresh)?;
        self.folder.sync_all()
    }
}

impl Drop for Pooled<'_> {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.finish();
    }
}
