//! Which write's data each sector holds, against a model that knows only what was asked for.

use std::collections::HashMap;

use proptest::prelude::*;
use simdisk::device::{Action, Command, Device, Event, Extent, Outcome};
use simdisk::disk::Disk;
use simdisk::profile::DiskProfile;
use simdisk::profile::disk::{QueuePolicy, WriteCache};
use simdisk::time::Ns;

use crate::host::{S, profile};

/// Data are told apart by the tag of the write, or the discard, that made them. 0 is how the disk
/// came.
type Data = HashMap<u64, u64>;

#[derive(Clone, Copy, Debug)]
enum Step {
    Issue(Action, Extent, bool),
    Wait(Ns),
    CutPower,
}

/// Commands in three places, near each other and far, so that they often overlap.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let extent = (0..3_u64, 0..300_u64, 1..60_u64).prop_map(|(place, sector, sectors)| Extent {
        sector: [0, 41_000, 79_800][place as usize] + sector,
        sectors,
    });
    let action = prop_oneof![
        4 => Just(Action::Read),
        5 => Just(Action::Write),
        1 => Just(Action::Flush),
        1 => Just(Action::Discard),
    ];
    let step = prop_oneof![
        30 => (action, extent, prop::bool::weighted(0.2))
            .prop_map(|(action, extent, through)| Step::Issue(action, extent, through)),
        10 => (0..8_000_000_u64).prop_map(Step::Wait),
        1 => Just(Step::CutPower),
    ];
    prop::collection::vec(step, 1..120)
}

fn profiles() -> impl Strategy<Value = DiskProfile> {
    (0..4, any::<bool>(), 1..33_usize, 0..3_u64, 0..3_u32).prop_map(
        |(policy, back, depth, ahead, size)| {
            profile(|profile| {
                profile.queue.policy = match policy {
                    0 => QueuePolicy::Fifo,
                    1 => QueuePolicy::Elevator,
                    _ => QueuePolicy::Sptf,
                };
                profile.queue.age_limit_ms = (policy == 3).then_some(20.0);
                profile.cache.write = if back {
                    WriteCache::Back
                } else {
                    WriteCache::Through
                };
                profile.queue.depth = depth;
                profile.cache.segments = 1 << size;
                profile.cache.size_kib = 16 << size;
                profile.cache.read_ahead_kib = 8 * ahead;
            })
        },
    )
}

/// A host that moves the data as the disk says, and knows what each answer must mean.
struct Checked {
    disk: Disk,
    back: bool,
    now: Ns,
    commands: HashMap<u64, Command>,
    next_tag: u64,
    /// What the disk's volatile memory and media hold, by its events.
    memory: Data,
    media: Data,
    /// Of each read, what it must give; of each flush, what must be on the media after it.
    expected: HashMap<u64, Data>,
    /// The latest data that were asked for, that were answered, and that must survive.
    asked: Data,
    answered: Data,
    safe: Data,
}

impl Checked {
    fn new(profile: &DiskProfile) -> Self {
        Self {
            disk: Disk::new(profile, 0),
            back: profile.cache.write == WriteCache::Back,
            now: 0,
            commands: HashMap::new(),
            next_tag: 1,
            memory: Data::new(),
            media: Data::new(),
            expected: HashMap::new(),
            asked: Data::new(),
            answered: Data::new(),
            safe: Data::new(),
        }
    }

    fn issue(&mut self, action: Action, extent: Extent, through: bool) {
        while self.disk.waiting() >= self.disk.depth() {
            self.until(self.disk.next().expect("a full disk goes on"));
        }
        let tag = self.next_tag;
        self.next_tag += 1;
        let extent = match action {
            Action::Flush => Extent {
                sector: 0,
                sectors: 0,
            },
            _ => extent,
        };
        let sectors = extent.sector..extent.end();
        match action {
            Action::Read => {
                let data = sectors.map(|sector| (sector, at(&self.asked, sector)));
                self.expected.insert(tag, data.collect());
            }
            Action::Flush => {
                self.expected.insert(tag, self.answered.clone());
            }
            Action::Write | Action::Discard => {
                self.asked.extend(sectors.map(|sector| (sector, tag)));
            }
        }
        let command = Command {
            tag,
            action,
            extent,
            through,
        };
        self.commands.insert(tag, command);
        self.disk.submit(self.now, command);
    }

