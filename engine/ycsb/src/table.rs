//! The table of records that all threads share: their names, and how many there are.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::requests::scattered;

/// The key of a record: `user` and the hash of its number, as YCSB orders inserts.
pub fn key(record: u64) -> String {
    format!("user{}", scattered(record))
}

/// How many records there are, without gaps: one that is being inserted, or that comes after it,
/// is not asked for yet.
pub struct Records {
    next: AtomicU64,
    there: AtomicU64,
    early: Mutex<BTreeSet<u64>>,
}

impl Records {
    pub fn new(loaded: u64) -> Self {
        Self {
            next: AtomicU64::new(loaded),
            there: AtomicU64::new(loaded),
            early: Mutex::new(BTreeSet::new()),
        }
    }

    pub fn there(&self) -> u64 {
        self.there.load(SeqCst)
    }

    /// The number of a new record.
    pub fn new_one(&self) -> u64 {
        self.next.fetch_add(1, SeqCst)
    }

    /// This one is written.
    pub fn written(&self, record: u64) {
        let mut early = self.early.lock().expect("nobody fails while holding it");
        early.insert(record);
        let mut there = self.there();
        while early.remove(&there) {
            there += 1;
        }
        self.there.store(there, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_there_once_all_before_it_are() {
        let records = Records::new(10);
        let (first, second) = (records.new_one(), records.new_one());
        assert_eq!((first, second), (10, 11));
        records.written(second);
        assert_eq!(records.there(), 10);
        records.written(first);
        assert_eq!(records.there(), 12);
    }
}
