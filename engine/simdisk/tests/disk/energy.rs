//! The account of energy: one state at a time, and nothing lost or counted twice.

use proptest::prelude::*;
use simdisk::device::{Action, Device};

use crate::host::{Host, MS, S, extent, profile};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// The watts of a study would be those of two disks, or of none.
    #[test]
    fn the_disk_is_always_in_one_state_and_the_parts_are_the_integral(
        commands in prop::collection::vec(
            (0..4_u8, 0..119_000_u64, 1..60_u64, 0..300_000_000_u64), 1..60),
        standby in any::<bool>(),
    ) {
        let profile = profile(|profile| {
            profile.spin.unload_after_s = 0.05;
            profile.spin.standby_after_s = if standby { 0.1 } else { 0.0 };
        });
        let mut host = Host::new(&profile);
        for (action, sector, sectors, gap) in commands {
            while host.disk.waiting() >= 32 {
                host.until(host.disk.next().unwrap());
            }
            match action {
                0 | 1 => host.issue(Action::Read, extent(sector, sectors)),
                2 => host.issue(Action::Write, extent(sector, sectors)),
                _ => host.issue(Action::Flush, extent(0, 0)),
            };
            host.until(host.now + gap);
            let ledger = host.disk.ledger();
            let levels: u32 = (0..10).map(|part| ledger.level(part)).sum();
            prop_assert_eq!(levels, 1);
        }
        host.settle();
        let ledger = host.disk.ledger();
        let states_ns: u64 = ledger.parts().map(|(_, _, time_ns)| time_ns).sum();
        prop_assert_eq!(states_ns, host.now);
        let ends = ledger.trace().iter().skip(1).map(|&(at, _)| at).chain([host.now]);
        let integral: u128 = ledger
            .trace()
            .iter()
            .zip(ends)
            .map(|(&(at, power_uw), end)| u128::from(end - at) * u128::from(power_uw))
            .sum();
        prop_assert_eq!(ledger.energy_fj(), integral);
    }
}

/// Seeks would be billed as rotation, or the other way round.
#[test]
fn a_read_is_billed_by_its_parts() {
    let mut host = Host::new(&profile(|profile| profile.cache.read_ahead_kib = 0));
    host.takes(Action::Read, extent(40_000, 20));
    let seek_ns = 1_000_000 + 2_000_000 + 500_000; // 100 cylinders: settle, 0.2 * 10, 5 us * 100
    let angle_ns = host.disk.mechanics().geometry().angle_ns(40_000);
    let rotate_ns = (angle_ns + 20_000_000 - seek_ns - 100_000) % 10_000_000;
    assert_eq!(host.part("seek").0, seek_ns);
    assert_eq!(host.part("rotate").0, rotate_ns);
    assert_eq!(host.part("transfer").0, 1_000_000);
    assert_eq!(host.part("idle").0, 100_000 + 5120);
    assert!((host.part("seek").1 - 13.0 * seek_ns as f64 / 1e9).abs() < 1e-12);
}

/// Reading ahead would be free of charge.
#[test]
fn reading_ahead_draws_power_until_it_stops() {
    let mut host = Host::new(&profile(|_| ()));
    host.takes(Action::Read, extent(0, 10));
    host.until(S);
    // 128 sectors further, all on the first track
    assert_eq!(host.part("transfer").0, 138 * 50_000);
    assert_eq!(host.counter("read_ahead_b"), 128 * 512);
    assert_eq!(
        host.part("idle").0,
        S - 138 * 50_000 - host.part("rotate").0
    );
    assert!(host.part("rotate").0 <= 10 * MS);
}
