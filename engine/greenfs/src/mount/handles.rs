//! Files and folders that programs have open.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, MutexGuard};

use fuser::{BackingId, FileType};

use crate::branch::folder::read_at;
use crate::mount::errors::error;
use crate::protocol::NodeId;

/// What a folder held when it was begun to be read.
pub type Listing = Arc<Vec<(OsString, NodeId, FileType)>>;

pub struct Open {
    pub id: NodeId,
    pub file: File,
    /// Whether programs can write to it.
    pub is_for_writing: bool,
    /// Whether they can do so through memory that they share.
    pub is_read_write: bool,
    /// Whether it was not whole when it was opened.
    pub is_part: bool,
    /// Whether each write to it is durable when it ends.
    pub is_synchronous: bool,
    /// Whether the file system below notes no reads of it, and that is done when it is closed.
    pub is_unnoted: bool,
    /// When it was read last, in nanoseconds since 1970; 0: not at all.
    pub read_ns: AtomicI64,
}

/// How the kernel gets at the data of a node; all opens of one agree.
#[derive(Clone)]
pub enum Way {
    /// It asks.
    Asking,
    /// It reads flash itself.
    Through(Arc<BackingId>),
}

/// Whether programs can change a file without a word: through memory that the kernel has of flash.
pub fn is_shared(way: &Way, is_read_write: bool) -> bool {
    matches!(way, Way::Through(_)) && is_read_write
}

/// Of so many files it is remembered that they were opened, then anew.
const READ_MOST: usize = 10_000;

struct Opens {
    handles: Vec<u64>,
    way: Way,
}

#[derive(Default)]
struct Table {
    next: u64,
    files: HashMap<u64, Arc<Open>>,
    nodes: HashMap<NodeId, Opens>,
    /// Files that were opened to be read.
    read_before: HashSet<NodeId>,
    listings: HashMap<u64, Listing>,
}

#[derive(Default)]
pub struct Handles(Mutex<Table>);

impl Handles {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().expect("a panic ends this process")
    }

    /// Add an open file. `first` finds the way, if the node is not open yet.
    pub fn add(&self, open: Open, first: impl FnOnce(&File) -> Way) -> (u64, Way) {
        let mut table = self.table();
        table.next += 1;
        let handle = table.next;
        let opens = table.nodes.entry(open.id).or_insert_with(|| Opens {
            handles: Vec::new(),
            way: first(&open.file),
        });
        opens.handles.push(handle);
        let way = opens.way.clone();
        table.files.insert(handle, Arc::new(open));
        (handle, way)
    }

    pub fn get(&self, handle: u64) -> Option<Arc<Open>> {
        self.table().files.get(&handle).cloned()
    }

    /// An open file.
    ///
    /// # Errors
    /// If nothing is open under this handle.
    pub fn file(&self, handle: u64) -> io::Result<Arc<Open>> {
        self.get(handle).ok_or_else(|| error(libc::EBADF))
    }

    /// Whether the kernel reads the node that is open under this handle itself.
    pub fn is_passed_through(&self, handle: u64) -> bool {
        let table = self.table();
        let open = table.files.get(&handle);
        let opens = open.and_then(|open| table.nodes.get(&open.id));
        opens.is_some_and(|opens| matches!(opens.way, Way::Through(_)))
    }

    pub fn read(&self, handle: u64, offset: u64, most_b: usize) -> io::Result<Vec<u8>> {
        read_at(&self.file(handle)?.file, offset, most_b)
    }

    /// Whether a file that is opened to be read was so before, as far as that is remembered.
    pub fn is_opened_again(&self, id: NodeId) -> bool {
        let mut table = self.table();
        if table.read_before.len() >= READ_MOST {
            table.read_before.clear();
        }
        !table.read_before.insert(id)
    }

    /// An open file of a node, which may have no name any more.
    pub fn of(&self, id: NodeId) -> Option<Arc<Open>> {
        let table = self.table();
        let handle = table.nodes.get(&id)?.handles.last()?;
        table.files.get(handle).cloned()
    }

    /// Whether programs can write to a node.
    pub fn can_be_written(&self, id: NodeId) -> bool {
        let table = self.table();
        let mut handles = table
            .nodes
            .get(&id)
            .into_iter()
            .flat_map(|opens| &opens.handles);
        handles.any(|handle| {
            table
                .files
                .get(handle)
                .is_some_and(|open| open.is_for_writing)
        })
    }

    pub fn remove(&self, handle: u64) -> Option<(Arc<Open>, Way)> {
        let mut table = self.table();
        let open = table.files.remove(&handle)?;
        let opens = table.nodes.get_mut(&open.id)?;
        opens.handles.retain(|other| *other != handle);
        let way = opens.way.clone();
        if opens.handles.is_empty() {
            table.nodes.remove(&open.id);
        }
        Some((open, way))
    }

    /// Nothing is open any more, whether the kernel came to say so or not.
    pub fn forget_all(&self) {
        *self.table() = Table::default();
    }

    pub fn open_folder(&self) -> u64 {
        let mut table = self.table();
        table.next += 1;
        table.next
    }

    /// What a folder held; `list` finds it, if it is begun to be read.
    ///
    /// # Errors
    /// Those of `list`.
    pub fn listing(
        &self,
        handle: u64,
        list: impl FnOnce() -> io::Result<Listing>,
    ) -> io::Result<Listing> {
        let known = self.table().listings.get(&handle).cloned();
        if let Some(listing) = known {
            return Ok(listing);
        }
        let listing = list()?;
        self.table().listings.insert(handle, Arc::clone(&listing));
        Ok(listing)
    }

    /// The folder is read from its beginning, or closed.
    pub fn forget_listing(&self, handle: u64) {
        self.table().listings.remove(&handle);
    }
}
