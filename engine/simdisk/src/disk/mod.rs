//! A hard disk.
//!
//! Three things work beside each other. The interface reads commands and carries data ([`interface`]);
//! a command stands in the queue from when it came until it is answered, and its
//! [`queue::Stage`] says how far it is ([`commands`]); the media, [`media::Media`], do one thing at
//! a time: serve the command that the policy chooses, or write what the cache must give away, or,
//! if nothing is wanted of them, read on behind the last read, then write what is cached, then rest
//! until a timer lets them unload or stop. Each has at most one next time; [`Disk::next`] is the
//! earliest, and whatever can begin then begins. Reading ahead makes no events: how far it has come
//! is worked out when somebody asks.

pub mod access;
pub mod activity;
pub mod ahead;
pub mod byplace;
pub mod choice;
pub mod commands;
pub mod counters;
pub mod curve;
pub mod faults;
pub mod geometry;
pub mod heads;
pub mod injection;
pub mod interface;
pub mod job;
pub mod mechanics;
pub mod media;
pub mod policy;
pub mod power;
pub mod queue;
pub mod readahead;
pub mod runs;
pub mod seek;
pub mod segments;
pub mod service;
pub mod spin;
pub mod stream;
pub mod writecache;

use std::collections::BTreeMap;

use crate::device::{Command, Device, Event, SECTOR_B};
use crate::ledger::Ledger;
use crate::profile::DiskProfile;
use crate::profile::disk::{QueueProfile, WriteCache as WriteMode};
use crate::time::{Ns, sooner};
use counters::Counters;
pub use faults::Fault;
use faults::Faults;
use heads::Heads;
use interface::Interface;
use mechanics::Mechanics;
use media::Media;
use policy::{Candidate, Policy};
use power::{Account, State};
use queue::Queue;
use segments::Segments;
pub use service::Service;
use spin::{Spin, Transition};
use writecache::WriteCache;

/// A disk as a state machine; see the module for how it works.
///
/// A discard costs the command only: the disk keeps a map of what holds nothing.
#[derive(Clone, Debug)]
pub struct Disk {
    mechanics: Mechanics,
    depth: usize,
    policy: Policy,
    /// Whether a write is complete once it is cached.
    write_back: bool,
    read_ahead_sectors: u64,
    segment_sectors: u64,
    segment_count: usize,
    retry_ns: Ns,
    spin: Spin,

    interface: Interface,
    queue: Queue,
    segments: Segments,
    cache: WriteCache,
    media: Media,
    /// The sector that was last under the heads: there they are.
    over: u64,
    heads: Heads,
    /// The sector behind the last one served.
    behind: u64,
    idle_since: Ns,
    standby_wanted: bool,
    faults: Faults,

    account: Account,
    counters: Counters,
    log: Option<Vec<Service>>,
    /// Room for what the policy chooses from.
    candidates: Vec<Candidate>,
    /// Commands with a number below this go before all that came later: one of them is overdue.
    round_end: Option<u64>,
}

impl Disk {
    /// A disk that has been ready since long, of a profile that has been checked.
    pub fn new(profile: &DiskProfile, at: Ns) -> Self {
        let cache = profile.cache;
        let memory_sectors = cache.size_kib * 1024 / SECTOR_B;
        let segment_sectors = memory_sectors / u64::from(cache.segments);
        // all but one segment, of which reads have need
        let written_sectors = (memory_sectors - segment_sectors).max(memory_sectors / 2);
        let spin = Spin::new(&profile.spin);
        Self {
            mechanics: Mechanics::new(&profile.geometry, &profile.seek),
            depth: profile.queue.depth,
            policy: Policy::new(&profile.queue),
            write_back: cache.write == WriteMode::Back,
            read_ahead_sectors: (cache.read_ahead_kib * 1024 / SECTOR_B).min(segment_sectors),
            segment_sectors,
            segment_count: cache.segments as usize,
            retry_ns: (profile.errors.retry_ms * 1e6).round() as Ns,
            spin,
            interface: Interface::new(&profile.interface),
            queue: Queue::default(),
            segments: Segments::new(cache.segments as usize, segment_sectors),
            cache: WriteCache::new(written_sectors, segment_sectors),
            media: Media::Idle {
                timer: spin.loaded(at),
            },
            over: 0,
            heads: Heads::default(),
            behind: 0,
            idle_since: at,
            standby_wanted: false,
            faults: Faults::default(),
            account: Account::new(&profile.power, &profile.spin, at),
            counters: Counters::default(),
            log: None,
            candidates: Vec::new(),
            round_end: None,
        }
    }

