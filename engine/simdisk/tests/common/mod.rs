//! A device of which every time is known: seconds of seek per sector of distance, and of transfer.

use std::collections::{BTreeMap, VecDeque};

use simdisk::device::{Command, Device, Event, Extent, Outcome};
use simdisk::ledger::{Ledger, Part};
use simdisk::time::Ns;

pub const SECTORS: u64 = 1 << 24;
pub const SEEK_NS: Ns = 10;
pub const TRANSFER_NS: Ns = 10_000;

/// Serves what it is given in the order in which it gets it. It draws 1 W, and 4 W more while it
/// works.
pub struct Linear {
    depth: usize,
    queue: VecDeque<Command>,
    busy_until: Option<Ns>,
    head: u64,
    ledger: Ledger,
}

const REST: usize = 0;
const WORK: usize = 1;

impl Linear {
    pub fn new(depth: usize) -> Self {
        let part = |name, power_uw| Part { name, power_uw };
        let parts = vec![part("rest", 1_000_000), part("work", 4_000_000)];
        let mut ledger = Ledger::new(parts, 0);
        ledger.keep_trace(usize::MAX);
        ledger.plan(0, REST, 1);
        Self {
            depth,
            queue: VecDeque::new(),
            busy_until: None,
            head: 0,
            ledger,
        }
    }

    /// How long a command takes from a place.
    pub fn service_ns(head: u64, extent: Extent) -> Ns {
        head.abs_diff(extent.sector) * SEEK_NS + extent.sectors * TRANSFER_NS
    }

    fn begin(&mut self, at: Ns) {
        let Some(command) = self.queue.front() else {
            return;
        };
        let end = at + Self::service_ns(self.head, command.extent);
        self.ledger.plan(at, WORK, 1);
        self.ledger.plan(end, WORK, -1);
        self.head = command.extent.end();
        self.busy_until = Some(end);
    }
}

impl Device for Linear {
    fn sectors(&self) -> u64 {
        SECTORS
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn waiting(&self) -> usize {
        self.queue.len()
    }

    fn submit(&mut self, at: Ns, command: Command) {
        assert!(self.queue.len() < self.depth, "the device has no room");
        self.ledger.settle(at);
        self.queue.push_back(command);
        if self.busy_until.is_none() {
            self.begin(at);
        }
    }

    fn next(&self) -> Option<Ns> {
        self.busy_until
    }

    fn advance(&mut self, to: Ns, events: &mut Vec<(Ns, Event)>) {
        while let Some(end) = self.busy_until.filter(|&end| end <= to) {
            self.ledger.settle(end);
            self.busy_until = None;
            if let Some(command) = self.queue.pop_front() {
                let tag = command.tag;
                let outcome = Outcome::Done;
                events.push((end, Event::Completed { tag, outcome }));
            }
            self.begin(end);
        }
        self.ledger.settle(to);
    }

    fn cut_power(&mut self, _: Ns, _: &mut Vec<(Ns, Event)>) {
        self.queue.clear();
        self.busy_until = None;
    }

    fn restore_power(&mut self, _: Ns) {}

    fn reset(&mut self, _: Ns) {
        self.head = 0;
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn counters(&self) -> BTreeMap<&'static str, u64> {
        BTreeMap::new()
    }
}
