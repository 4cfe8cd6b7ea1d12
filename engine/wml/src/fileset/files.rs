//! Who uses which file: every entry has a state in shared memory that changes by one
//! compare-and-swap, and a rotor for each way of picking goes around the set.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

use super::layout::Layout;
use crate::failure::Failure;
use crate::model::Fileset;
use crate::shared;

/// The states of an entry. Above `EXISTS` is the number of users: threads that have it open or
/// look at it.
const ABSENT: u32 = 0;
/// One thread creates or deletes it.
const CLAIMED: u32 = 1;
const EXISTS: u32 = 2;

pub struct Files {
    pub fileset: Fileset,
    pub layout: Layout,
    states: &'static [AtomicU32],
    existing: &'static AtomicU64,
    next_existing: &'static AtomicU64,
    next_absent: &'static AtomicU64,
}

/// Where to look for an entry; one that does not fit is passed over for the next, round the set.
pub enum Pick<'a> {
    /// The rotor that all threads share.
    Rotor,
    /// The rotor of one thread.
    Own(&'a mut u64),
    /// From this number on.
    At(u64),
}

/// An entry that one thread alone has: it must be settled.
#[must_use]
pub struct Claim {
    pub entry: usize,
}

impl Files {
    pub fn new(fileset: Fileset, seed: u64) -> Result<Self, Failure> {
        let layout = Layout::new(&fileset, seed);
        let states = shared::slice::<AtomicU32>(layout.entries.len())?;
        let existing = shared::one::<AtomicU64>()?;
        for (entry, _) in layout.preallocated() {
            states[entry].store(EXISTS, Relaxed);
        }
        existing.store(layout.preallocated().count() as u64, Relaxed);
        let (next_existing, next_absent) = (shared::one()?, shared::one()?);
        Ok(Self {
            fileset,
            layout,
            states,
            existing,
            next_existing,
            next_absent,
        })
    }

    /// The next entry that `take` accepts.
    fn find(
        &self,
        pick: Pick,
        rotor: &AtomicU64,
        take: impl Fn(&AtomicU32) -> bool,
    ) -> Option<usize> {
        let length = self.states.len() as u64;
        let first = match &pick {
            Pick::Rotor => rotor.fetch_add(1, Relaxed),
            Pick::Own(own) => **own,
            Pick::At(position) => *position,
        };
        for ahead in 0..length {
            let entry = ((first + ahead) % length) as usize;
            if take(&self.states[entry]) {
                match pick {
                    Pick::Rotor if ahead > 0 => {
                        rotor.fetch_max(first + ahead + 1, Relaxed);
                    }
                    Pick::Own(own) => *own = first + ahead + 1,
                    Pick::Rotor | Pick::At(_) => {}
                }
                return Some(entry);
            }
        }
        None
    }

    /// Use an existing file; [`Self::release`] it afterwards.
    pub fn acquire(&self, pick: Pick) -> Option<usize> {
        self.find(pick, self.next_existing, Self::try_acquire)
    }

    fn try_acquire(state: &AtomicU32) -> bool {
        state
            .fetch_update(AcqRel, Relaxed, |s| (s >= EXISTS).then_some(s + 1))
            .is_ok()
    }

    pub fn release(&self, entry: usize) {
        self.states[entry].fetch_sub(1, AcqRel);
    }

    /// Claim an absent entry, to create it.
    pub fn claim_absent(&self, pick: Pick) -> Option<Claim> {
        if self.existing.load(Relaxed) >= self.states.len() as u64 {
            return None;
        }
        let entry = self.find(pick, self.next_absent, |state| {
            state
                .compare_exchange(ABSENT, CLAIMED, AcqRel, Relaxed)
                .is_ok()
        })?;
        self.existing.fetch_add(1, Relaxed);
        Some(Claim { entry })
    }

