//! Where the sectors lie.

use proptest::prelude::*;
use simdisk::disk::heads::Heads;

use crate::layouts::{MS, US, layouts, plain};

/// A throughput over the offset would be wrong at every offset.
#[test]
fn zones_follow_each_other_at_their_media_rates() {
    let mechanics = plain().mechanics();
    let geometry = mechanics.geometry();
    let zones = geometry.zones();
    let extents: Vec<_> = zones
        .iter()
        .map(|zone| (zone.extent.sector, zone.extent.sectors))
        .collect();
    assert_eq!(extents, [(0, 2000), (2000, 1000)]);
    // 100 sectors in 10 ms
    assert_eq!(zones[0].media_rate_b_s(), 5_120_000.0);
    assert_eq!(zones[1].media_rate_b_s(), 2_560_000.0);
    assert_eq!(geometry.sectors(), 3000);
    assert_eq!(geometry.cylinders(), 20);
    let revolution_of = |rpm| {
        let mut layout = plain();
        layout.geometry.rpm = rpm;
        layout.mechanics().geometry().revolution_ns()
    };
    assert_eq!(revolution_of(7200), 8_333_333);
    assert_eq!(revolution_of(10_000), 6 * MS);
    assert_eq!(revolution_of(15_000), 4 * MS);
}

/// The places of the plain disk, worked out by hand.
#[test]
fn skews_add_up_from_track_to_track() {
    let mechanics = plain().mechanics();
    let place = |sector| {
        let place = mechanics.geometry().place(sector);
        (place.heads.cylinder, place.heads.head, place.angle_ns)
    };
    assert_eq!(place(0), (0, 0, 0));
    assert_eq!(place(99), (0, 0, 9_900 * US));
    assert_eq!(place(100), (0, 1, 1000 * US));
    assert_eq!(place(190), (0, 1, 0));
    assert_eq!(place(200), (1, 0, 2100 * US));
    // after nine pairs of tracks
    assert_eq!(place(1900), (9, 1, 9 * 2100 * US % (10 * MS) + 1000 * US));
    // the skew before a zone is that of the zone
    assert_eq!(place(2000), (10, 0, 1100 * US));
    assert_eq!(place(2050), (10, 1, 2100 * US));
    assert_eq!(place(2100), (11, 0, 3300 * US));
}

/// A disk whose last zone is cut off ends where its profile says, and nothing is behind.
#[test]
fn a_capacity_within_the_zones_cuts_off_the_inner_end() {
    let mut layout = plain();
    layout.geometry.sectors = Some(2025);
    let mechanics = layout.mechanics();
    let geometry = mechanics.geometry();
    assert_eq!((geometry.sectors(), geometry.cylinders()), (2025, 11));
    assert_eq!(geometry.track(2024).extent.sectors, 25);
    layout.geometry.sectors = Some(2000);
    assert_eq!(layout.mechanics().geometry().zones().len(), 1);
}

proptest! {
    /// Two sectors at one place would overwrite each other; a place without one would be lost.
    #[test]
    fn each_sector_has_a_place_of_its_own(layout in layouts()) {
        let mechanics = layout.mechanics();
        let geometry = mechanics.geometry();
        let mut sector = 0;
        // every place in the order of addresses, from the profile
        'disk: for cylinder in 0.. {
            let per_track = u64::from(layout.zone_of(cylinder).sectors_per_track);
            for head in 0..layout.geometry.heads {
                for _ in 0..per_track {
                    let track = geometry.track(sector);
                    prop_assert_eq!((track.cylinder, track.head), (cylinder, head));
                    prop_assert_eq!(geometry.place(sector).heads, Heads { cylinder, head });
                    prop_assert!(track.extent.contains(sector));
                    prop_assert!(track.extent.sectors <= per_track);
                    sector += 1;
                    if sector == geometry.sectors() {
                        prop_assert_eq!(cylinder + 1, geometry.cylinders());
                        break 'disk;
                    }
                }
                prop_assert_eq!(geometry.track(sector - 1).extent.end(), sector);
            }
        }
    }

    /// Sectors that overlapped or left a gap would make a track longer or shorter than a turn.
    #[test]
    fn the_sectors_of_a_track_add_up_to_a_revolution(layout in layouts()) {
        let mechanics = layout.mechanics();
        let geometry = mechanics.geometry();
        let mut first = 0;
        while first < geometry.sectors() {
            let track = geometry.track(first);
            let mut angle_ns = geometry.angle_ns(first);
            for sector in first..track.extent.end() {
                prop_assert_eq!(geometry.angle_ns(sector), angle_ns % geometry.revolution_ns());
                angle_ns += geometry.sector_ns(sector);
            }
            let whole = u64::from(layout.zone_of(track.cylinder).sectors_per_track);
            if track.extent.sectors == whole {
                prop_assert_eq!(angle_ns - geometry.angle_ns(first), geometry.revolution_ns());
            }
            first = track.extent.end();
        }
    }

    /// A skew of less than the heads need would cost a revolution on every track.
    #[test]
    fn the_default_skew_is_what_the_next_track_takes_and_less_than_a_sector_more(
        mut layout in layouts(),
    ) {
        layout.geometry.head_skew_us = None;
        layout.geometry.cylinder_skew_us = None;
        let mechanics = layout.mechanics();
        let geometry = mechanics.geometry();
        let mut before = geometry.track(0);
        while before.extent.end() < geometry.sectors() {
            let track = geometry.track(before.extent.end());
            let move_ns = if track.cylinder == before.cylinder {
                mechanics.seek().next_head_ns()
            } else {
                mechanics.seek().next_cylinder_ns()
            };
            let ends_ns = geometry.angle_ns(before.extent.sector);
            let begins_ns = geometry.angle_ns(track.extent.sector);
            let wait_ns = geometry.rotation_ns(ends_ns + move_ns, begins_ns);
            let sector_ns = geometry.revolution_ns()
                / u64::from(layout.zone_of(track.cylinder).sectors_per_track);
            prop_assert!(wait_ns <= sector_ns + 1, "{wait_ns} > {sector_ns}");
            before = track;
        }
    }
}
