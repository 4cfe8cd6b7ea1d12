//! A die in time: it does one thing after the other, and shares its channel with its neighbours.

use std::collections::VecDeque;

use crate::ledger::Ledger;
use crate::ssd::account::{Counts, ERASE, PROGRAM, READ};
use crate::ssd::cache::Cache;
use crate::ssd::pages::{Chore, Pages};
use crate::ssd::times::{Line, Times};
use crate::time::Ns;

/// What a die is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Bytes for a read command.
    Read {
        job: u64,
        bytes: u64,
    },
    /// A page of the user's, in the drive's numbers; `merge` if a part of it must be read before.
    Program {
        page: u64,
        merge: bool,
    },
    Chore(Chore),
}

/// What the dies share, and what their work is put down to.
pub struct Surroundings<'a> {
    pub channel: &'a mut Line,
    pub times: &'a Times,
    pub ledger: &'a mut Ledger,
    pub counts: &'a mut Counts,
    pub page_b: u64,
}

/// A die with what waits for it.
#[derive(Clone, Debug)]
pub struct Die {
    pub pages: Pages,
    pub reads: VecDeque<(u64, u64)>,
    /// Pages in the cache; one that has been discarded since is passed over.
    pub writes: VecDeque<u64>,
    pub work: Option<Work>,
    has_just_read: bool,
}

impl Die {
    pub fn new(pages: Pages) -> Self {
        Self {
            pages,
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            work: None,
            has_just_read: false,
        }
    }

    /// What it does next. Reads go first, but where something else waits, not twice in a row;
    /// then data, where there is space for them; space is won back otherwise.
    pub fn choose(&mut self, cache: &mut Cache, dies: u64, sectors_per_page: u64) -> Option<Work> {
        let others_turn = std::mem::take(&mut self.has_just_read);
        let first_read = if others_turn { None } else { self.take_read() };
        first_read
            .or_else(|| self.take_write_or_chore(cache, dies, sectors_per_page))
            .or_else(|| self.take_read())
    }

    fn take_write_or_chore(
        &mut self,
        cache: &mut Cache,
        dies: u64,
        sectors_per_page: u64,
    ) -> Option<Work> {
        let chore = self.pages.chore();
        while self.pages.is_ready() {
            let Some(page) = self.writes.pop_front() else {
                break;
            };
            if let Some(cached) = cache.begin(page) {
                let is_partial = u64::from(cached.dirty.count_ones()) < sectors_per_page;
                let merge = is_partial && self.pages.is_mapped((page / dies) as u32);
                return Some(Work::Program { page, merge });
            }
        }
        chore.map(Work::Chore)
    }

    fn take_read(&mut self) -> Option<Work> {
        let (job, bytes) = self.reads.pop_front()?;
        self.has_just_read = true;
        Some(Work::Read { job, bytes })
    }

    /// Forget what waits. A page that was being programmed for the host is lost; a copy or an
    /// erasure is done again, in the same place.
    pub fn cut(&mut self) {
        self.reads.clear();
        self.writes.clear();
        self.has_just_read = false;
        if let Some(Work::Program { .. }) = self.work.take() {
            self.pages.spoil();
        }
    }
}

impl Surroundings<'_> {
    /// Do something from a time on. When the die is free again.
    pub fn run(&mut self, work: Work, at: Ns) -> Ns {
        match work {
            Work::Read { bytes, .. } => {
                let sensed = self.read(at);
                self.over_channel(sensed, bytes)
            }
            Work::Program { merge: false, .. } => {
                let loaded = self.over_channel(at, self.page_b);
                self.program(loaded)
            }
            Work::Program { merge: true, .. } => {
                let sensed = self.read(at);
                let loaded = self.over_channel(sensed, 2 * self.page_b);
                self.program(loaded)
            }
            // within the die ("internal data move"), so that the channel stays free
            Work::Chore(Chore::Copy { .. }) => {
                let sensed = self.read(at);
                self.counts.flash_copied_b += self.page_b;
                self.program(sensed)
            }
            Work::Chore(Chore::Erase { .. }) => {
                self.counts.erases_count += 1;
                self.draw(ERASE, at, self.times.erase_ns)
            }
        }
    }

    fn over_channel(&mut self, at: Ns, bytes: u64) -> Ns {
        self.channel.occupy(at, self.times.channel_ns(bytes))
    }

    fn read(&mut self, at: Ns) -> Ns {
        self.counts.flash_read_b += self.page_b;
        self.draw(READ, at, self.times.read_ns)
    }

    fn program(&mut self, at: Ns) -> Ns {
        self.counts.flash_programmed_b += self.page_b;
        self.draw(PROGRAM, at, self.times.program_ns)
    }

    fn draw(&mut self, part: usize, at: Ns, span_ns: Ns) -> Ns {
        self.ledger.plan(at, part, 1);
        self.ledger.plan(at + span_ns, part, -1);
        at + span_ns
    }
}
