//! Requests by place and by age, as the schedulers keep them.

use std::collections::{BTreeMap, VecDeque};

use crate::host::Request;
use crate::time::Ns;

/// The place of a request: its first sector, and how many came before it.
pub(super) type Key = (u64, u64);

/// Requests by sector; those of one sector in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    requests: BTreeMap<Key, Request>,
    came: u64,
}

impl Sorted {
    pub fn add(&mut self, request: Request) -> Key {
        let key = (request.command.extent.sector, self.came);
        self.came += 1;
        self.requests.insert(key, request);
        key
    }

    pub fn len(&self) -> usize {
        self.requests.len()
    }

    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub fn get(&self, key: Key) -> Option<&Request> {
        self.requests.get(&key)
    }

    pub fn remove(&mut self, key: Key) -> Option<Request> {
        self.requests.remove(&key)
    }

    pub fn take_first(&mut self) -> Option<Request> {
        self.requests.pop_first().map(|(_, request)| request)
    }

    /// The nearest that begins at a sector or behind it.
    pub fn from(&self, sector: u64) -> Option<Key> {
        self.requests
            .range((sector, 0)..)
            .next()
            .map(|(&key, _)| key)
    }

    /// The nearest that begins before a sector; of several there, the first that came.
    pub fn before(&self, sector: u64) -> Option<Key> {
        let (&(nearest, _), _) = self.requests.range(..(sector, 0)).next_back()?;
        self.from(nearest)
    }
}

/// Requests by sector and by age.
#[derive(Debug, Default)]
pub(super) struct Aged {
    pub sorted: Sorted,
    /// When each came, with some that are gone.
    ages: VecDeque<(Ns, Key)>,
}

impl Aged {
    pub fn add(&mut self, at: Ns, request: Request) {
        let key = self.sorted.add(request);
        self.ages.push_back((at, key));
    }

    /// When the oldest came, and its place.
    pub fn oldest(&mut self) -> Option<(Ns, Key)> {
        while let Some(&(came, key)) = self.ages.front() {
            if self.sorted.get(key).is_some() {
                return Some((came, key));
            }
            self.ages.pop_front();
        }
        None
    }

    /// The oldest, if it came so long ago.
    pub fn expired(&mut self, at: Ns, after: Ns) -> Option<Key> {
        let (came, key) = self.oldest()?;
        (at >= came + after).then_some(key)
    }
}