    fn until(&mut self, to: Ns) {
        let mut events = Vec::new();
        self.disk.advance(to, &mut events);
        self.take(to, &events);
    }

    fn take(&mut self, to: Ns, events: &[(Ns, Event)]) {
        for (index, &(at, event)) in events.iter().enumerate() {
            assert!((self.now..=to).contains(&at), "{event:?} goes back in time");
            self.now = at;
            match event {
                Event::Cached { tag } => {
                    let extent = self.commands[&tag].extent;
                    self.memory
                        .extend((extent.sector..extent.end()).map(|sector| (sector, tag)));
                }
                Event::Stored { extent } => {
                    for sector in extent.sector..extent.end() {
                        let data = self.memory.remove(&sector);
                        let data = data.expect("what is stored was in memory");
                        self.media.insert(sector, data);
                    }
                }
                Event::Dropped { extent } => {
                    let Event::Completed { tag, .. } = events[index + 1].1 else {
                        panic!("a discard is answered at once");
                    };
                    for sector in extent.sector..extent.end() {
                        self.memory.remove(&sector);
                        self.media.insert(sector, tag);
                    }
                }
                Event::Completed { tag, outcome } => self.answer(tag, outcome),
            }
        }
        self.now = to;
    }

    fn answer(&mut self, tag: u64, outcome: Outcome) {
        assert_eq!(outcome, Outcome::Done);
        let command = self.commands.remove(&tag).expect("each is answered once");
        let sectors = command.extent.sector..command.extent.end();
        match command.action {
            Action::Read => {
                for (sector, data) in self.expected.remove(&tag).unwrap() {
                    assert_eq!(self.read(sector), data, "sector {sector} of {command:?}");
                }
            }
            Action::Write => {
                for sector in sectors {
                    assert_eq!(self.read(sector), tag, "sector {sector} of {command:?}");
                    self.answered.insert(sector, tag);
                    if command.through || !self.back {
                        assert_eq!(at(&self.media, sector), tag);
                        self.safe.insert(sector, tag);
                    }
                }
            }
            Action::Flush => {
                // data of later writes may have taken the place
                for (sector, data) in self.expected.remove(&tag).unwrap() {
                    assert!(at(&self.media, sector) >= data, "{sector} is not flushed");
                    let safe = self.safe.entry(sector).or_default();
                    *safe = data.max(*safe);
                }
            }
            Action::Discard => {
                self.answered
                    .extend(sectors.clone().map(|sector| (sector, tag)));
                self.safe.extend(sectors.map(|sector| (sector, tag)));
            }
        }
    }

    fn read(&self, sector: u64) -> u64 {
        let cached = self.memory.get(&sector).copied();
        cached.unwrap_or_else(|| at(&self.media, sector))
    }

    fn cut_power(&mut self) {
        let mut events = Vec::new();
        self.disk.cut_power(self.now, &mut events);
        self.take(self.now, &events);
        self.memory.clear();
        self.commands.clear();
        self.expected.clear();
        for (&sector, &data) in &self.safe {
            assert!(at(&self.media, sector) >= data, "{sector} is lost");
        }
        self.asked = self.media.clone();
        self.answered = self.media.clone();
        assert_eq!(self.disk.waiting(), 0);
        assert_eq!(self.disk.next(), None);
        self.now += S;
        self.until(self.now);
        self.disk.restore_power(self.now);
    }

    /// Let everything come to rest: all is answered, and on the media.
    fn settle(&mut self) {
        while let Some(next) = self.disk.next() {
            self.until(next);
        }
        assert!(self.commands.is_empty(), "{:?} unanswered", self.commands);
        assert!(self.memory.is_empty(), "{:?} volatile", self.memory);
        assert_eq!(self.media, self.asked);
    }
}

fn at(data: &Data, sector: u64) -> u64 {
    data.get(&sector).copied().unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// A file system would be given another's data, or lose what it was promised to keep.
    #[test]
    fn every_sector_holds_the_data_that_it_must(profile in profiles(), steps in steps()) {
        let mut host = Checked::new(&profile);
        for step in steps {
            match step {
                Step::Issue(action, extent, through) => host.issue(action, extent, through),
                Step::Wait(span) => host.until(host.now + span),
                Step::CutPower => host.cut_power(),
            }
        }
        host.settle();
    }
}
