//! Which number stands for which place of what was.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use fuser::INodeNo;

use crate::mount::errors::gone;

/// Numbers from here on are of what was.
pub const FROM: u64 = 3 << 61;

#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// The folder that leads to the others.
    Own,
    /// A link to the remote.
    Remote,
    /// The folder of all times.
    History,
    /// A path of the volume at a time, in microseconds since 1970.
    Then(i64, PathBuf),
}

#[derive(Default)]
struct Table {
    next: u64,
    /// With how often the kernel has been told of each.
    places: HashMap<u64, (Place, u64)>,
    numbers: HashMap<Place, u64>,
}

/// The places that the kernel knows of, by their numbers.
#[derive(Default)]
pub struct Places(Mutex<Table>);

/// Whether a number is of what was.
pub fn is_past(inode: INodeNo) -> bool {
    inode.0 >= FROM
}

impl Places {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().expect("a panic ends this process")
    }

    /// The place of a number.
    ///
    /// # Errors
    /// If the kernel was not told of it.
    pub fn place(&self, inode: INodeNo) -> io::Result<Place> {
        let table = self.table();
        let place = table.places.get(&inode.0);
        place.map(|(place, _)| place.clone()).ok_or_else(gone)
    }

    /// The number of a place, which the kernel is told once more.
    pub fn number(&self, place: Place) -> INodeNo {
        let mut table = self.table();
        let known = table.numbers.get(&place).copied();
        let number = known.unwrap_or(FROM + table.next);
        if known.is_none() {
            table.next += 1;
            table.numbers.insert(place.clone(), number);
        }
        table.places.entry(number).or_insert((place, 0)).1 += 1;
        INodeNo(number)
    }

    /// The kernel has forgotten a number that it was told so often.
    pub fn forget(&self, inode: INodeNo, times: u64) {
        let mut table = self.table();
        let Some((_, told)) = table.places.get_mut(&inode.0) else {
            return;
        };
        *told = told.saturating_sub(times);
        if *told == 0 {
            if let Some((place, _)) = table.places.remove(&inode.0) {
                table.numbers.remove(&place);
            }
        }
    }
}