    /// Claim an existing file that nobody uses, to delete it. Files in use are passed over, so
    /// that deletes keep pace with creates however many files are open.
    pub fn claim_unused(&self, pick: Pick) -> Option<Claim> {
        if self.existing.load(Relaxed) == 0 {
            return None;
        }
        let entry = self.find(pick, self.next_existing, |state| {
            state
                .compare_exchange(EXISTS, CLAIMED, AcqRel, Relaxed)
                .is_ok()
        })?;
        Some(Claim { entry })
    }

    /// Claim a file whose only user is the caller, to delete it.
    pub fn claim_own(&self, entry: usize) -> Option<Claim> {
        let state = &self.states[entry];
        state
            .compare_exchange(EXISTS + 1, CLAIMED, AcqRel, Relaxed)
            .ok()
            .map(|_| Claim { entry })
    }

    /// The claimed file exists now, with so many users.
    pub fn settle_existing(&self, claim: Claim, users: u32) {
        self.states[claim.entry].store(EXISTS + users, Release);
    }

    /// The claimed file does not exist now.
    pub fn settle_absent(&self, claim: Claim) {
        self.states[claim.entry].store(ABSENT, Release);
        self.existing.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Amount;

    fn files(entries: u64, prealloc_percent: f64) -> Files {
        let fileset = Fileset {
            name: "f".into(),
            path: "/x".into(),
            size: Amount::Fixed(1024.0),
            entries,
            dirwidth: Amount::Fixed(20.0),
            dirgamma: 0.0,
            prealloc_percent,
            paralloc: false,
            readonly: false,
            writeonly: false,
            ..Fileset::default()
        };
        Files::new(fileset, 1).unwrap()
    }

    #[test]
    fn the_rotor_visits_every_file_before_any_twice() {
        let files = files(10, 100.0);
        let visit = || {
            let entry = files.acquire(Pick::Rotor).unwrap();
            files.release(entry);
            entry
        };
        let twice: Vec<usize> = (0..20).map(|_| visit()).collect();
        assert_eq!(twice, (0..10).chain(0..10).collect::<Vec<_>>());
    }

    #[test]
    fn files_in_use_are_not_deleted_and_absent_ones_not_opened() {
        let files = files(3, 100.0);
        let open = files.acquire(Pick::Rotor).unwrap();
        for _ in 0..2 {
            let claim = files.claim_unused(Pick::Rotor).unwrap();
            assert_ne!(claim.entry, open);
            files.settle_absent(claim);
        }
        assert!(files.claim_unused(Pick::Rotor).is_none());
        assert_eq!(files.acquire(Pick::Rotor), Some(open));
        assert!(files.claim_own(open).is_none(), "two use it");
        files.release(open);
        files.settle_absent(files.claim_own(open).unwrap());
        assert!(files.acquire(Pick::Rotor).is_none());
        assert_eq!(
            files.claim_absent(Pick::Rotor).map(|claim| claim.entry),
            Some(0)
        );
    }

    #[test]
    fn threads_that_create_and_delete_never_share_a_claim() {
        let files = files(50, 50.0);
        let owners: Vec<AtomicU32> = (0..50).map(|_| AtomicU32::new(0)).collect();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5000 {
                        if let Some(claim) = files.claim_absent(Pick::Rotor) {
                            assert_eq!(owners[claim.entry].fetch_add(1, AcqRel), 0);
                            owners[claim.entry].fetch_sub(1, AcqRel);
                            files.settle_existing(claim, 0);
                        }
                        if let Some(claim) = files.claim_unused(Pick::Rotor) {
                            assert_eq!(owners[claim.entry].fetch_add(1, AcqRel), 0);
                            owners[claim.entry].fetch_sub(1, AcqRel);
                            files.settle_absent(claim);
                        }
                    }
                });
            }
        });
        let there = files
            .states
            .iter()
            .filter(|s| s.load(Relaxed) == EXISTS)
            .count() as u64;
        assert_eq!(files.existing.load(Relaxed), there);
    }
}
