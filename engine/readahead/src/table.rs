//! What a server remembers of files: `nfsheur`, a hash table of few slots.

use crate::cursor::Cursor;

/// An NFS server is told of no open and no close, and cannot keep something of every file. A file
/// is looked for in a few slots from the one that its number hashes to. Where it is in none of
/// them it gets an empty one, or else that of the file that was not read for longest: so files are
/// forgotten though slots elsewhere are empty (section 6.3).
///
/// FreeBSD 4 counts uses, and takes one away at each probe of another file; the paper calls that
/// least recently used, which this table is.
#[derive(Clone, Debug)]
pub struct Table {
    slots: Vec<Option<Entry>>,
    probes: usize,
    looks: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    file: u64,
    used: u64,
    cursors: Vec<Cursor>,
}

/// Where a file stands in the table.
#[derive(Debug)]
pub struct Place<'a> {
    pub slot: usize,
    /// The file that it took the slot from.
    pub evicted: Option<u64>,
    /// Empty for a file that was not in the table.
    pub cursors: &'a mut Vec<Cursor>,
}

impl Table {
    /// An empty one; a table has at least one slot, and probes at least one and at most all.
    pub fn new(slots: usize, probes: usize) -> Self {
        let slots = slots.max(1);
        Self {
            slots: vec![None; slots],
            probes: probes.clamp(1, slots),
            looks: 0,
        }
    }

    /// Find a file, or make room for it.
    pub fn place(&mut self, file: u64) -> Place<'_> {
        self.looks += 1;
        let count = self.slots.len();
        let first = (file % count as u64) as usize;
        let probed = (first..first + self.probes).map(|slot| slot % count);
        let is_file = |slot: &usize| self.slots[*slot].as_ref().is_some_and(|e| e.file == file);
        let found = probed.clone().find(is_file);
        // An empty slot counts as one that was never used.
        let used = |slot: &usize| self.slots[*slot].as_ref().map_or(0, |entry| entry.used);
        let slot = found.unwrap_or_else(|| probed.min_by_key(used).unwrap_or(first));
        let evicted = match found {
            Some(_) => None,
            None => self.slots[slot].take().map(|entry| entry.file),
        };
        let entry = self.slots[slot].get_or_insert_with(|| Entry {
            file,
            used: 0,
            cursors: Vec::new(),
        });
        entry.used = self.looks;
        Place {
            slot,
            evicted,
            cursors: &mut entry.cursors,
        }
    }
}
