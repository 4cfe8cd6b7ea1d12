//! Single accesses, against what can be worked out by hand.

use proptest::prelude::*;
use simdisk::device::{Action, Extent, SECTOR_B};
use simdisk::disk::heads::Heads;
use simdisk::disk::mechanics::{Access, Mechanics};
use simdisk::time::Ns;

use crate::layouts::{Layout, MS, US, actions, extent, layouts, plain, sector};

const OUTSIDE: Heads = Heads {
    cylinder: 0,
    head: 0,
};

fn read(mechanics: &Mechanics, from: Ns, sector: u64, sectors: u64) -> Access {
    mechanics.access(OUTSIDE, from, Extent { sector, sectors }, Action::Read)
}

/// Without a seek, a read takes the turn to its sector and the sectors.
#[test]
fn rotation_only() {
    let mechanics = plain().mechanics();
    let at = |from, sector| read(&mechanics, from, sector, 1);
    assert_eq!(at(0, 0).end, 100 * US);
    assert_eq!(at(0, 30).transfer_from, 3 * MS);
    assert_eq!(at(0, 30).end, 3_100 * US);
    // missed by a nanosecond, and by a turn less one
    assert_eq!(at(1, 0).transfer_from, 10 * MS);
    assert_eq!(at(10 * MS - 1, 0).transfer_from, 10 * MS);
    assert_eq!(at(123 * MS, 30).end, 123 * MS + 100 * US);
}

/// If the sector comes just as the heads are there, a read takes the seek and the sector.
#[test]
fn seek_only() {
    let mechanics = plain().mechanics();
    for cylinder in [1, 2, 5, 9] {
        let first = 200 * u64::from(cylinder);
        let arrival = MS + 100 * US * u64::from(cylinder);
        let angle = mechanics.geometry().angle_ns(first);
        let from = 100 * MS + angle - arrival;
        let access = read(&mechanics, from, first, 1);
        assert_eq!(access.seek_end, from + arrival);
        assert_eq!(access.transfer_from, access.seek_end);
        assert_eq!(access.end - from, arrival + 100 * US);
        assert_eq!(access.heads, Heads { cylinder, head: 0 });
        // before a write the heads settle, and so they miss it
        let extent = Extent {
            sector: first,
            sectors: 1,
        };
        let write = mechanics.access(OUTSIDE, from, extent, Action::Write);
        assert_eq!(write.seek_end, from + arrival + 500 * US);
        assert_eq!(write.transfer_from, access.transfer_from + 10 * MS);
    }
}

/// A track takes a revolution, and the way to the next one its skew.
#[test]
fn sequential() {
    let mechanics = plain().mechanics();
    for action in [Action::Read, Action::Write] {
        let end = |sectors| {
            let extent = Extent { sector: 0, sectors };
            mechanics.access(OUTSIDE, 0, extent, action).end
        };
        assert_eq!(end(100), 10 * MS);
        assert_eq!(end(101), 11_100 * US);
        assert_eq!(end(200), 21_000 * US);
        assert_eq!(end(400), 2 * 21_000 * US + 1_100 * US);
        assert_eq!(end(2000), 10 * 21_000 * US + 9 * 1_100 * US);
        // with a whole zone and one track of the next
        assert_eq!(end(2050), end(2000) + 1_200 * US + 10 * MS);
    }
}

/// At the edge of a zone the rate changes and the stream goes on.
#[test]
fn zone_crossing() {
    let mechanics = plain().mechanics();
    let from = mechanics.geometry().angle_ns(1950);
    let heads = mechanics.geometry().place(1950).heads;
    let extent = Extent {
        sector: 1950,
        sectors: 60,
    };
    let access = mechanics.access(heads, from, extent, Action::Read);
    assert_eq!(access.transfer_from, from);
    assert_eq!(
        access.end - from,
        50 * 100 * US + 1_200 * US + 10 * 200 * US
    );
    let heads = Heads {
        cylinder: 10,
        head: 0,
    };
    assert_eq!(access.heads, heads);
}

/// A benchmark that reads or writes a zone from end to end must find its geometry.
#[test]
fn sequential_throughput_is_that_of_the_geometry() {
    let mut layout = plain();
    layout.geometry.rpm = 7200;
    let mechanics = layout.mechanics();
    for (zone, given) in mechanics
        .geometry()
        .zones()
        .iter()
        .zip(&layout.geometry.zones)
    {
        // the skews of 1 and 1.1 ms as shares of a revolution, in whole sectors
        let per_track = f64::from(given.sectors_per_track);
        let skew = |skew_s: f64| (skew_s * 120.0 * per_track).ceil() / per_track;
        let track_b = 512.0 * per_track;
        let expected_b_s = 2.0 * track_b * 120.0 / (2.0 + skew(0.001) + skew(0.0011));
        for action in [Action::Read, Action::Write] {
            let access = mechanics.access(OUTSIDE, 0, zone.extent, action);
            let span_s = (access.end - access.transfer_from) as f64 / 1e9;
            let b_s = (zone.extent.sectors * SECTOR_B) as f64 / span_s;
            // ten cylinders have nine steps from one to the next
            assert!(
                (b_s / expected_b_s - 1.0).abs() < 0.01,
                "{b_s} for {expected_b_s}"
            );
        }
    }
}

