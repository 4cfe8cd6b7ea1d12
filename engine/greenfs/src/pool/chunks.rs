//! The chunks as they lie in a pool: each a file that is called by its identifier.
//!
//! A new one lies in `fresh` until it is durable; what lies in `chunks` is. So a chunk that is there is
//! believed, and a power cut leaves none that is there in part.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::pool::recipe::{Broken, Part};
use crate::pool::secret::{Id, Secret};
use crate::sys;

pub const CHUNKS: &str = "chunks";
pub const FRESH: &str = "fresh";

/// A client has so many chunks at most that are not durable yet: about 256 MiB.
const FRESH_MOST: usize = 1 << 12;

/// The chunks of a client that are not durable yet.
#[derive(Default)]
pub struct Fresh {
    ids: HashSet<Id>,
    /// The pool, opened before they were written: who opens it later may not be told that a write failed.
    disk: Option<File>,
}

pub struct Chunks {
    root: PathBuf,
    secret: Secret,
}

impl Chunks {
    pub fn new(root: PathBuf, secret: Secret) -> Self {
        Self { root, secret }
    }

    /// Make the folders of a new pool.
    pub fn make(root: &Path) -> io::Result<()> {
        let mut folder = DirBuilder::new();
        folder.recursive(true).mode(0o700);
        folder.create(root.join(FRESH))?;
        (0..=u8::MAX)
            .try_for_each(|first| folder.create(root.join(CHUNKS).join(format!("{first:02x}"))))
    }

    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    fn place(&self, id: &Id) -> PathBuf {
        let name = id.to_string();
        self.root.join(CHUNKS).join(&name[..2]).join(name)
    }

    fn fresh(&self, id: &Id) -> PathBuf {
        self.root.join(FRESH).join(id.to_string())
    }

    /// See that a chunk with these data is there. It comes among the fresh ones if it is not durable yet;
    /// where those are many, all are made so.
    pub fn put(&self, data: &[u8], fresh: &mut Fresh) -> io::Result<Part> {
        let id = self.secret.id(data);
        let size_b = u32::try_from(data.len()).map_err(io::Error::other)?;
        let part = Part { id, size_b };
        if fresh.ids.contains(&id) || self.has(&part)? {
            return Ok(part);
        }
        if fresh.ids.len() >= FRESH_MOST {
            self.keep(fresh)?;
        }
        if fresh.disk.is_none() {
            fresh.disk = Some(File::open(&self.root)?);
        }
        let sealed = self.secret.seal(&id, data)?;
        let place = self.fresh(&id);
        loop {
            if self.has(&part)? {
                return Ok(part);
            }
            match fs::read(&place) {
                // Another client has it from now, or had it when its server was killed.
                Ok(there) if there == sealed => break,
                Ok(_) => remove(&place)?,
                Err(error) if is_missing(&error) => (),
                Err(error) => return Err(error),
            }
            match self.write(&sealed, &place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
                written => break written?,
            }
        }
        fresh.ids.insert(id);
        Ok(part)
    }

