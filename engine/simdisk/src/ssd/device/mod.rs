//! The drive: commands, the link to the host, the cache before the dies.
//!
//! A command is read by the controller, one after the other. The pages of a write come over the
//! link as the cache has room, and are programmed as their dies are free; a page that is being
//! programmed takes no new data until it is. Reads of the cache, and of pages that were never
//! written, need no die.

mod job;
mod jobs;
mod service;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::ops::Range;

use crate::device::{Command, Device, Event, Extent};
use crate::ledger::Ledger;
use crate::profile::SsdProfile;
use crate::ssd::account::{self, Counts, ERASE, IDLE, PROGRAM, READ};
use crate::ssd::cache::{Cache, Sectors, sectors_on_page};
use crate::ssd::device::job::Job;
use crate::ssd::die::Die;
use crate::ssd::pages::Pages;
use crate::ssd::times::{Line, Times};
use crate::time::Ns;

/// What happens at a time that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    /// The controller has read the command of a job.
    Decoded(u64),
    /// The next page of the first write has come.
    Landed,
    /// A page of a read has gone.
    Delivered(u64),
    /// A die has done its work.
    Free(usize),
}

/// An SSD.
#[derive(Clone, Debug)]
pub struct Ssd {
    sectors: u64,
    depth: usize,
    sectors_per_page: u64,
    /// A write is complete once stored, as there is no cache.
    through: bool,
    times: Times,
    dies: Vec<Die>,
    channels: Vec<Line>,
    controller: Line,
    link: Line,
    cache: Cache,
    /// By the order in which they came.
    jobs: BTreeMap<u64, Job>,
    next_job: u64,
    /// Writes whose data come, one after the other.
    incoming: VecDeque<u64>,
    landing: Landing,
    /// Flushes, and what they wait for.
    flushes: VecDeque<(u64, u64)>,
    calendar: BinaryHeap<Reverse<(Ns, u64, Happening)>>,
    happenings: u64,
    ledger: Ledger,
    counts: Counts,
}

/// Where the next page of the first write is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Landing {
    AtTheHost,
    OnTheLink,
    /// It waits for its predecessor to be programmed.
    Here,
}

impl Ssd {
    /// A drive as it leaves the factory, on and ready.
    pub fn new(profile: &SsdProfile, at: Ns) -> Self {
        let flash = &profile.flash;
        let cached = (profile.cache.write_kib / flash.page_kib) as usize;
        Self {
            sectors: profile.sectors(),
            depth: profile.queue.depth,
            sectors_per_page: flash.sectors_per_page(),
            through: cached == 0,
            times: Times::new(profile),
            dies: vec![Die::new(Pages::new(profile)); flash.dies() as usize],
            channels: vec![Line::free_from(at); flash.channels as usize],
            controller: Line::free_from(at),
            link: Line::free_from(at),
            // without a cache, pages wait in the registers of the dies
            cache: Cache::new(if cached == 0 {
                flash.dies() as usize
            } else {
                cached
            }),
            jobs: BTreeMap::new(),
            next_job: 0,
            incoming: VecDeque::new(),
            landing: Landing::AtTheHost,
            flushes: VecDeque::new(),
            calendar: BinaryHeap::new(),
            happenings: 0,
            ledger: account::ledger(profile, at),
            counts: Counts::default(),
        }
    }

    /// What changes pages in no time must not meet what is under way, in the background either.
    pub(super) fn assert_at_rest(&self) {
        assert!(self.calendar.is_empty(), "something is under way");
    }

    /// Forget all that was ever written, as a secure erase does. Takes no time, draws and counts
    /// nothing.
    ///
    /// # Panics
    /// If something is under way: call it before the first command, or after a reset.
    pub fn erase(&mut self, profile: &SsdProfile) {
        self.assert_at_rest();
        for die in &mut self.dies {
            die.pages = Pages::new(profile);
        }
    }

    /// A copy of what lies where on each die, for [`Ssd::put_back`].
    pub fn copied_pages(&self) -> Vec<Pages> {
        self.dies.iter().map(|die| die.pages.clone()).collect()
    }

    /// Put back what [`Ssd::copied_pages`] copied from this drive. Takes no time, draws and counts
    /// nothing.
    ///
    /// # Panics
    /// If something is under way: call it before the first command, or after a reset.
    pub fn put_back(&mut self, copied: &[Pages]) {
        self.assert_at_rest();
        assert_eq!(self.dies.len(), copied.len(), "of another drive");
        for (pages, copy) in self.all_pages().zip(copied) {
            pages.clone_from(copy);
        }
    }

