//! What a disk counts.

use std::collections::BTreeMap;

use crate::device::SECTOR_B;

/// Since the disk was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    pub discards: u64,
    /// Reads that the memory could answer.
    pub cache_hits: u64,
    /// Accesses for which the heads had to move.
    pub seeks: u64,
    pub media_read_sectors: u64,
    /// Of these, ahead of what was asked for.
    pub read_ahead_sectors: u64,
    pub media_written_sectors: u64,
    /// Writes of the media, each of neighbouring sectors.
    pub media_writes: u64,
    pub unreadable: u64,
    pub loads: u64,
    /// How often the platters were started.
    pub starts: u64,
    pub power_losses: u64,
}

impl Counters {
    /// By name with unit.
    pub fn named(&self) -> BTreeMap<&'static str, u64> {
        BTreeMap::from([
            ("reads_count", self.reads),
            ("writes_count", self.writes),
            ("flushes_count", self.flushes),
            ("discards_count", self.discards),
            ("cache_hits_count", self.cache_hits),
            ("seeks_count", self.seeks),
            ("media_read_b", self.media_read_sectors * SECTOR_B),
            ("read_ahead_b", self.read_ahead_sectors * SECTOR_B),
            ("media_written_b", self.media_written_sectors * SECTOR_B),
            ("media_writes_count", self.media_writes),
            ("unreadable_count", self.unreadable),
            ("loads_count", self.loads),
            ("start_stops_count", self.starts),
            ("power_losses_count", self.power_losses),
        ])
    }
}
