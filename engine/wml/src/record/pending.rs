//! Latencies that are not yet in their histograms.
//!
//! The histograms of many threads are larger than the caches of a processor. An op that went to
//! its own would wait for memory longer than for all else of its recording; several that go there
//! together wait once.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

use super::counter::add;
use crate::histogram::BUCKETS;

/// Ops that go together. With what stands beside them they fill eight cache lines.
const ROOM: usize = 125;

/// The buckets of the latest ops of one thread, by their place in the histograms of its flowops,
/// which follow each other.
pub(super) struct Pending {
    count: AtomicU32,
    places: [AtomicU32; ROOM],
}

impl Pending {
    /// Note an op; once there is no room for another, all go to the histograms.
    pub fn push(&self, flowop: usize, bucket: usize, histograms: &[AtomicU64]) {
        let count = self.count.load(Relaxed) as usize;
        let place = flowop * BUCKETS + bucket;
        self.places[count].store(place as u32, Relaxed);
        self.count.store(count as u32 + 1, Release);
        if count + 1 == ROOM {
            self.empty_into(histograms);
        }
    }

    /// One by one, so that a thread that is killed meanwhile leaves at most one of them twice.
    fn empty_into(&self, histograms: &[AtomicU64]) {
        for (left, place) in self.places.iter().enumerate().rev() {
            add(&histograms[place.load(Relaxed) as usize], 1);
            self.count.store(left as u32, Release);
        }
    }

    /// The buckets of the ops of one flowop.
    pub fn of(&self, flowop: usize) -> impl Iterator<Item = usize> {
        let first = flowop * BUCKETS;
        let places = &self.places[..self.count.load(Acquire) as usize];
        places
            .iter()
            .map(|place| place.load(Relaxed) as usize)
            .filter(move |place| (first..first + BUCKETS).contains(place))
            .map(move |place| place - first)
    }
}
