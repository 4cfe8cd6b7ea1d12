//! A sequence of sectors that is read on and on, with read-ahead.

use std::collections::VecDeque;

use crate::device::Extent;

/// What one reader reads in sequence: a file, or one of the parts of a file that it reads in turn.
#[derive(Debug)]
pub(super) struct Stream {
    extent: Extent,
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
    pub fn new(extent: Extent, cluster: u64, window: u64) -> Self {
        Self {
            extent,
            cluster,
            window,
            read: 0,
            issued: 0,
            held: VecDeque::new(),
        }
    }

    pub fn is_read(&self) -> bool {
        self.read == self.extent.sectors
    }

    /// The next request that is to be issued now, if any is; `tag` names it.
    pub fn issue(&mut self, tag: u64) -> Option<Extent> {
        let begin = self.issued * self.cluster;
        let is_due = self.issued <= self.read / self.cluster + self.window;
        if !is_due || begin >= self.extent.sectors {
            return None;
        }
        self.issued += 1;
        self.held.push_back((tag, false));
        Some(Extent {
            sector: self.extent.sector + begin,
            sectors: self.cluster.min(self.extent.sectors - begin),
        })
    }

    pub fn answered(&mut self, tag: u64) {
        if let Some((_, answered)) = self.held.iter_mut().find(|(held, _)| *held == tag) {
            *answered = true;
        }
    }

    /// What is read next is in memory.
    pub fn is_here(&self) -> bool {
        self.held.front().is_some_and(|&(_, answered)| answered)
    }

    /// How much is read at once where so much is asked for.
    pub fn readable(&self, sectors: u64) -> u64 {
        sectors.min(self.extent.sectors - self.read)
    }

    /// So many sectors are read; no read goes over the end of a request.
    pub fn advance(&mut self, sectors: u64) {
        self.read += sectors;
        if self.read % self.cluster == 0 || self.is_read() {
            self.held.pop_front();
        }
    }
}
