//! What is on the media when power fails.

use proptest::prelude::*;
use simdisk::device::{Action, Device, Outcome};

use crate::host::{Host, MS, S, extent, profile};

proptest! {
    /// A torn write would be torn somewhere else than on a disk.
    #[test]
    fn exactly_the_sectors_that_passed_under_the_head_are_stored(
        sector in 0..79_000_u64,
        sectors in 1..128_u64,
        after in 0..60_000_000_u64,
    ) {
        let mut host = Host::new(&profile(|_| ()));
        host.takes(Action::Write, extent(sector, sectors));
        host.until(host.now);
        let access = host.disk.take_log()[0];
        let cut = host.now + after;
        host.disk.cut_power(cut, &mut host.events);

        let mechanics = host.disk.mechanics();
        let passed = (sector..sector + sectors)
            .take_while(|&last| {
                mechanics.passes(sector, access.transfer_from, last) <= cut
            })
            .count() as u64;
        let stored: Vec<_> = host.stored().into_iter().map(|stored| stored.1).collect();
        if passed == 0 {
            prop_assert_eq!(stored, []);
        } else {
            prop_assert_eq!(stored, [extent(sector, passed)]);
        }
    }
}

/// Commands from before would be answered by a disk that knows nothing of them.
#[test]
fn commands_are_forgotten_and_later_ones_wait_for_the_start() {
    let mut host = Host::new(&profile(|_| ()));
    let lost = host.issue(Action::Read, extent(0, 8));
    host.until(MS);
    host.disk.cut_power(host.now, &mut host.events);
    assert_eq!((host.disk.waiting(), host.disk.next()), (0, None));
    host.until(10 * S);
    host.disk.restore_power(host.now);
    let tag = host.issue(Action::Write, extent(0, 8));
    let (at, outcome) = host.wait(tag);
    assert_eq!(outcome, Outcome::Done);
    assert!(at > 18 * S);
    assert_eq!(host.answer(lost), None);
    assert_eq!(host.counter("power_losses_count"), 1);
    assert_eq!(host.counter("start_stops_count"), 1);
}

/// A disk without power would go on drawing it.
#[test]
fn without_power_nothing_is_drawn() {
    let mut host = Host::new(&profile(|_| ()));
    host.issue(Action::Read, extent(30_000, 8));
    host.until(2 * MS);
    host.disk.cut_power(host.now, &mut host.events);
    let before = host.disk.ledger().energy_fj();
    host.until(S);
    assert_eq!(host.disk.ledger().energy_fj(), before);
    assert_eq!(host.disk.ledger().power_uw(), 0);
}

/// The disk would remember what its memory lost.
#[test]
fn what_was_cached_before_must_be_read_again() {
    let mut host = Host::new(&profile(|_| ()));
    host.takes(Action::Read, extent(100, 8));
    assert!(host.takes(Action::Read, extent(100, 8)) < MS);
    host.disk.cut_power(host.now, &mut host.events);
    host.disk.restore_power(host.now);
    host.until(host.now + 9 * S);
    assert!(host.takes(Action::Read, extent(100, 8)) > MS / 2);
    assert_eq!(host.counter("cache_hits_count"), 1);
}
