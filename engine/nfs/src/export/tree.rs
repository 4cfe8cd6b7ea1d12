//! Files by their handles.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::lock::locked;
use crate::protocol::nfs3::{NAME_MOST_B, Status};
use crate::protocol::xdr::Reader;
use crate::sys;

/// A file, as the kernel knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id {
    device: u64,
    pub inode: u64,
}

impl Id {
    pub fn of(file: &Metadata) -> Self {
        Self {
            device: file.dev(),
            inode: file.ino(),
        }
    }
}

/// Where a file was found.
#[derive(Clone, Debug)]
struct Place {
    folder: Id,
    name: CString,
}

/// All files that clients were told of. A handle holds while the server runs and the file stays
/// where it was found: it is opened by its way from the root, and never through a symbolic link.
#[derive(Debug)]
pub struct Tree {
    folder: File,
    root: Id,
    places: Mutex<HashMap<Id, Place>>,
    /// In every handle: those of a server that ran before are stale.
    started: u64,
}

pub const HANDLE_B: usize = 24;

impl Tree {
    pub fn new(folder: &Path) -> io::Result<Self> {
        let folder = File::open(folder)?;
        let found = folder.metadata()?;
        if !found.is_dir() {
            return Err(io::Error::from_raw_os_error(libc::ENOTDIR));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(Self {
            folder,
            root: Id::of(&found),
            places: Mutex::default(),
            started: now.unwrap_or_default().as_nanos() as u64,
        })
    }

    pub fn root(&self) -> Id {
        self.root
    }

    pub fn handle(&self, of: Id) -> [u8; HANDLE_B] {
        let mut handle = [0; HANDLE_B];
        let parts = [self.started, of.device, of.inode];
        for (bytes, part) in handle.chunks_exact_mut(8).zip(parts) {
            bytes.copy_from_slice(&part.to_be_bytes());
        }
        handle
    }

    pub fn id(&self, handle: &[u8]) -> Result<Id, Status> {
        let handle: [u8; HANDLE_B] = handle.try_into().map_err(|_| Status::BadHandle)?;
        let mut parts = Reader::new(&handle);
        match [(); 3].map(|()| parts.hyper()) {
            [Some(started), Some(device), Some(inode)] if started == self.started => {
                Ok(Id { device, inode })
            }
            _ => Err(Status::Stale),
        }
    }

    /// Open a file, for its data or its attributes alone (`O_PATH`).
    pub fn open(&self, id: Id, flags: libc::c_int) -> Result<File, Status> {
        let opened = self
            .open_by_way(id, flags)
            .map_err(|error| match error.raw_os_error() {
                Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP) => Status::Stale,
                _ => error.into(),
            })?;
        match Id::of(&opened.metadata()?) == id {
            true => Ok(opened),
            false => Err(Status::Stale),
        }
    }

    fn open_by_way(&self, id: Id, flags: libc::c_int) -> io::Result<File> {
        let way = self.way(id)?;
        let Some((last, folders)) = way.split_last() else {
            return sys::open_at(&self.folder, c".", flags);
        };
        let mut folder = None;
        for name in folders {
            let within = folder.as_ref().unwrap_or(&self.folder);
            folder = Some(sys::open_at(
                within,
                name,
                libc::O_PATH | libc::O_DIRECTORY,
            )?);
        }
        sys::open_at(folder.as_ref().unwrap_or(&self.folder), last, flags)
    }

    /// The names from the root to a file.
    fn way(&self, id: Id) -> io::Result<Vec<CString>> {
        let places = locked(&self.places);
        let (mut way, mut at) = (Vec::new(), id);
        while at != self.root {
            // Folders that were moved into each other meanwhile lead in a circle.
            let place = places.get(&at).filter(|_| way.len() <= places.len());
            let place = place.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))?;
            way.push(place.name.clone());
            at = place.folder;
        }
        way.reverse();
        Ok(way)
    }

    pub fn metadata(&self, id: Id) -> Result<Metadata, Status> {
        Ok(self.open(id, libc::O_PATH)?.metadata()?)
    }

    /// Find a name in a folder. What is above the root is the root.
    pub fn look_up(&self, folder: Id, name: &[u8]) -> Result<Metadata, Status> {
        let within = self.open(folder, libc::O_PATH)?;
        if !within.metadata()?.is_dir() {
            return Err(Status::NotDirectory);
        }
        match name {
            b"." => Ok(within.metadata()?),
            b".." => self.metadata(self.above(folder)),
            _ if name.len() > NAME_MOST_B => Err(Status::NameTooLong),
            _ if name.is_empty() || name.contains(&b'/') => Err(Status::NoAccess),
            _ => {
                let name = CString::new(name).map_err(|_| Status::Invalid)?;
                let found = sys::open_at(&within, &name, libc::O_PATH)?.metadata()?;
                locked(&self.places).insert(Id::of(&found), Place { folder, name });
                Ok(found)
            }
        }
    }

    fn above(&self, folder: Id) -> Id {
        let places = locked(&self.places);
        places.get(&folder).map_or(self.root, |place| place.folder)
    }
}
