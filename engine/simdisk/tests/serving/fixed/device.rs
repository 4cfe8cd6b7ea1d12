//! A device whose every command takes the same time, for tests of what is around a model.

use std::collections::{BTreeMap, VecDeque};

use simdisk::device::{Action, Command, Device, Event, Extent, Outcome};
use simdisk::ledger::{Ledger, Part};
use simdisk::serve::served::{Ailment, Served, Zone};
use simdisk::ssd::precondition::State;
use simdisk::time::Ns;

const IDLE: usize = 0;
const BUSY: usize = 1;

/// Writes that fit in the volatile memory; the oldest one is stored when another one comes.
const CACHED_MOST: usize = 4096;

/// What starting up takes.
const START_NS: Ns = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    Fifo,
    /// The newest first, as far as commands do not overlap: no real order is further from that in
    /// which they came.
    Lifo,
}

pub struct Fixed {
    sectors: u64,
    service_ns: Ns,
    is_write_back: bool,
    policy: Policy,
    queue: Vec<Command>,
    served: Option<(Ns, Command)>,
    cached: VecDeque<Extent>,
    unreadable: Vec<Extent>,
    has_vanished: bool,
    /// Nothing is begun before this time.
    ready: Ns,
    completed: u64,
    ledger: Ledger,
}

impl Fixed {
    pub fn new(sectors: u64, service_ns: Ns, is_write_back: bool, at: Ns) -> Self {
        let part = |name, power_uw| Part { name, power_uw };
        let mut ledger = Ledger::new(vec![part("idle", 5_000_000), part("busy", 10_000_000)], at);
        ledger.keep_trace(usize::MAX);
        ledger.plan(at, IDLE, 1);
        Self {
            sectors,
            service_ns,
            is_write_back,
            policy: Policy::Fifo,
            queue: Vec::new(),
            served: None,
            cached: VecDeque::new(),
            unreadable: Vec::new(),
            has_vanished: false,
            ready: at,
            completed: 0,
            ledger,
        }
    }

    fn begin(&mut self, at: Ns) {
        if self.served.is_some() || self.queue.is_empty() {
            return;
        }
        let command = self.queue.remove(self.chosen());
        let begin = at.max(self.ready);
        self.ledger.plan(begin, IDLE, -1);
        self.ledger.plan(begin, BUSY, 1);
        self.served = Some((begin + self.service_ns, command));
    }

    fn chosen(&self) -> usize {
        let is_free = |&index: &usize| {
            let (before, command) = (&self.queue[..index], self.queue[index]);
            let orders = |other: &Command| {
                other.action == Action::Flush || other.extent.overlaps(command.extent)
            };
            (command.action != Action::Flush || index == 0) && !before.iter().any(orders)
        };
        match self.policy {
            Policy::Fifo => 0,
            Policy::Lifo => (0..self.queue.len()).rev().find(is_free).unwrap_or(0),
        }
    }

    fn complete(&mut self, command: Command, events: &mut impl FnMut(Event)) {
        let extent = command.extent;
        let mut outcome = Outcome::Done;
        match command.action {
            _ if self.has_vanished => outcome = Outcome::Gone,
            Action::Read => {
                let bad = self.unreadable.iter().find(|bad| bad.overlaps(extent));
                if let Some(bad) = bad {
                    outcome = Outcome::Unreadable(bad.sector.max(extent.sector));
                }
            }
            Action::Write => {
                events(Event::Cached { tag: command.tag });
                self.unreadable.retain(|bad| !bad.overlaps(extent));
                self.cached.push_back(extent);
                let kept = if self.is_write_back && !command.through {
                    CACHED_MOST
                } else {
                    0
                };
                while self.cached.len() > kept {
                    let extent = self.cached.pop_front().expect("it is longer than nothing");
                    events(Event::Stored { extent });
                }
            }
            Action::Flush => {
                for extent in self.cached.drain(..) {
                    events(Event::Stored { extent });
                }
            }
            Action::Discard => events(Event::Dropped { extent }),
        }
        let tag = command.tag;
        events(Event::Completed { tag, outcome });
    }
}

impl Device for Fixed {
    fn sectors(&self) -> u64 {
        self.sectors
    }

    fn depth(&self) -> usize {
        32
    }

    fn waiting(&self) -> usize {
        self.queue.len() + usize::from(self.served.is_some())
    }

    fn submit(&mut self, at: Ns, command: Command) {
        self.queue.push(command);
        self.begin(at);
    }

    fn next(&self) -> Option<Ns> {
        self.served.map(|(end, _)| end)
    }

    fn advance(&mut self, to: Ns, events: &mut Vec<(Ns, Event)>) {
        while let Some((end, command)) = self.served.filter(|&(end, _)| end <= to) {
            self.served = None;
            self.completed += 1;
            self.complete(command, &mut |event| events.push((end, event)));
            self.ledger.plan(end, BUSY, -1);
            self.ledger.plan(end, IDLE, 1);
            self.begin(end);
        }
        self.ledger.settle(to);
    }

    fn cut_power(&mut self, at: Ns, _: &mut Vec<(Ns, Event)>) {
        self.ledger.settle(at);
        self.ledger.cut(at);
        for part in [IDLE, BUSY] {
            let level = self.ledger.level(part) as i32;
            self.ledger.plan(at, part, -level);
        }
        self.queue.clear();
        self.served = None;
        self.cached.clear();
    }

    fn restore_power(&mut self, at: Ns) {
        self.ready = at + START_NS;
        self.has_vanished = false;
        self.ledger.plan(at, IDLE, 1);
    }

    fn reset(&mut self, at: Ns) {
        self.ready = at;
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn counters(&self) -> BTreeMap<&'static str, u64> {
        BTreeMap::from([("completed_count", self.completed)])
    }
}

impl Served for Fixed {
    fn device(&self) -> &dyn Device {
        self
    }

    fn device_mut(&mut self) -> &mut dyn Device {
        self
    }

    fn policy(&self) -> &'static str {
        match self.policy {
            Policy::Fifo => "fifo",
            Policy::Lifo => "lifo",
        }
    }

    fn set_policy(&mut self, policy: &str) -> Result<(), String> {
        self.policy = match policy {
            "fifo" => Policy::Fifo,
            "lifo" => Policy::Lifo,
            _ => return Err(format!("there is no policy '{policy}'")),
        };
        Ok(())
    }

    fn ail(&mut self, at: Ns, ailment: Ailment, _: &mut Vec<(Ns, Event)>) -> Result<(), String> {
        match ailment {
            Ailment::Unreadable { sector, sectors } => {
                self.unreadable.push(Extent { sector, sectors });
            }
            Ailment::Hang { seconds } => self.ready = at + (seconds * 1e9) as Ns,
            Ailment::Vanish => self.has_vanished = true,
            Ailment::None => {
                self.unreadable.clear();
                self.has_vanished = false;
            }
        }
        Ok(())
    }

    fn stand_by(&mut self, _: Ns) -> Result<(), String> {
        Err("it does not turn".into())
    }

    fn spin(&self) -> Result<&'static str, String> {
        Err("it does not turn".into())
    }

    fn zones(&self) -> Vec<Zone> {
        Vec::new()
    }

    fn be(&mut self, _: Ns, _: State) -> Result<(), String> {
        Err("it has no states".into())
    }

    fn rest(&mut self, _: Ns) {}

    fn prepared(&mut self, _: Action, _: Extent) {}
}