    /// Whether a chunk of this size is there that is durable.
    fn has(&self, part: &Part) -> io::Result<bool> {
        match fs::symlink_metadata(self.place(&part.id)) {
            Ok(found) => Ok(found.len() == self.secret.sealed_b(part.size_b.into())),
            Err(error) if is_missing(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A file that has no name yet, so that nothing is left of one that is not whole.
    ///
    /// # Errors
    /// If the file system has no such files, as NFS.
    pub fn temporary(&self) -> io::Result<File> {
        OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_TMPFILE)
            .mode(0o600)
            .open(self.root.join(FRESH))
    }

    fn write(&self, bytes: &[u8], place: &Path) -> io::Result<()> {
        let mut file = self.temporary()?;
        file.write_all(bytes)?;
        sys::link_node(&file, place)
    }

    /// The data of a chunk.
    ///
    /// # Errors
    /// If it is missing, or not as it was written.
    pub fn get(&self, part: &Part) -> io::Result<Vec<u8>> {
        let mut read = self.open(&part.id, &self.place(&part.id));
        // One that is becoming durable is in the first place once it has left the second.
        for place in [self.fresh(&part.id), self.place(&part.id)] {
            if read.as_ref().is_err_and(is_missing) {
                read = self.open(&part.id, &place);
            }
        }
        match read {
            Err(error) if is_missing(&error) => Err(Broken::Missing(part.id).into()),
            Ok(data) if data.len() != part.size_b as usize => Err(Broken::Chunk(part.id).into()),
            read => read,
        }
    }

    /// Make chunks durable, and have them believed.
    ///
    /// # Errors
    /// If the disk did not take all. They are removed then: the kernel takes for written what it has once
    /// failed to write.
    pub fn keep(&self, fresh: &mut Fresh) -> io::Result<()> {
        let Some(disk) = fresh.disk.as_ref().filter(|_| !fresh.ids.is_empty()) else {
            return Ok(());
        };
        let synced = sys::sync_file_system(disk);
        for id in fresh.ids.drain() {
            match &synced {
                Ok(()) => self.believe(&id)?,
                Err(_) => remove(&self.fresh(&id))?,
            }
        }
        synced
    }

    /// Have a chunk believed that is durable.
    fn believe(&self, id: &Id) -> io::Result<()> {
        let (new, place) = (self.fresh(id), self.place(id));
        let size_b = |file: &Path| fs::symlink_metadata(file).map(|found| found.len());
        match sys::rename_to_free(&new, &place) {
            // Another client came first. What is here now may have come since, and not be durable: it takes
            // the place of a damaged one only.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match size_b(&new)? == size_b(&place)? {
                    true => remove(&new),
                    false => fs::rename(&new, &place),
                }
            }
            Err(error) if is_missing(&error) && place.exists() => Ok(()),
            renamed => renamed,
        }
    }

    /// See what became of chunks that were not durable when the last server ended. Nobody else uses the
    /// pool.
    pub fn recover(&self) -> io::Result<()> {
        let mut whole = Fresh {
            ids: HashSet::new(),
            disk: Some(File::open(&self.root)?),
        };
        for entry in fs::read_dir(self.root.join(FRESH))? {
            let place = entry?.path();
            let Some(id) = id_of(&place) else { continue };
            match self.open(&id, &place) {
                Ok(_) => drop(whole.ids.insert(id)),
                Err(_) => remove(&place)?,
            }
        }
        self.keep(&mut whole)
    }

    /// Do something with every chunk that is there: its identifier, where it lies, and its bytes there.
    pub fn each(&self, mut act: impl FnMut(Id, &Path, u64) -> io::Result<()>) -> io::Result<()> {
        let mut folders = vec![self.root.join(FRESH)];
        for entry in fs::read_dir(self.root.join(CHUNKS))? {
            folders.push(entry?.path());
        }
        for folder in folders {
            for entry in fs::read_dir(folder)? {
                let place = entry?.path();
                let Some(id) = id_of(&place) else { continue };
                match fs::symlink_metadata(&place) {
                    Err(error) if is_missing(&error) => (),
                    found => act(id, &place, found?.size())?,
                }
            }
        }
        Ok(())
    }

    /// The data of a chunk of any size, from where it lies.
    ///
    /// # Errors
    /// If it cannot be read, or is not as it was written.
    pub fn open(&self, id: &Id, place: &Path) -> io::Result<Vec<u8>> {
        let data = self.secret.open(id, fs::read(place)?);
        data.ok_or_else(|| Broken::Chunk(*id).into())
    }
}

fn id_of(place: &Path) -> Option<Id> {
    Id::read(place.file_name()?.to_str()?)
}

fn remove(place: &Path) -> io::Result<()> {
    match fs::remove_file(place) {
        Err(error) if is_missing(&error) => Ok(()),
        removed => removed,
    }
}

fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}
