//! What the heuristics make of streams of requests.

use proptest::prelude::*;

use readahead::cursor::{FIRST_COUNT, MOST_COUNT, NEAR_B};
use readahead::{Decide, Decision, Heuristic, Order, Reads, Request, Settings};

const ALL: [Heuristic; 4] = [
    Heuristic::Default,
    Heuristic::Always,
    Heuristic::SlowDown,
    Heuristic::Cursors,
];
const BLOCK_B: u64 = 8192;

fn decisions(settings: &Settings, requests: impl IntoIterator<Item = Request>) -> Vec<Decision> {
    let mut read_ahead = settings.read_ahead().expect("good settings");
    let requests = requests.into_iter();
    requests.map(|request| read_ahead.decide(request)).collect()
}

fn of(heuristic: Heuristic) -> Settings {
    Settings {
        heuristic,
        ..Settings::default()
    }
}

fn counts(heuristic: Heuristic, requests: impl IntoIterator<Item = Request>) -> Vec<u32> {
    let decisions = decisions(&of(heuristic), requests);
    decisions.iter().map(|one| one.sequential_count).collect()
}

fn block(nth: u64) -> Request {
    Request {
        file: 7,
        offset_b: nth * BLOCK_B,
        count_b: BLOCK_B,
    }
}

fn reads(reads: Reads) -> Vec<Request> {
    reads.round_robin().expect("good settings")
}

/// From 1 by 1 to 127 (section 6.2): that is what all comparisons begin with.
#[test]
fn a_sequential_reader_is_counted_up_to_the_most() {
    for heuristic in [Heuristic::Default, Heuristic::SlowDown, Heuristic::Cursors] {
        let counted = counts(heuristic, (0..200).map(block));
        let expected = (FIRST_COUNT..).map(|count| count.min(MOST_COUNT)).take(200);
        assert_eq!(counted, expected.collect::<Vec<_>>(), "{heuristic:?}");
    }
}