    pub fn mechanics(&self) -> &Mechanics {
        &self.mechanics
    }

    /// Serve the queue in another order from now on.
    pub fn set_policy(&mut self, profile: &QueueProfile) {
        self.policy = Policy::new(profile);
    }

    /// Keep the changes of the power drawn, at least so many of the newest, for [`Ledger::trace`].
    pub fn keep_trace(&mut self, least: usize) {
        self.account.keep_trace(least);
    }

    /// Keep what the media do for commands and the write cache, for [`Disk::take_log`].
    pub fn keep_log(&mut self) {
        self.log.get_or_insert_default();
    }

    /// What the media have done since it was last taken, in their order; of what they are doing,
    /// when it will end.
    pub fn take_log(&mut self) -> Vec<Service> {
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Stop the platters as soon as nothing is waiting and nothing is cached; the next command that
    /// needs them starts them.
    pub fn standby(&mut self, at: Ns) {
        self.standby_wanted = true;
        self.go_on(at);
    }

    /// What the platters do at the time to which it has advanced.
    pub fn spin(&self) -> &'static str {
        self.media.spin()
    }

    /// Be over the first sector, as after a start.
    fn stand_at_begin(&mut self) {
        self.over = 0;
        self.heads = self.mechanics.geometry().heads(self.over);
        self.behind = 0;
    }

    /// Everything that is due at a time, and what can begin then.
    fn happen(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>) {
        while let Some(nth) = self.interface.transfer(at) {
            self.transferred(at, nth, events);
        }
        if self.media.ends().is_some_and(|end| end <= at) {
            self.end(at, events);
        }
        while let Some(nth) = self.interface.command(at) {
            self.begin(at, nth, events);
        }
        self.admit_held(at, events);
        self.go_on(at);
    }
}

impl Device for Disk {
    fn sectors(&self) -> u64 {
        self.mechanics.geometry().sectors()
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn waiting(&self) -> usize {
        self.queue.count()
    }

    fn submit(&mut self, at: Ns, command: Command) {
        let extent = command.extent;
        debug_assert!(
            extent.end() <= self.sectors(),
            "{extent:?} is not on the disk"
        );
        let nth = self.queue.push(at, command);
        if self.faults.gone {
            self.interface.pass(at, nth);
        } else {
            self.interface.read(at, nth);
        }
    }

    fn next(&self) -> Option<Ns> {
        // what the media are at ends, or a timer runs out: never both
        let media = self.media.ends().or(self.media.timer());
        let next = sooner(self.interface.next(), media);
        next.map(|at| at.max(self.faults.hung_until))
    }

    fn advance(&mut self, to: Ns, events: &mut Vec<(Ns, Event)>) {
        while let Some(at) = self.next().filter(|&at| at <= to) {
            self.happen(at, events);
        }
        self.account.settle(to);
    }

    fn cut_power(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>) {
        self.advance(at, events);
        self.power_off(at, events);
        self.queue.clear();
    }

    fn restore_power(&mut self, at: Ns) {
        if self.media == Media::Off && !self.faults.gone {
            self.turn(at, Transition::SpinUp);
            self.interface
                .restart(at + self.spin.span_ns(Transition::SpinUp));
        }
    }

    /// Faults stay, and a disk that is gone stays gone.
    fn reset(&mut self, at: Ns) {
        if self.faults.gone {
            return;
        }
        self.account.instead(at, Some(State::Idle));
        self.interface.restart(at);
        self.segments.clear();
        self.stand_at_begin();
        self.standby_wanted = false;
        self.rest(at);
    }

    fn ledger(&self) -> &Ledger {
        self.account.ledger()
    }

    fn counters(&self) -> BTreeMap<&'static str, u64> {
        self.counters.named()
    }
}
