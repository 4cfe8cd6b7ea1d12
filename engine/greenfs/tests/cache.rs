//! Which bytes of a file are here, which file was used last, and what is given up: against plain
//! models.

use greenfs::cache::choice::to_give_up;
use greenfs::cache::part::PIECE_B;
use greenfs::cache::{Part, Recent};
use greenfs::ranges::Ranges;
use proptest::prelude::*;

const SIZE: usize = 64;
const BLOCK: usize = 8;

fn ranges() -> impl Strategy<Value = std::ops::Range<u64>> {
    (0..SIZE as u64, 0..SIZE as u64).prop_map(|(one, other)| one.min(other)..one.max(other))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// A program would read zeros for data, or wait for data that is here.
    #[test]
    fn ranges_are_a_set_of_bytes(
        steps in prop::collection::vec((any::<bool>(), ranges()), 0..40),
        asked in ranges(),
    ) {
        let (mut ranges, mut model) = (Ranges::default(), [false; SIZE]);
        for (inserts, range) in steps {
            match inserts {
                true => ranges.insert(range.clone()),
                false => ranges.remove(range.clone()),
            }
            model[range.start as usize..range.end as usize].fill(inserts);
        }
        let mut here = [false; SIZE];
        for range in ranges.iter() {
            here[range.start as usize..range.end as usize].fill(true);
        }
        prop_assert_eq!(here, model);
        let all: Vec<_> = ranges.iter().collect();
        prop_assert!(all.windows(2).all(|pair| pair[0].end < pair[1].start), "{:?}", all);
        prop_assert_eq!(ranges.count_b(), model.iter().filter(|is_here| **is_here).count() as u64);

        let mut missing = [false; SIZE];
        for gap in ranges.gaps(asked.clone()) {
            missing[gap.start as usize..gap.end as usize].fill(true);
        }
        for (at, is_missing) in missing.into_iter().enumerate() {
            prop_assert_eq!(is_missing, asked.contains(&(at as u64)) && !model[at]);
        }
        let is_all_here = asked.clone().all(|at| model[at as usize]);
        prop_assert_eq!(ranges.has_all(asked), is_all_here);

        let mut blocks = [false; SIZE];
        for (at, is_here) in model.into_iter().enumerate() {
            let begin = at / BLOCK * BLOCK;
            blocks[begin..begin + BLOCK].iter_mut().for_each(|block| *block |= is_here);
        }
        let mut whole = [false; SIZE];
        for range in ranges.rounded(BLOCK as u64).iter() {
            whole[range.start as usize..range.end as usize].fill(true);
        }
        prop_assert_eq!(whole, blocks);

        let text = serde_json::to_string(&ranges).expect("it is written as pairs");
        let read: Ranges = serde_json::from_str(&text).expect("it was written so");
        prop_assert_eq!(read, ranges);
    }

    /// A damaged status file would claim what is not here.
    #[test]
    fn no_other_list_is_a_set(pairs in prop::collection::vec((0..9_u64, 0..9_u64), 0..4)) {
        let is_set = pairs.iter().all(|(start, end)| start < end)
            && pairs.windows(2).all(|two| two[0].1 < two[1].0);
        prop_assert_eq!(Ranges::try_from(pairs).is_ok(), is_set);
    }

    /// What is used all the time would be given up.
    #[test]
    fn the_longest_unused_comes_first(steps in prop::collection::vec((any::<bool>(), 0..9_u8), 0..60)) {
        let (mut recent, mut model) = (Recent::default(), Vec::new());
        for (is_use, thing) in steps {
            model.retain(|other| *other != thing);
            match is_use {
                true => {
                    recent.use_now(thing);
                    model.push(thing);
                }
                false => recent.forget(thing),
            }
            prop_assert_eq!(recent.has(thing), is_use);
        }
        prop_assert_eq!(recent.oldest().collect::<Vec<_>>(), model);
    }

    /// Too little would be given up, or what is not here, or what is being read.
    #[test]
    fn enough_is_given_up_and_no_more(
        pieces in 0..40_u64,
        tail in 0..PIECE_B,
        absent in prop::collection::vec((0..40_u64, 0..40_u64), 0..4),
        read in prop::collection::vec(0..40_u64, 0..20),
        excess in 0..40_u64,
        is_open in any::<bool>(),
    ) {
        let size = pieces * PIECE_B + tail;
        let mut part = Part::whole(1, size);
        for (one, other) in absent {
            let range = part.within(one.min(other) * PIECE_B..one.max(other) * PIECE_B + 9);
            part.give_up(range);
        }
        let mut used = Recent::default();
        read.iter().filter(|piece| **piece < pieces).for_each(|piece| used.use_now(*piece));
        let excess_b = excess * PIECE_B / 2;
        let here_b = part.here.count_b();
        let given_up = to_give_up(&part, &used, excess_b, is_open);
        for range in &given_up {
            prop_assert!(part.here.has_all(range.clone()), "{:?} is not here", range);
        }
        let sum_b: u64 = given_up.iter().map(|range| range.end - range.start).sum();
        let last: Vec<u64> = used.oldest().rev().take(8).collect();
        if is_open {
            let is_last = |piece: &u64| given_up.iter().any(|range| {
                range.start < (piece + 1) * PIECE_B && piece * PIECE_B < range.end
            });
            prop_assert!(!last.iter().any(is_last), "{:?} of {:?}", given_up, last);
        } else {
            prop_assert!(sum_b >= excess_b.min(here_b));
        }
        if is_open || size > 16 << 20 {
            prop_assert!(sum_b < excess_b + PIECE_B);
        }
    }
}
