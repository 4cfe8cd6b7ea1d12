//! The numbered descriptors of a thread.

use super::system::{self, Fd};
use super::view::View;
use crate::fileset::Files;
use crate::model::{Flowop, SLOTS};

/// The first slot that `opennext` takes; it goes down from here to 0 and begins again.
const FIRST_NEXT: usize = 127;

#[derive(Clone, Copy, Default)]
pub enum Slot {
    #[default]
    Empty,
    /// A file should be here, but there was none to open or create.
    Vacant,
    Open(OpenFile),
    /// Nothing is open, and this was closed last: `deletefile` and `srcfd` mean it still.
    Closed(ClosedFile),
}

#[derive(Clone, Copy)]
pub struct ClosedFile {
    pub fileset: usize,
    pub entry: usize,
    /// The size that the layout gives it.
    pub size_b: u64,
}

#[derive(Clone, Copy)]
pub struct OpenFile {
    pub fd: Fd,
    pub fileset: usize,
    /// None once this thread has deleted it.
    pub entry: Option<usize>,
    /// The size that the layout gives it.
    pub size_b: u64,
    /// Nothing has worked on it since it was opened: its position is the beginning.
    pub is_fresh: bool,
}

impl OpenFile {
    /// What its slot is after it has been closed.
    fn closed(self) -> Slot {
        let closed = |entry| {
            Slot::Closed(ClosedFile {
                fileset: self.fileset,
                entry,
                size_b: self.size_b,
            })
        };
        self.entry.map_or(Slot::Empty, closed)
    }
}

pub struct Slots {
    places: [Place; SLOTS],
    /// Opened last by `opennext`.
    last: usize,
}

/// What stands side by side in memory, as ops need it together.
#[derive(Default)]
struct Place {
    content: Slot,
    /// Where sequential I/O without a file position goes on: mapped and through a ring.
    offset: u64,
    view: Option<View>,
}

impl Default for Slots {
    fn default() -> Self {
        Self {
            places: std::array::from_fn(|_| Place::default()),
            last: 0,
        }
    }
}

impl Slots {
    /// The slot that a flowop works on.
    pub fn of(&self, flowop: &Flowop) -> usize {
        if flowop.opennext {
            self.last
        } else {
            flowop.fd
        }
    }

    /// The next slot of `opennext`.
    pub fn advance(&mut self) -> usize {
        self.last = self.last.checked_sub(1).unwrap_or(FIRST_NEXT);
        self.last
    }

    pub fn get(&self, slot: usize) -> Slot {
        self.places[slot].content
    }

    pub fn is_open(&self, slot: usize) -> bool {
        matches!(self.places[slot].content, Slot::Open(_))
    }

    /// The open file of a slot, to work on: it is fresh this time at most.
    pub fn use_open(&mut self, slot: usize) -> Option<OpenFile> {
        let Slot::Open(file) = &mut self.places[slot].content else {
            return None;
        };
        let found = *file;
        file.is_fresh = false;
        Some(found)
    }

    /// All open files.
    pub fn open_files(&self) -> impl Iterator<Item = OpenFile> {
        self.places.iter().filter_map(|place| match place.content {
            Slot::Open(file) => Some(file),
            _ => None,
        })
    }

    pub fn put(&mut self, slot: usize, content: Slot) {
        self.places[slot].content = content;
    }

    /// Empty a slot, which keeps in mind what it had; whoever had a file there closes it.
    pub fn take(&mut self, slot: usize) -> Slot {
        let content = self.places[slot].content;
        let left = match content {
            Slot::Open(file) => file.closed(),
            Slot::Closed(file) => Slot::Closed(file),
            Slot::Empty | Slot::Vacant => Slot::Empty,
        };
        self.places[slot] = Place {
            content: left,
            ..Place::default()
        };
        content
    }

    /// Where the next sequential I/O of a slot begins that has no file position: behind the last
    /// one, or at the beginning again where the file ends.
    pub fn next_offset(&mut self, slot: usize, length: u64, size_b: u64) -> u64 {
        let next = &mut self.places[slot].offset;
        let offset = if *next < size_b { *next } else { 0 };
        *next = offset + length;
        offset
    }

    /// Begin again at the beginning.
    pub fn rewind(&mut self, slot: usize) {
        self.places[slot].offset = 0;
    }

    /// The mapping of the file of a slot.
    pub fn view(&mut self, slot: usize) -> &mut Option<View> {
        &mut self.places[slot].view
    }

    /// Close whatever a slot holds, outside of any op.
    pub fn clear(&mut self, slot: usize, files: &[Files]) {
        if let Slot::Open(file) = self.take(slot) {
            let _ = system::close(file.fd);
            if let Some(entry) = file.entry {
                files[file.fileset].release(entry);
            }
        }
    }

    pub fn clear_all(&mut self, files: &[Files]) {
        (0..SLOTS).for_each(|slot| self.clear(slot, files));
    }
}
