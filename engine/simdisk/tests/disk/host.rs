//! A host for the tests, and a disk with round numbers.

use simdisk::device::{Action, Command, Device, Event, Extent, Outcome};
use simdisk::disk::Disk;
use simdisk::profile::{DiskProfile, Profile};
use simdisk::time::Ns;

pub const MS: Ns = 1_000_000;
pub const S: Ns = 1_000_000_000;

/// A revolution takes 10 ms, a sector of the outer zone 50 us and of the inner one 100 us, a
/// command 100 us and a sector on the bus 5.12 us.
const ROUND: &str = r#"
kind = "disk"
model = "none"
year = 2000
[sources]
geometry = "assumed: round numbers"
seek = "assumed: round numbers"
interface = "assumed: round numbers"
cache = "assumed: round numbers"
queue = "assumed: round numbers"
power = "assumed: round numbers"
spin = "assumed: round numbers"
errors = "assumed: round numbers"
[geometry]
rpm = 6000
heads = 2
zones = [
    { cylinders = 200, sectors_per_track = 200 },
    { cylinders = 200, sectors_per_track = 100 },
]
[seek]
head_switch_ms = 0.8
write_settle_ms = 0.5
curve = { settle_ms = 1.0, root_ms = 0.2, linear_us = 5.0 }
[interface]
command_ms = 0.1
bandwidth_mb_s = 100
[cache]
size_kib = 512
segments = 8
read_ahead_kib = 64
write = "back"
[queue]
depth = 32
policy = "fifo"
[power]
seek_w = 13
rotate_w = 10
transfer_w = 11
idle_w = 9
unloaded_w = 7
standby_w = 1
[spin]
unload_after_s = 0
standby_after_s = 0
unload_s = 0.7
unload_j = 5
load_s = 0.6
load_j = 8
spin_up_s = 8
spin_up_j = 130
spin_down_s = 3
spin_down_j = 4
rated_start_stops = 50000
[errors]
retry_ms = 300
"#;

/// The profile with round numbers, and what a test needs otherwise.
pub fn profile(change: impl FnOnce(&mut DiskProfile)) -> DiskProfile {
    let Ok(Profile::Disk(mut profile)) = Profile::parse(ROUND, "round") else {
        panic!("{}", Profile::parse(ROUND, "round").unwrap_err());
    };
    change(&mut profile);
    profile
}

pub fn extent(sector: u64, sectors: u64) -> Extent {
    Extent { sector, sectors }
}

/// A host that gives its commands tags in the order in which it issues them.
pub struct Host {
    pub disk: Disk,
    pub now: Ns,
    pub events: Vec<(Ns, Event)>,
    next_tag: u64,
}

impl Host {
    pub fn new(profile: &DiskProfile) -> Self {
        let mut disk = Disk::new(profile, 0);
        disk.keep_log();
        disk.keep_trace(usize::MAX);
        Self {
            disk,
            now: 0,
            events: Vec::new(),
            next_tag: 0,
        }
    }

    /// Go on to a time.
    pub fn until(&mut self, to: Ns) {
        self.disk.advance(to, &mut self.events);
        self.now = to;
    }

    /// Issue a command now.
    pub fn issue(&mut self, action: Action, extent: Extent) -> u64 {
        self.issue_through(action, extent, false)
    }

    pub fn issue_through(&mut self, action: Action, extent: Extent, through: bool) -> u64 {
        self.until(self.now);
        let tag = self.next_tag;
        self.next_tag += 1;
        let command = Command {
            tag,
            action,
            extent,
            through,
        };
        self.disk.submit(self.now, command);
        tag
    }

    pub fn answer(&self, tag: u64) -> Option<(Ns, Outcome)> {
        self.events.iter().find_map(|&(at, event)| match event {
            Event::Completed {
                tag: answered,
                outcome,
            } if answered == tag => Some((at, outcome)),
            _ => None,
        })
    }

    /// Go on until a command is answered, and tell when and how.
    pub fn wait(&mut self, tag: u64) -> (Ns, Outcome) {
        loop {
            if let Some(answer) = self.answer(tag) {
                return answer;
            }
            let next = self.disk.next().expect("the disk owes an answer");
            self.until(next);
        }
    }

    /// How long a command takes that is alone.
    pub fn takes(&mut self, action: Action, extent: Extent) -> Ns {
        let issued = self.now;
        let tag = self.issue(action, extent);
        let (at, outcome) = self.wait(tag);
        assert_eq!(outcome, Outcome::Done);
        at - issued
    }

    /// Go on until nothing happens any more.
    pub fn settle(&mut self) {
        while let Some(next) = self.disk.next() {
            self.until(next);
        }
    }

    /// What the media have got, in order.
    pub fn stored(&self) -> Vec<(Ns, Extent)> {
        let stored = self.events.iter().filter_map(|&(at, event)| match event {
            Event::Stored { extent } => Some((at, extent)),
            _ => None,
        });
        stored.collect()
    }

    pub fn counter(&self, name: &str) -> u64 {
        self.disk.counters()[name]
    }

    /// Time in a state, and its energy in J.
    pub fn part(&self, name: &str) -> (Ns, f64) {
        let found = self.disk.ledger().parts().find(|part| part.0 == name);
        let (_, energy_fj, time_ns) = found.expect("a state of the disk");
        (time_ns, energy_fj as f64 / 1e15)
    }
}

/// A few numbers that look like chance and are the same in every run (xorshift, Marsaglia 2003).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}