#[test]
fn a_jump_ends_the_default_and_halves_slow_down() {
    let jumps = |heuristic| {
        let far = (1..=8).map(|nth| block(1_000_000 * nth));
        counts(heuristic, (0..200).map(block).chain(far)).split_off(199)
    };
    assert_eq!(jumps(Heuristic::Default), [127, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(jumps(Heuristic::SlowDown), [127, 63, 31, 15, 7, 3, 1, 0, 0]);
    assert_eq!(jumps(Heuristic::Always), [127; 9]);
    assert_eq!(jumps(Heuristic::Cursors), [127, 1, 1, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn what_is_within_64_kib_leaves_the_count_of_slow_down() {
    let after = |offset_b| {
        let last = Request {
            offset_b,
            ..block(0)
        };
        counts(Heuristic::SlowDown, (0..100).map(block).chain([last]))[100]
    };
    let next_b = 100 * BLOCK_B;
    assert_eq!(after(next_b), 101);
    assert_eq!((after(next_b + NEAR_B), after(next_b - NEAR_B)), (100, 100));
    assert_eq!(
        (after(next_b + NEAR_B + 1), after(next_b - NEAR_B - 1)),
        (50, 50)
    );
}

/// The reason for SlowDown: neighbours that change places end the default's read-ahead each time.
#[test]
fn slow_down_survives_requests_out_of_order() {
    let swapped = reads(Reads {
        late_percent: 6,
        ..Reads::default()
    });
    let mean = |heuristic| {
        let counted = counts(heuristic, swapped.iter().copied());
        f64::from(counted.iter().sum::<u32>()) / counted.len() as f64
    };
    let (default, slow) = (mean(Heuristic::Default), mean(Heuristic::SlowDown));
    assert!(slow > 125.0 && default < 30.0, "{slow} {default}");
}

/// Section 7: strides look random to all heuristics with one place for each file.
#[test]
fn only_cursors_see_strides() {
    for streams in [2, 4, 8] {
        let strides = || {
            reads(Reads {
                streams,
                ..Reads::default()
            })
        };
        for heuristic in [Heuristic::Default, Heuristic::SlowDown] {
            let ahead_b = decisions(&of(heuristic), strides()).into_iter();
            assert_eq!(ahead_b.map(|one| one.ahead_b).sum::<u64>(), 0);
        }
        let counted = counts(Heuristic::Cursors, strides());
        let (rising, steady) = counted.split_at(127 * streams as usize);
        assert!(steady.iter().all(|&count| count == MOST_COUNT), "{streams}");
        let expected = (0..rising.len()).map(|nth| nth as u32 / streams + 1);
        assert_eq!(rising, expected.collect::<Vec<_>>(), "{streams}");
    }
}

#[test]
fn more_strides_than_cursors_get_none() {
    let strides = reads(Reads {
        streams: 9,
        ..Reads::default()
    });
    assert!(
        counts(Heuristic::Cursors, strides)
            .iter()
            .all(|&count| count == 1)
    );
}

#[test]
fn random_reads_begin_cursors_that_do_not_grow() {
    let random = reads(Reads {
        order: Order::Random,
        ..Reads::default()
    });
    let wanted_b: u64 = random.iter().map(|request| request.count_b).sum();
    let decided = decisions(&of(Heuristic::Cursors), random);
    let ahead_b: u64 = decided.iter().map(|one| one.ahead_b).sum();
    assert!(ahead_b * 100 < wanted_b, "{ahead_b} of {wanted_b}");
}

/// Section 6.3: two files that hash to neighbours push each other out of an almost empty table.
#[test]
fn files_are_forgotten_though_the_table_is_almost_empty() {
    let in_turn = |probes| {
        let settings = Settings {
            probes,
            ..Settings::default()
        };
        let files = [3, 67, 131].into_iter().cycle().take(30);
        let requests = files.enumerate().map(|(nth, file)| Request {
            file,
            ..block(nth as u64 / 3)
        });
        decisions(&settings, requests)
    };
    let forgotten = in_turn(2)
        .iter()
        .filter(|one| one.evicted.is_some())
        .count();
    assert_eq!(forgotten, 28);
    assert!(in_turn(3).iter().all(|one| one.evicted.is_none()));
}

#[test]
fn settings_out_of_their_bounds_are_refused() {
    let none = Settings {
        probes: 0,
        ..Settings::default()
    };
    assert!(
        none.read_ahead()
            .expect_err("no probe")
            .contains("probes is 0")
    );
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let near = 0..2_000_000_u64;
    let offset_b = prop_oneof![near.prop_map(|at| at / 4096 * 4096), any::<u64>()];
    let count_b = prop_oneof![Just(BLOCK_B), 0..100_000_u64, any::<u64>()];
    let file = prop_oneof![0..20_u64, any::<u64>()];
    let request = (file, offset_b, count_b).prop_map(|(file, offset_b, count_b)| Request {
        file,
        offset_b,
        count_b,
    });
    prop::collection::vec(request, 0..300)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// A client may send anything: what is decided stays within its bounds.
    #[test]
    fn no_request_leads_beyond_the_bounds(
        requests in requests(), slots in 1_u32..100, probes in 1_u32..200, cursors in 1_u32..20,
    ) {
        for heuristic in ALL {
            let settings = Settings { heuristic, slots, probes, cursors, ..Settings::default() };
            for decision in decisions(&settings, requests.iter().copied()) {
                prop_assert!(decision.sequential_count <= MOST_COUNT);
                prop_assert!(decision.ahead_b <= settings.window_b());
                prop_assert!(decision.slot.is_some_and(|slot| slot < slots as usize));
                prop_assert_ne!(decision.evicted, Some(decision.request.file));
            }
        }
    }

    /// Whoever changes to SlowDown never reads ahead less.
    #[test]
    fn slow_down_never_falls_below_the_default(requests in requests()) {
        let slow = counts(Heuristic::SlowDown, requests.iter().copied());
        let default = counts(Heuristic::Default, requests.iter().copied());
        prop_assert!(slow.iter().zip(&default).all(|(slow, default)| slow >= default));
    }

    /// Wherever a sequential reader begins, and whatever was read before.
    #[test]
    fn every_heuristic_finds_a_sequential_reader(requests in requests(), begin in 0_u64..1 << 40) {
        let sequential = (0..=u64::from(MOST_COUNT)).map(|nth| block(begin + nth));
        for heuristic in ALL {
            let counted = counts(heuristic, requests.iter().copied().chain(sequential.clone()));
            prop_assert_eq!(counted.last(), Some(&MOST_COUNT));
        }
    }

    /// As many strides as there are cursors, read in any turn, are counted apart.
    #[test]
    fn cursors_keep_a_count_for_each_stride(
        cursors in 1_u64..12, turns in prop::collection::vec(any::<u64>(), 0..500),
    ) {
        let settings = Settings { cursors: cursors as u32, ..of(Heuristic::Cursors) };
        let mut read = vec![0; cursors as usize];
        let mut read_ahead = settings.read_ahead().expect("good settings");
        for turn in turns {
            let stride = turn % cursors;
            let nth = &mut read[stride as usize];
            let decision = read_ahead.decide(block(stride * 1_000_000 + u64::from(*nth)));
            *nth += 1;
            prop_assert_eq!(decision.sequential_count, (*nth).min(MOST_COUNT));
        }
    }

    /// A table that is looked through whole forgets no file while it has as many slots.
    #[test]
    fn a_table_forgets_nothing_that_it_can_hold(
        slots in 1_u32..40, files in prop::collection::vec(any::<u64>(), 1..40),
        turns in prop::collection::vec(any::<prop::sample::Index>(), 0..300),
    ) {
        let files = &files[..files.len().min(slots as usize)];
        let settings = Settings { slots, probes: slots, ..Settings::default() };
        let requests = turns.iter().map(|turn| Request { file: *turn.get(files), ..block(0) });
        for decision in decisions(&settings, requests) {
            prop_assert_eq!(decision.evicted, None);
        }
    }

    /// Late requests are the same requests, and none is later than it was asked to be.
    #[test]
    fn late_requests_arrive_once_and_not_too_late(
        late_percent in 0_u32..=100, late_places in 1_u32..20, streams in 1_u32..5, seed: u64,
    ) {
        let asked = Reads { total_mib: 2, streams, seed, ..Reads::default() };
        let ordered = reads(asked.clone());
        let arrived = reads(Reads { late_percent, late_places, ..asked });
        let place = |one: &Request| ordered.iter().position(|other| other == one);
        let mut seen = vec![false; ordered.len()];
        for (now, one) in arrived.iter().enumerate() {
            let then = place(one).expect("a request of the stream");
            prop_assert!(!std::mem::replace(&mut seen[then], true));
            prop_assert!(now.abs_diff(then) <= late_places as usize);
        }
        prop_assert!(seen.into_iter().all(|seen| seen));
    }
}
