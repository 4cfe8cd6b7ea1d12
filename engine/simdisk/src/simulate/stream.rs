//! Data that are read on and on, with read-ahead, and the block map that tells where they lie.

use std::collections::VecDeque;

use crate::device::{Extent, SECTOR_B};

/// Sectors of a block of the map.
pub(super) const MAP_BLOCK_SECTORS: u64 = 4096 / SECTOR_B;

/// What one reader reads in sequence: a file, or one of the parts of a file that it reads in turn.
///
/// A block of the map lies before the data that it maps. The first data need none.
#[derive(Debug)]
pub(super) struct Stream {
    /// Where the first data lie.
    sector: u64,
    /// Of data.
    sectors: u64,
    /// Data that a block of the map stands for; none where the whole map is in memory.
    mapped_sectors: Option<u64>,
    /// The block of the map that is being read, by its tag.
    map_read: Option<u64>,
    /// Blocks of the map that are in memory.
    maps: u64,
    /// Sectors of a request.
    cluster: u64,
    /// Requests beyond the one that is read from.
    window: u64,
    /// Sectors that are read.
    read: u64,
    /// Requests that are issued.
    issued: u64,
    /// Of those issued and not read to their end: the tag, and whether it is answered.
    held: VecDeque<(u64, bool)>,
}

impl Stream {
    pub fn new(
        sector: u64,
        sectors: u64,
        mapped_sectors: Option<u64>,
        cluster: u64,
        window: u64,
    ) -> Self {
        Self {
            sector,
            sectors,
            mapped_sectors,
            map_read: None,
            maps: 0,
            cluster,
            window,
            read: 0,
            issued: 0,
            held: VecDeque::new(),
        }
    }

    pub fn is_read(&self) -> bool {
        self.read == self.sectors
    }

    /// Sectors of data and map.
    pub fn length(sectors: u64, mapped_sectors: Option<u64>) -> u64 {
        sectors + mapped_sectors.map_or(0, |mapped| (sectors - 1) / mapped) * MAP_BLOCK_SECTORS
    }

    /// The next request that is to be issued now, if any is; `tag` names it.
    pub fn issue(&mut self, tag: u64) -> Option<Extent> {
        let begin = self.issued * self.cluster;
        let is_due = self.issued <= self.read / self.cluster + self.window;
        if !is_due || begin >= self.sectors || self.map_read.is_some() {
            return None;
        }
        let map = self.mapped_sectors.map_or(0, |mapped| begin / mapped);
        let sector = self.sector + begin + map * MAP_BLOCK_SECTORS;
        if map > self.maps {
            self.map_read = Some(tag);
            return Some(Extent {
                sector: sector - MAP_BLOCK_SECTORS,
                sectors: MAP_BLOCK_SECTORS,
            });
        }
        self.issued += 1;
        self.held.push_back((tag, false));
        Some(Extent {
            sector,
            sectors: self.cluster.min(self.sectors - begin),
        })
    }

    /// A request is answered; return whether a reader that waited goes on.
    pub fn answered(&mut self, tag: u64) -> bool {
        if self.map_read == Some(tag) {
            self.map_read = None;
            self.maps += 1;
            return true;
        }
        if let Some((_, answered)) = self.held.iter_mut().find(|(held, _)| *held == tag) {
            *answered = true;
        }
        !self.waits()
    }

    /// Whether the reader waits: for the map, without which it asks for nothing more, or for what
    /// it reads next.
    pub fn waits(&self) -> bool {
        self.map_read.is_some() || !self.is_here()
    }

    /// What is read next is in memory.
    pub fn is_here(&self) -> bool {
        self.held.front().is_some_and(|&(_, answered)| answered)
    }

    /// How much is read at once where so much is asked for.
    pub fn readable(&self, sectors: u64) -> u64 {
        sectors.min(self.sectors - self.read)
    }

    /// So many sectors are read; no read goes over the end of a request.
    pub fn advance(&mut self, sectors: u64) {
        self.read += sectors;
        if self.read % self.cluster == 0 || self.is_read() {
            self.held.pop_front();
        }
    }
}