    /// What lies where on each die.
    pub(super) fn all_pages(&mut self) -> impl Iterator<Item = &mut Pages> {
        self.dies.iter_mut().map(|die| &mut die.pages)
    }

    /// The pages of the die where a page is at home, and its number there.
    pub(super) fn pages_with(&mut self, page: u64) -> (&mut Pages, u32) {
        let (die, local) = self.home(page);
        (&mut self.dies[die].pages, local)
    }

    /// Keep changes of power from now on, at least so many of the newest, for [`Ledger::trace`].
    pub fn keep_trace(&mut self, least: usize) {
        self.ledger.keep_trace(least);
    }

    fn note(&mut self, at: Ns, happening: Happening) {
        self.calendar
            .push(Reverse((at, self.happenings, happening)));
        self.happenings += 1;
    }

    /// The pages that an extent touches.
    pub(super) fn pages_of(&self, extent: Extent) -> Range<u64> {
        extent.sector / self.sectors_per_page..extent.end().div_ceil(self.sectors_per_page)
    }

    /// Those that it covers.
    pub(super) fn whole_pages_of(&self, extent: Extent) -> Range<u64> {
        extent.sector.div_ceil(self.sectors_per_page)..extent.end() / self.sectors_per_page
    }

    fn on_page(&self, extent: Extent, page: u64) -> Sectors {
        sectors_on_page(extent, page, self.sectors_per_page)
    }

    /// The die of a page, and the page's number there.
    fn home(&self, page: u64) -> (usize, u32) {
        let dies = self.dies.len() as u64;
        ((page % dies) as usize, (page / dies) as u32)
    }

    fn happen(&mut self, at: Ns, happening: Happening, events: &mut Vec<(Ns, Event)>) {
        match happening {
            Happening::Decoded(id) => self.start(at, id, events),
            Happening::Landed => {
                self.landing = Landing::Here;
                self.receive(at, events);
            }
            Happening::Delivered(id) => self.one_less(at, id, events),
            Happening::Free(die) => self.finish(at, die, events),
        }
    }

    /// Forget all commands and all that is volatile.
    fn forget(&mut self, at: Ns) {
        self.calendar.clear();
        self.jobs.clear();
        self.incoming.clear();
        self.landing = Landing::AtTheHost;
        self.flushes.clear();
        self.cache.clear();
        self.controller = Line::free_from(at);
        self.link = Line::free_from(at);
        self.channels.fill(Line::free_from(at));
    }
}

impl Device for Ssd {
    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn waiting(&self) -> usize {
        self.jobs.len()
    }

    fn submit(&mut self, at: Ns, command: Command) {
        let pages = self.pages_of(command.extent);
        let job = Job {
            command,
            has_begun: false,
            next_page: pages.start,
            left: pages.end - pages.start,
        };
        self.jobs.insert(self.next_job, job);
        self.next_job += 1;
        self.begin_jobs(at);
    }

    fn next(&self) -> Option<Ns> {
        self.calendar.peek().map(|Reverse((at, ..))| *at)
    }

    fn advance(&mut self, to: Ns, events: &mut Vec<(Ns, Event)>) {
        while let Some(at) = self.next().filter(|&at| at <= to) {
            let Some(Reverse((_, _, happening))) = self.calendar.pop() else {
                return;
            };
            self.happen(at, happening, events);
        }
        self.ledger.settle(to);
    }

    fn cut_power(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>) {
        self.advance(at, events);
        account::stop(&mut self.ledger, at, [IDLE, READ, PROGRAM, ERASE]);
        self.dies.iter_mut().for_each(Die::cut);
        self.forget(at);
    }

    fn restore_power(&mut self, at: Ns) {
        self.ledger.settle(at);
        self.ledger.plan(at, IDLE, 1);
        self.forget(at);
    }

    /// Space that was being won back is won back at once.
    fn reset(&mut self, at: Ns) {
        account::stop(&mut self.ledger, at, [READ, PROGRAM, ERASE]);
        self.forget(at);
        for die in &mut self.dies {
            die.cut();
            while let Some(chore) = die.pages.chore() {
                die.pages.done(chore);
            }
        }
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn counters(&self) -> BTreeMap<&'static str, u64> {
        self.counts.by_name()
    }
}
