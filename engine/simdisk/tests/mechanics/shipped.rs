//! The disks that come with the program: large ones, and with numbers from data sheets.

use proptest::prelude::*;
use simdisk::device::{Extent, SECTOR_B};
use simdisk::disk::heads::Heads;
use simdisk::disk::mechanics::Mechanics;
use simdisk::profile::Profile;
use simdisk::profile::disk::DiskProfile;

use crate::access::walk;
use crate::layouts::{MS, actions, sector};

fn disks() -> Vec<(&'static str, DiskProfile)> {
    let disk = |name| match Profile::load(name) {
        Ok(Profile::Disk(disk)) => Some((name, disk)),
        _ => None,
    };
    Profile::names().filter_map(disk).collect()
}

/// A skew shorter than the step that it is for would halve the sequential rate of a zone.
#[test]
fn no_shipped_disk_loses_revolutions_in_the_order_of_addresses() {
    assert!(!disks().is_empty());
    for (name, disk) in disks() {
        let mechanics = Mechanics::new(&disk.geometry, &disk.seek);
        let geometry = mechanics.geometry();
        assert_eq!(geometry.sectors(), disk.sectors(), "{name}");
        for zone in geometry.zones() {
            let Extent { sector, sectors } = zone.extent;
            let began = geometry.angle_ns(sector);
            let span_ns = mechanics.passes(sector, began, zone.extent.end() - 1) - began;
            let b_s = (sectors * SECTOR_B) as f64 / (span_ns as f64 / 1e9);
            let share = b_s / zone.media_rate_b_s();
            assert!(
                (0.7..1.0).contains(&share),
                "{name}: {share} of the media rate"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Numbers of a large disk must not overflow, nor its last zones drift.
    #[test]
    fn an_access_anywhere_is_the_walk_over_its_sectors(
        disk in prop::sample::select(disks()),
        action in actions(),
        from in 0..1_000_000_000 * MS,
        shares in (0.0..1.0, 0.0..1.0),
        sectors in 1..4096_u64,
    ) {
        let mechanics = Mechanics::new(&disk.1.geometry, &disk.1.seek);
        let geometry = mechanics.geometry();
        let heads: Heads = geometry.place(sector(&mechanics, shares.0)).heads;
        let first = sector(&mechanics, shares.1);
        let extent = Extent {
            sector: first,
            sectors: sectors.min(geometry.sectors() - first),
        };
        let access = mechanics.access(heads, from, extent, action);
        prop_assert_eq!(access.end, walk(&mechanics, heads, from, extent, action));
        let reached = mechanics.reached(first, access.transfer_from, access.end);
        prop_assert_eq!(reached, extent.end());
    }
}
