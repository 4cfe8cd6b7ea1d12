//! Written data that the media do not hold yet.

use crate::device::Extent;
use crate::disk::runs::Runs;

/// The volatile memory for writes. Data of a write that goes through stand here as well until the
/// media have them.
#[derive(Clone, Debug)]
pub struct WriteCache {
    dirty: Runs,
    /// How many writes have come in; the mark of the latest.
    writes: u64,
    /// Sectors on the way over the bus.
    coming: u64,
    /// Sectors that there is room for.
    most: u64,
    /// Most sectors that go to the media in one go, where writes are joined.
    joined: u64,
}

impl WriteCache {
    pub fn new(most: u64, joined: u64) -> Self {
        Self {
            dirty: Runs::default(),
            writes: 0,
            coming: 0,
            most,
            joined,
        }
    }

    pub fn dirty(&self) -> &Runs {
        &self.dirty
    }

    /// Make room for a write, if there is any; one that is larger than all gets all.
    pub fn reserve(&mut self, sectors: u64) -> bool {
        let room = self.has_room(sectors);
        if room {
            self.coming += sectors;
        }
        room
    }

    pub fn has_room(&self, sectors: u64) -> bool {
        let taken = self.taken();
        taken == 0 || taken + sectors <= self.most
    }

    /// Sectors that are taken or promised.
    pub fn taken(&self) -> u64 {
        self.dirty.sectors() + self.coming
    }

    /// Hold the data of a write that room was made for.
    pub fn store(&mut self, extent: Extent) {
        self.coming -= extent.sectors;
        self.writes += 1;
        self.dirty.insert(extent, self.writes);
    }

    /// Hold nothing of an extent any more.
    pub fn clean(&mut self, extent: Extent) {
        self.dirty.remove(extent);
    }

    pub fn clear(&mut self) {
        self.dirty.clear();
        self.coming = 0;
    }

    /// The mark of all that is held now.
    pub fn mark(&self) -> u64 {
        self.writes
    }

    /// Whether the media lack anything that came in up to a mark.
    pub fn lacks(&self, mark: u64) -> bool {
        self.dirty.oldest().is_some_and(|(_, since)| since <= mark)
    }

    /// What the media lack of an extent, up to the first gap.
    ///
    /// # Panics
    /// If they lack nothing.
    pub fn left_of(&self, extent: Extent) -> Extent {
        let sector = self
            .dirty
            .first_in(extent)
            .expect("a write waits as long as the media lack any of it");
        self.dirty.joined(sector, extent.end())
    }

    /// What goes to the media in one go from a dirty sector on: it and its neighbours.
    pub fn joined(&self, sector: u64) -> Extent {
        self.dirty.joined(sector, sector + self.joined)
    }
}
