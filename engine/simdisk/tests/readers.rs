//! Readers on a device of which every time is known: who is served when, and what is drawn.

mod common;

use proptest::prelude::*;

use common::{Linear, SECTORS};
use simdisk::device::Device;
use simdisk::host::{RequestQueue, SCHEDULERS, Served, scheduler_by_name};
use simdisk::simulate::layout::{self, Placement};
use simdisk::simulate::readers::Reading;
use simdisk::simulate::{Readers, run};
use simdisk::time::Ns;

struct Done {
    readings: Vec<Reading>,
    served: Vec<Served>,
    end: Ns,
    queue: RequestQueue<Linear>,
}

fn done(readers: &Readers, scheduler: &str, depth: usize) -> Done {
    let mut crowd = readers.crowd(SECTORS).expect("they fit");
    let scheduler = scheduler_by_name(scheduler).expect("it is in the list");
    let mut queue = RequestQueue::new(Box::new(Linear::new(depth)), scheduler);
    let mut served = Vec::new();
    let end = run(&mut queue, &mut crowd, 0, |one| served.push(*one));
    Done {
        readings: crowd.readings().collect(),
        served,
        end,
        queue,
    }
}

/// How long each took, by rank.
fn times(done: &Done) -> Vec<f64> {
    let times = done.readings.iter();
    let mut times: Vec<_> = times
        .map(|one| (one.done_ns - one.start_ns) as f64)
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

fn eight() -> Readers {
    Readers {
        readers: 8,
        total_mib: 64,
        ..Readers::default()
    }
}

/// The trade-off of nfstricks03 section 5.3 in its purest form: with read-ahead, the elevator lets
/// one reader after the other through, N-CSCAN all at once, and seeks for it.
#[test]
fn the_elevator_is_fast_and_unfair_and_n_cscan_neither() {
    let elevator = done(&eight(), "elevator", 1);
    let fair = done(&eight(), "n-cscan", 1);
    let (unfair_times, fair_times) = (times(&elevator), times(&fair));
    assert!(unfair_times[7] / unfair_times[0] > 6.0);
    assert!(fair_times[7] / fair_times[0] < 1.2);
    assert!(fair.end > elevator.end);
}

/// What makes the elevator unfair is that the next request is there before the last is answered.
#[test]
fn without_read_ahead_the_elevator_is_fair() {
    let readers = Readers {
        window: 0,
        ..eight()
    };
    let times = times(&done(&readers, "elevator", 1));
    assert!(times[7] / times[0] < 1.2, "{times:?}");
}

/// The finding of fsgreen's own behind nfstricks03's figure 3: a file system that must stop to read
/// its block map drains the read-ahead, and the elevator moves on to the next reader.
#[test]
fn a_block_map_to_read_makes_the_elevator_fairer() {
    let unfairness = |map_kib| {
        let times = times(&done(&Readers { map_kib, ..eight() }, "elevator", 1));
        times[7] / times[0]
    };
    let (extents, ext2) = (unfairness(0), unfairness(1024));
    assert!(extents > 6.0 && ext2 < 2.0, "{extents} {ext2}");
}

/// Data that are asked for before it is known where they lie would be read by a clairvoyant.
#[test]
fn data_wait_for_their_map() {
    let readers = Readers {
        total_mib: 1,
        map_kib: 128,
        ..Readers::default()
    };
    let served = done(&readers, "fifo", 4).served;
    let maps: Vec<_> = served
        .iter()
        .filter(|one| one.sent.request.command.extent.sectors == 8)
        .collect();
    assert_eq!(maps.len(), 7, "one for each 128 KiB but the first");
    for map in maps {
        let end = map.sent.request.command.extent.end();
        let behind = served
            .iter()
            .filter(|one| one.sent.request.command.extent.sector >= end);
        assert!(behind.map(|one| one.sent.request.issued).min() >= Some(map.done));
    }
}

/// One reader, no read-ahead: every time can be added up by hand.
#[test]
fn a_lone_reader_takes_what_device_and_copy_take() {
    let readers = Readers {
        total_mib: 1,
        window: 0,
        copy_mb_s: 100,
        ..Readers::default()
    };
    let done = done(&readers, "fifo", 1);
    let (reads, copy_ns) = (128, 8192 * 10);
    assert_eq!(done.served.len(), reads);
    assert_eq!(
        done.end,
        reads as u64 * (16 * common::TRANSFER_NS + copy_ns)
    );
}

/// Strides make the heads go to and fro, unless each stream is read ahead: the point of the
/// cursors of nfstricks03, section 7.
#[test]
fn read_ahead_helps_strides() {
    let strides = |window| Readers {
        total_mib: 64,
        streams: 4,
        window,
        ..Readers::default()
    };
    let (without, with) = (done(&strides(0), "fifo", 1), done(&strides(2), "fifo", 1));
    assert!(with.end * 2 < without.end, "{} {}", with.end, without.end);
    let places: Vec<_> = without
        .served
        .iter()
        .map(|one| one.sent.request.command.extent)
        .collect();
    let quarter = 64 * 2048 / 4;
    assert_eq!(places[1].sector, quarter);
    assert_eq!(places[4].sector, places[0].end());
}

/// An energy that is not the sum of its parts would be wrong in one of the two figures.
#[test]
fn energy_is_the_integral_of_the_power() {
    let done = done(&eight(), "n-cscan", 4);
    let ledger = done.queue.device().ledger();
    let trace = ledger.trace();
    let ends = trace.iter().skip(1).map(|&(at, _)| at).chain([done.end]);
    let steps = trace.iter().zip(ends);
    let integral: u128 = steps
        .map(|(&(at, power_uw), end)| u128::from(end - at) * u128::from(power_uw))
        .sum();
    let parts: u128 = ledger.parts().map(|(_, energy_fj, _)| energy_fj).sum();
    assert_eq!(integral, parts);
    assert_eq!(ledger.energy_fj(), parts);
}

/// Files that overlap would be read twice at the price of once.
#[test]
fn files_lie_apart_within_their_partition() {
    for placement in [Placement::Adjacent, Placement::Spread] {
        let part = layout::part(1_000_003, Some(3)).expect("there is a third");
        let files = layout::files(part, placement, 7, 10_000).expect("they fit");
        assert!(
            files
                .iter()
                .all(|file| file.sector >= part.sector && file.end() <= part.end())
        );
        assert!(files.windows(2).all(|pair| pair[0].end() <= pair[1].sector));
    }
    let parts: Vec<_> = (1..=4)
        .map(|nth| layout::part(1_000_003, Some(nth)).unwrap())
        .collect();
    assert!(parts.windows(2).all(|pair| pair[0].end() == pair[1].sector));
    assert!(layout::part(1000, Some(5)).is_err());
}

/// A number that cannot be must be refused with its name, not crash or run for ever.
#[test]
fn impossible_readers_are_refused() {
    let all = Readers::default();
    for (readers, word) in [
        (
            Readers {
                readers: 0,
                ..all.clone()
            },
            "readers",
        ),
        (
            Readers {
                copy_mb_s: 0,
                ..all.clone()
            },
            "copy_mb_s",
        ),
        (
            Readers {
                cluster_kib: 60,
                ..all.clone()
            },
            "cluster_kib",
        ),
        (
            Readers {
                map_kib: 100,
                ..all.clone()
            },
            "map_kib",
        ),
        (
            Readers {
                total_mib: 1 << 20,
                ..all.clone()
            },
            "total_mib",
        ),
        (
            Readers {
                streams: 60_000,
                ..all.clone()
            },
            "total_mib",
        ),
    ] {
        let fault = readers.crowd(SECTORS).err().expect("refused").to_string();
        assert!(fault.contains(word), "{fault}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every reader gets each sector of its file once, whoever schedules, and the same run is the
    /// same to the nanosecond.
    #[test]
    fn every_file_is_read_once(
        readers in 1_u32..6,
        streams in 1_u32..4,
        window in 0_u32..5,
        map_kib in prop_oneof![Just(0_u32), Just(64), Just(448)],
        placement in prop_oneof![Just(Placement::Adjacent), Just(Placement::Spread)],
        copy_mb_s in 1_u32..500,
        start_within_ms in 0_u32..50,
        seed in any::<u64>(),
        depth in 1_usize..9,
    ) {
        let asked = Readers {
            readers,
            total_mib: 3,
            streams,
            window,
            map_kib,
            placement,
            copy_mb_s,
            start_within_ms,
            seed,
            ..Readers::default()
        };
        for scheduler in SCHEDULERS {
            let (one, again) = (done(&asked, scheduler, depth), done(&asked, scheduler, depth));
            prop_assert_eq!(&one.served, &again.served);
            prop_assert_eq!(&one.readings, &again.readings);
            for reading in &one.readings {
                let own = one.served.iter().filter(|one| one.sent.request.stream == reading.reader);
                let mut extents: Vec<_> = own.map(|one| one.sent.request.command.extent).collect();
                extents.sort();
                prop_assert_eq!(extents[0].sector, reading.sector);
                prop_assert!(extents.windows(2).all(|pair| pair[0].end() == pair[1].sector));
                let read: u64 = extents.iter().map(|extent| extent.sectors).sum();
                prop_assert_eq!(read, reading.sectors);
                let last = one.served.iter().map(|one| one.done).max();
                prop_assert!(reading.done_ns >= reading.start_ns && last <= Some(one.end));
            }
        }
    }
}
