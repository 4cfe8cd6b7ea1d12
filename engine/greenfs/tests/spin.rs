//! The balance of spin-ups, over generated days in virtual time.

use greenfs::days::{self, Happening, Volume};
use greenfs::spin::{Balance, DAY_S, Limits, Needs, Reason, SpinUp, Tally};
use proptest::prelude::*;

/// What happens on a day: after so many seconds, so many bytes change, and the remote goes or comes.
type Event = (u64, u64, bool, bool);

fn days() -> impl Strategy<Value = (u32, Vec<Event>)> {
    let bytes = prop_oneof![0..1_u64 << 20, 0..1_u64 << 34];
    let event = (1..4 * 3600_u64, bytes, any::<bool>(), any::<bool>());
    (0..6_u32, prop::collection::vec(event, 1..200))
}

/// Live through these days. Returns the spin-ups.
fn live(per_day: u32, events: &[Event]) -> Vec<SpinUp> {
    let limits = Limits {
        per_day,
        ..Limits::default()
    };
    let mut volume = Volume::new(limits, true);
    let mut now_s = 0;
    for (file, &(after_s, size_b, is_remote_away, is_ending)) in events.iter().enumerate() {
        let file = file as u64;
        let whether = |is_so: bool, what| is_so.then_some(what);
        let happening = [
            whether(is_remote_away, Happening::Away),
            whether(!is_remote_away, Happening::Back),
            whether(size_b > 0, Happening::Change { file, size_b }),
        ];
        for what in happening.into_iter().flatten() {
            volume.live(&days::Event { at_s: now_s, what });
        }
        now_s += after_s;
        let end = match is_ending {
            true => Happening::Unmount,
            false => Happening::End,
        };
        volume.live(&days::Event {
            at_s: now_s,
            what: end,
        });
    }
    volume.woken().iter().map(|woken| woken.spin).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// A disk would wear out: no 24 hours may have more spin-ups than allowed, whatever happens.
    #[test]
    fn the_budget_is_never_exceeded((per_day, events) in days()) {
        let spins = live(per_day, &events);
        for first in &spins {
            let in_a_day = |spin: &&SpinUp| (first.at_s..first.at_s + DAY_S).contains(&spin.at_s);
            prop_assert!(spins.iter().filter(in_a_day).count() <= per_day as usize);
        }
    }

    /// What changed would never reach a disk that nobody unmounts.
    #[test]
    fn a_quiet_day_has_one(changed_b in 1..1_u64 << 29, hours in 25..60_u64) {
        let first = (60, 0, false, false);
        let spins = live(4, &[first, (hours * 3600, changed_b, false, false)]);
        let why: Vec<Reason> = spins.iter().map(|spin| spin.why).collect();
        prop_assert_eq!(why, [Reason::New, Reason::Quiet]);
    }
}

/// A clock that goes back would give spin-ups for nothing.
#[test]
fn spin_ups_in_the_future_count() {
    let at = |at_s| SpinUp {
        at_s,
        why: Reason::Much,
    };
    let balance = Balance::new(Limits::default(), vec![at(5_000_000); 4]);
    let needs = Needs {
        lacks: true,
        is_ending: true,
        ..Needs::default()
    };
    assert_eq!(balance.reason(1_000_000, &needs), None);
    assert_eq!(
        balance.reason(5_000_000 + DAY_S, &needs),
        Some(Reason::Unmount)
    );
}

/// Each further spin-up of a day would come as easily as the first.
#[test]
fn the_trigger_adapts_to_the_history() {
    let limits = Limits::default();
    let needs = Needs {
        lacks: true,
        lacks_b: limits.lacks_b,
        ..Needs::default()
    };
    let of = |count| {
        Balance::new(
            limits,
            vec![
                SpinUp {
                    at_s: 100,
                    why: Reason::Much
                };
                count
            ],
        )
    };
    assert_eq!(of(0).reason(200, &needs), Some(Reason::Much));
    assert_eq!(of(1).reason(200, &needs), None);
    let more = Needs {
        lacks_b: 2 * limits.lacks_b,
        ..needs
    };
    assert_eq!(of(1).reason(200, &more), Some(Reason::Much));
    assert_eq!(of(2).reason(200, &more), None);
}

/// Who else wakes the disk would stay unknown, or be found where nobody does.
#[test]
fn starts_that_nobody_here_is_the_cause_of_are_counted() {
    let mut tally = Tally::default();
    tally.spend();
    assert_eq!(
        tally.compare(100, 40, "a"),
        0,
        "what was before is not known"
    );
    tally.spend();
    tally.spend();
    assert_eq!(tally.compare(200, 42, "a"), 0);
    tally.spend();
    assert_eq!(tally.compare(300, 46, "a"), 3);
    tally.spend();
    assert_eq!(tally.compare(400, 46, "a"), 0, "it was turning already");
    let last = tally.last().expect("it was counted");
    assert_eq!((last.starts, last.foreign, last.since_s), (46, 3, 100));
    assert_eq!(tally.compare(500, 900, "b"), 0, "another disk");
    assert_eq!(tally.compare(600, 7, "b"), 0, "a count that began anew");
    let last = tally.last().expect("it was counted");
    assert_eq!((last.foreign, last.since_s), (0, 600));
}