/// Skews that are too small cost a revolution each; one of a whole revolution is none.
#[test]
fn a_skew_that_is_too_small_costs_a_revolution() {
    let end = |head_skew_us| {
        let mut layout = plain();
        layout.geometry.head_skew_us = Some(head_skew_us);
        read(&layout.mechanics(), 0, 0, 200).end
    };
    assert_eq!(end(0.0), 30 * MS);
    assert_eq!(end(900.0), 30_900 * US);
    // rounded up to ten sectors
    assert_eq!(end(950.0), 21 * MS);
    assert_eq!(end(1000.0), 21 * MS);
    assert_eq!(end(1001.0), 21_100 * US);
    assert_eq!(end(10_000.0), 30 * MS);
}

/// The walk from sector to sector: what a disk does, without any formula for more than one.
pub fn walk(
    mechanics: &Mechanics,
    mut heads: Heads,
    from: Ns,
    extent: Extent,
    action: Action,
) -> Ns {
    let geometry = mechanics.geometry();
    (extent.sector..extent.end()).fold(from, |at, sector| {
        let place = geometry.place(sector);
        let there = at + mechanics.seek().move_ns(heads, place.heads, action);
        heads = place.heads;
        let turns = there
            .saturating_sub(place.angle_ns)
            .div_ceil(geometry.revolution_ns());
        place.angle_ns + turns * geometry.revolution_ns() + geometry.sector_ns(sector)
    })
}

fn anywhere(layout: &Layout, cylinder: u32, head: u32) -> Heads {
    Heads {
        cylinder: cylinder % layout.mechanics().geometry().cylinders(),
        head: head % layout.geometry.heads,
    }
}

proptest! {
    /// One access is as long as its sectors, each waited for.
    #[test]
    fn an_access_is_the_walk_over_its_sectors(
        layout in layouts(),
        action in actions(),
        start in (0..32_u32, 0..8_u32),
        from in 0..100 * MS,
        shares in (0.0..1.0, 0.0..1.0),
    ) {
        let mechanics = layout.mechanics();
        let heads = anywhere(&layout, start.0, start.1);
        let extent = extent(&mechanics, shares);
        let access = mechanics.access(heads, from, extent, action);
        prop_assert_eq!(access.end, walk(&mechanics, heads, from, extent, action));
        prop_assert_eq!(access.heads, mechanics.geometry().place(extent.end() - 1).heads);
    }

    /// Cutting a request in two must neither cost nor save anything by itself.
    #[test]
    fn two_halves_take_as_long_as_the_whole(
        layout in layouts(),
        action in actions(),
        from in 0..100 * MS,
        shares in (0.0..1.0, 0.0..1.0),
        cut in 0.0..1.0,
    ) {
        let mechanics = layout.mechanics();
        let whole = extent(&mechanics, shares);
        let head = Extent { sectors: 1 + (cut * (whole.sectors - 1) as f64) as u64, ..whole };
        let tail = Extent { sector: head.end(), sectors: whole.sectors - head.sectors };
        let first = mechanics.access(OUTSIDE, from, head, action);
        prop_assume!(tail.sectors > 0);
        let second = mechanics.access(first.heads, first.end, tail, action);
        prop_assert_eq!(second.end, mechanics.access(OUTSIDE, from, whole, action).end);
    }

    /// The policy of shortest positioning must see what the access then does.
    #[test]
    fn positioning_is_a_move_and_less_than_a_revolution(
        layout in layouts(),
        action in actions(),
        start in (0..32_u32, 0..8_u32),
        at in 0..1_000_000 * MS,
        share in 0.0..1.0,
    ) {
        let mechanics = layout.mechanics();
        let heads = anywhere(&layout, start.0, start.1);
        let sector = sector(&mechanics, share);
        let access = mechanics.access(heads, at, Extent { sector, sectors: 1 }, action);
        let positioning_ns = mechanics.positioning_ns(heads, at, sector, action);
        prop_assert_eq!(access.transfer_from, at + positioning_ns);
        let geometry = mechanics.geometry();
        let move_ns = mechanics.seek().move_ns(heads, geometry.place(sector).heads, action);
        prop_assert_eq!(access.seek_end, at + move_ns);
        prop_assert!(positioning_ns >= move_ns);
        prop_assert!(positioning_ns < move_ns + geometry.revolution_ns());
        prop_assert_eq!(access.transfer_from % geometry.revolution_ns(), geometry.angle_ns(sector));
    }
}
