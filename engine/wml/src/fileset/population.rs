//! Which entries of a set exist and who uses them.
//!
//! Every entry has a state in shared memory that changes by one compare-and-swap, and a census of
//! those that are not absent guides the search for one. There is no lock.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*, fence};

use super::census::{Census, Change, Wanted};
use crate::failure::Failure;
use crate::random::{scale, split_mix};
use crate::shared::{self, Shared};

/// The states of an entry. Above `EXISTS` is the number of its users.
const ABSENT: u32 = 0;
/// One thread creates or deletes it.
const CLAIMED: u32 = 1;
const EXISTS: u32 = 2;

/// How often a uniform pick tries an entry at random before it counts those that fit.
const TRIES: usize = 8;

/// How often a search that found nothing is repeated while entries change.
const SEARCHES: usize = 8;

/// Where to look for an entry.
pub enum Pick<'a> {
    /// The next one that fits, by the rotor that all threads share.
    Rotor,
    /// The same, by positions of that rotor that one thread has taken before.
    Turns(&'a mut Turns),
    /// The next one that fits, by a rotor of one thread.
    Own(&'a mut u64),
    /// This number, or the next higher one that fits, or the lowest.
    At(u64),
    /// Any one that fits, all with the same probability; the number is random.
    Uniform(u64),
}

/// Positions of the shared rotor that one thread has taken and not used yet. Were they taken one
/// by one, threads on different processors would wait for each other in every operation.
#[derive(Default)]
pub struct Turns(Range<u64>);

/// How many are taken at once.
const TURNS: u64 = 8;

/// What an entry is looked for to do with.
#[derive(Clone, Copy, PartialEq)]
pub enum Aim {
    Use,
    Create,
    Delete,
}

impl Aim {
    fn wanted(self) -> Wanted {
        match self {
            Aim::Use | Aim::Delete => Wanted::Present,
            Aim::Create => Wanted::Absent,
        }
    }

    fn fits(self, state: u32) -> bool {
        match self {
            Aim::Use => state >= EXISTS,
            Aim::Create => state == ABSENT,
            Aim::Delete => state == EXISTS,
        }
    }
}

/// On a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Rotor(AtomicU64);

#[derive(Default)]
struct Common {
    next_existing: Rotor,
    next_absent: Rotor,
}

// SAFETY: made of atomics.
unsafe impl Shared for Common {}

pub struct Population {
    states: &'static [AtomicU32],
    census: Census,
    common: &'static Common,
    /// Off where nothing asks for them: counting costs two writes to memory that threads share.
    counts_users: bool,
}

impl Population {
    /// Entries that exist as `exists` says, without users.
    pub fn new(exists: impl ExactSizeIterator<Item = bool>) -> Result<Self, Failure> {
        let length = exists.len();
        let population = Self {
            states: shared::slice(length)?,
            census: Census::new(length)?,
            common: shared::one()?,
            counts_users: true,
        };
        for (entry, _) in exists.enumerate().filter(|(_, exists)| *exists) {
            population.states[entry].store(EXISTS, Relaxed);
            population.census.tell(entry, Change::ClaimAbsent);
            population.census.tell(entry, Change::Created);
        }
        Ok(population)
    }

    fn len(&self) -> usize {
        self.states.len()
    }

    /// Before the threads of a run start: nobody uses an entry, whatever a killed thread held, and
    /// users are counted from now on if `are_claimed` says that entries will be claimed.
    pub fn begin_run(&mut self, are_claimed: bool) {
        self.counts_users = are_claimed;
        for state in self.states {
            if state.load(Relaxed) > EXISTS {
                state.store(EXISTS, Relaxed);
            }
        }
    }

    /// How many exist; those that are created or deleted at the moment are not among them.
    pub fn existing(&self) -> u64 {
        self.census.existing()
    }

    /// Whether all exist.
    pub fn is_full(&self) -> bool {
        self.census.is_full()
    }

    /// Whether none exists and none is created at the moment.
    pub fn is_empty(&self) -> bool {
        self.census.is_empty()
    }

    /// Take an entry for this aim.
    pub fn take(&self, pick: Pick, aim: Aim) -> Option<usize> {
        let length = self.len() as u64;
        if length == 0 {
            return None;
        }
        match pick {
            Pick::Rotor => {
                let position = self.rotor(aim).fetch_add(1, Relaxed);
                self.take_by_rotor(position, aim)
            }
            Pick::Turns(Turns(taken)) => {
                if taken.is_empty() {
                    let first = self.rotor(aim).fetch_add(TURNS, Relaxed);
                    *taken = first..first + TURNS;
                }
                self.take_by_rotor(taken.next()?, aim)
            }
            Pick::Own(own) => {
                let entry = self.take_from((*own % length) as usize, aim)?;
                *own = entry as u64 + 1;
                Some(entry)
            }
            Pick::At(number) => self.take_from((number % length) as usize, aim),
            Pick::Uniform(random) => self.take_uniformly(random, aim),
        }
    }

    fn rotor(&self, aim: Aim) -> &AtomicU64 {
        match aim {
            Aim::Create => &self.common.next_absent.0,
            Aim::Use | Aim::Delete => &self.common.next_existing.0,
        }
    }

    /// Every position of the rotor is given to one caller only, so that each entry that fits has
    /// its turn once in every round.
    fn take_by_rotor(&self, position: u64, aim: Aim) -> Option<usize> {
        let length = self.len() as u64;
        let entry = (position % length) as usize;
        if self.try_take(entry, aim) {
            return Some(entry);
        }
        let rotor = self.rotor(aim);
        loop {
            let position = rotor.load(Relaxed);
            let first = (position % length) as usize;
            let entry = self.find_from(first, aim, |entry| self.fits(entry, aim))?;
            let ahead = (entry + self.len() - first) as u64 % length;
            let next = position + ahead + 1;
            if rotor
                .compare_exchange(position, next, Relaxed, Relaxed)
                .is_ok()
                && self.try_take(entry, aim)
            {
                return Some(entry);
            }
        }
    }

    fn take_from(&self, first: usize, aim: Aim) -> Option<usize> {
        self.find_from(first, aim, |entry| self.try_take(entry, aim))
    }

    /// Try entries at random; if few fit, count them and take one by its number among them.
    fn take_uniformly(&self, mut random: u64, aim: Aim) -> Option<usize> {
        for _ in 0..TRIES {
            let entry = scale(split_mix(&mut random), self.len() as u64) as usize;
            if self.try_take(entry, aim) {
                return Some(entry);
            }
        }
        let wanted = aim.wanted();
        let nth = scale(split_mix(&mut random), self.census.total(wanted));
        let (block, nth) = self.census.nth(nth, wanted)?;
        let first = block.start;
        let entry = block.filter(|&entry| self.fits(entry, aim)).nth(nth);
        self.take_from(entry.unwrap_or(first), aim)
    }

    /// The first entry from `first` on, round the set, that `accept` accepts. It may miss one: whose last user lets
    /// go of it behind the search, which is not counted; in whose block a claim that will fail is counted for a
    /// moment; or if others were faster in each search.
    fn find_from(&self, first: usize, aim: Aim, accept: impl Fn(usize) -> bool) -> Option<usize> {
        let (census, wanted) = (&self.census, aim.wanted());
        let search = || {
            census
                .find(first..self.len(), wanted, &accept)
                .or_else(|| census.find(0..first, wanted, &accept))
        };
        let mut found = search();
        for _ in 0..SEARCHES {
            if found.is_some() {
                break;
            }
            // Others may have moved all that fits to where the search had been.
            let before = census.changes();
            found = search();
            fence(Acquire); // the search comes before the second look
            if census.changes() == before {
                break;
            }
        }
        found
    }

    fn fits(&self, entry: usize, aim: Aim) -> bool {
        aim.fits(self.states[entry].load(Relaxed))
    }

    fn try_take(&self, entry: usize, aim: Aim) -> bool {
        if !self.fits(entry, aim) {
            return false;
        }
        match aim {
            Aim::Use if !self.counts_users => true,
            Aim::Use => {
                let more = |state| aim.fits(state).then_some(state + 1);
                self.states[entry]
                    .fetch_update(AcqRel, Relaxed, more)
                    .is_ok()
            }
            Aim::Create => self.claim_absent(entry),
            Aim::Delete => self.claim_existing(entry, EXISTS),
        }
    }

    fn claim_absent(&self, entry: usize) -> bool {
        self.census.tell(entry, Change::ClaimAbsent);
        let claimed = self.claim(entry, ABSENT);
        if !claimed {
            self.census.tell(entry, Change::NotClaimedAbsent);
        }
        claimed
    }

    fn claim_existing(&self, entry: usize, from: u32) -> bool {
        self.census.tell(entry, Change::ClaimExisting);
        let claimed = self.claim(entry, from);
        if !claimed {
            self.census.tell(entry, Change::NotClaimedExisting);
        }
        claimed
    }

    fn claim(&self, entry: usize, from: u32) -> bool {
        self.states[entry]
            .compare_exchange(from, CLAIMED, AcqRel, Relaxed)
            .is_ok()
    }

    /// Claim an entry whose only user is the caller.
    pub fn claim_own(&self, entry: usize) -> bool {
        self.claim_existing(entry, EXISTS + 1)
    }

    /// Claim an entry if it exists and nobody uses it.
    pub fn claim_unused(&self, entry: usize) -> bool {
        self.try_take(entry, Aim::Delete)
    }

    /// The caller uses the entry no more.
    pub fn release(&self, entry: usize) {
        if self.counts_users {
            self.states[entry].fetch_sub(1, AcqRel);
        }
    }

    /// A claimed entry exists now, with so many users.
    pub fn settle_existing(&self, entry: usize, users: u32) {
        self.states[entry].store(EXISTS + users, Release);
        self.census.tell(entry, Change::Created);
    }

    /// A claimed entry is absent now.
    pub fn settle_absent(&self, entry: usize) {
        self.states[entry].store(ABSENT, Release);
        self.census.tell(entry, Change::Deleted);
    }
}

#[cfg(test)]
mod tests;
