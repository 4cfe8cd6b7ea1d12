//! No order of commands, and no power cut, may lose or change data that the drive has answered for.

use std::collections::BTreeMap;

use proptest::prelude::*;
use simdisk::device::{Action, Command, Device, Event, Extent};
use simdisk::profile::{Overrides, Profile, SsdProfile};
use simdisk::ssd::Ssd;
use simdisk::time::Ns;

/// A drive that is full after a few hundred pages, with 2 KiB of cache for each die.
fn profile(write_kib: u64) -> SsdProfile {
    let Profile::Ssd(mut profile) = Profile::load("x25-m-g2").unwrap() else {
        panic!("a disk")
    };
    profile.flash.channels = 2;
    profile.flash.dies_per_channel = 2;
    profile.flash.pages_per_block = 4;
    profile.flash.spare_percent = 50.0;
    profile.cache.write_kib = write_kib;
    profile.queue.depth = 8;
    let overrides = Overrides {
        sectors: Some(SECTORS),
        ..Overrides::default()
    };
    match Profile::Ssd(profile).with(&overrides, "small") {
        Ok(Profile::Ssd(profile)) => profile,
        other => panic!("{other:?}"),
    }
}

const SECTORS: u64 = 4 * 8 * 4 * 8;

/// What a host asks for, and how long after the last request.
#[derive(Clone, Copy, Debug)]
struct Request {
    action: Action,
    extent: Extent,
    through: bool,
    later_ns: Ns,
}

fn request() -> impl Strategy<Value = Request> {
    let action = prop_oneof![
        6 => Just(Action::Write),
        3 => Just(Action::Read),
        1 => Just(Action::Flush),
        1 => Just(Action::Discard),
    ];
    let sectors = prop_oneof![3 => 1_u64..17, 1 => 17_u64..200];
    let later = prop_oneof![Just(0), 0_u64..3_000_000, Just(50_000_000)];
    (action, 0..SECTORS, sectors, any::<bool>(), later).prop_map(
        |(action, sector, sectors, through, later_ns)| Request {
            action,
            extent: match action {
                Action::Flush => Extent {
                    sector: 0,
                    sectors: 0,
                },
                // half of the requests meet on a few pages
                _ if through => Extent {
                    sector: sector % 64,
                    sectors: sectors.min(20),
                },
                _ => Extent {
                    sector,
                    sectors: sectors.min(SECTORS - sector),
                },
            },
            through: through && sectors % 2 == 0,
            later_ns,
        },
    )
}

/// Keeps the data that the events speak of: a version is the tag of a write, plus one.
#[derive(Default)]
struct Mirror {
    sent: BTreeMap<u64, Request>,
    begun: Vec<u64>,
    volatile: BTreeMap<u64, u64>,
    media: BTreeMap<u64, u64>,
    /// For each sector the least version that a power cut may leave.
    promised: BTreeMap<u64, u64>,
    /// For each sector the version of the last write or discard that is complete.
    answered: BTreeMap<u64, u64>,
    /// Of a flush under way: what was answered when it came.
    flushing: BTreeMap<u64, BTreeMap<u64, u64>>,
}

fn sectors(extent: Extent) -> std::ops::Range<u64> {
    extent.sector..extent.end()
}

impl Mirror {
    fn send(&mut self, tag: u64, request: Request) {
        self.sent.insert(tag, request);
        if request.action == Action::Flush {
            self.flushing.insert(tag, self.answered.clone());
        }
    }

    /// The tag of what was dropped is not told: it is that of the discard, which completes next.
    fn hear(&mut self, events: &[(Ns, Event)]) {
        for (index, &(_, event)) in events.iter().enumerate() {
            match event {
                Event::Cached { tag } => {
                    self.begun.push(tag);
                    for sector in sectors(self.sent[&tag].extent) {
                        self.volatile.insert(sector, tag + 1);
                    }
                }
                Event::Stored { extent } => {
                    for sector in sectors(extent) {
                        if let Some(version) = self.volatile.remove(&sector) {
                            self.media.insert(sector, version);
                        } else {
                            panic!("sector {sector} is stored, and was not cached");
                        }
                    }
                }
                Event::Dropped { extent } => {
                    let Some(&(_, Event::Completed { tag, .. })) = events.get(index + 1) else {
                        panic!("a discard completes at once")
                    };
                    for sector in sectors(extent) {
                        self.volatile.remove(&sector);
                        self.media.insert(sector, tag + 1);
                        self.answered.insert(sector, tag + 1);
                        self.promised.insert(sector, tag + 1);
                    }
                }
                Event::Completed { tag, .. } => self.complete(tag),
            }
        }
    }

    fn complete(&mut self, tag: u64) {
        let request = self.sent.remove(&tag).expect("answered once");
        match request.action {
            Action::Read => {
                for sector in sectors(request.extent) {
                    assert_eq!(self.at(sector), self.answered.get(&sector).copied());
                }
            }
            Action::Write => {
                assert!(self.begun.contains(&tag), "complete, and never cached");
                for sector in sectors(request.extent) {
                    self.answered.insert(sector, tag + 1);
                    if request.through {
                        assert_eq!(self.media.get(&sector), Some(&(tag + 1)), "not through");
                        self.promised.insert(sector, tag + 1);
                    }
                }
            }
            Action::Flush => {
                for (sector, version) in self.flushing.remove(&tag).expect("it flushes") {
                    let promised = self.promised.entry(sector).or_default();
                    *promised = version.max(*promised);
                }
            }
            Action::Discard => {}
        }
    }

    fn at(&self, sector: u64) -> Option<u64> {
        self.volatile
            .get(&sector)
            .or_else(|| self.media.get(&sector))
            .copied()
    }

    /// Volatile data and commands are gone; what was promised is there, and nothing that was never
    /// sent.
    fn lose_power(&mut self) {
        self.volatile.clear();
        self.sent.clear();
        self.flushing.clear();
        for (sector, version) in &self.promised {
            let stored = self.media.get(sector).copied().unwrap_or_default();
            assert!(
                stored >= *version,
                "sector {sector}: {stored}, promised {version}"
            );
        }
        self.answered = self.media.clone();
        self.promised = self.media.clone();
    }
}

/// Send requests as there is room; cut the power at some of them. All that happened.
fn run(write_kib: u64, requests: &[Request], cuts: &[usize]) -> (Vec<(Ns, Event)>, u128) {
    let mut ssd = Ssd::new(&profile(write_kib), 0);
    ssd.precondition(11);
    let mut mirror = Mirror::default();
    let mut all = Vec::new();
    let mut at = 0;
    let mut hear = |ssd: &mut Ssd, mirror: &mut Mirror, to: Ns| {
        let mut events = Vec::new();
        ssd.advance(to, &mut events);
        assert!(events.is_sorted_by_key(|&(at, _)| at));
        mirror.hear(&events);
        all.extend(events);
    };
    for (tag, request) in requests.iter().enumerate() {
        at += request.later_ns;
        hear(&mut ssd, &mut mirror, at);
        while ssd.waiting() >= ssd.depth() {
            at = ssd.next().expect("a full queue moves");
            hear(&mut ssd, &mut mirror, at);
        }
        let &Request {
            action,
            extent,
            through,
            ..
        } = request;
        let tag = tag as u64;
        mirror.send(tag, *request);
        ssd.submit(
            at,
            Command {
                tag,
                action,
                extent,
                through,
            },
        );
        if cuts.contains(&(tag as usize)) {
            at += 700_000;
            let mut events = Vec::new();
            ssd.cut_power(at, &mut events);
            mirror.hear(&events);
            mirror.lose_power();
            assert_eq!(ssd.ledger().power_uw(), 0);
            at += 1_000_000;
            ssd.advance(at, &mut Vec::new());
            ssd.restore_power(at);
        }
    }
    while let Some(next) = ssd.next() {
        at = next;
        hear(&mut ssd, &mut mirror, at);
    }
    assert!(
        mirror.sent.is_empty() && ssd.waiting() == 0,
        "{:?} unanswered",
        mirror.sent
    );
    assert!(
        mirror.volatile.is_empty(),
        "never stored: {:?}",
        mirror.volatile
    );
    (all, ssd.ledger().energy_fj())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn reads_see_the_last_write_and_power_cuts_lose_only_what_was_not_promised(
        requests in prop::collection::vec(request(), 1..150),
        cuts in prop::collection::vec(0_usize..150, 0..4),
        write_kib in prop_oneof![Just(0_u64), Just(4), Just(32)],
    ) {
        run(write_kib, &requests, &cuts);
    }

    /// Two runs that differ could not be compared.
    #[test]
    fn the_same_run_gives_the_same_bits(
        requests in prop::collection::vec(request(), 1..60),
        cuts in prop::collection::vec(0_usize..60, 0..2),
    ) {
        prop_assert_eq!(run(32, &requests, &cuts), run(32, &requests, &cuts));
    }
}

/// A loop device zeroes by discarding: what is not zero then is another file's data.
#[test]
fn what_is_discarded_reads_as_zeros_to_its_last_sector() {
    let mut ssd = Ssd::new(&profile(64), 0);
    let mut events = Vec::new();
    let extent = Extent {
        sector: 3,
        sectors: 21,
    };
    for (tag, action) in [(1, Action::Write), (2, Action::Discard), (3, Action::Flush)] {
        let extent = match action {
            Action::Flush => Extent {
                sector: 0,
                sectors: 0,
            },
            _ => extent,
        };
        let command = Command {
            tag,
            action,
            extent,
            through: false,
        };
        ssd.submit(ssd.ledger().settled(), command);
        let is_answer = |event: &(Ns, Event)| matches!(event.1, Event::Completed { tag: answered, .. } if answered == tag);
        while !events.iter().any(is_answer) {
            let next = ssd.next().expect("it owes an answer");
            ssd.advance(next, &mut events);
        }
    }
    let dropped = events
        .iter()
        .position(|&(_, event)| event == Event::Dropped { extent });
    let behind = &events[dropped.expect("all of it is dropped")..];
    let stored = |event: &(Ns, Event)| matches!(event.1, Event::Stored { .. });
    assert!(!behind.iter().any(stored), "{behind:?}");
}
