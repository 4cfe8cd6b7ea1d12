//! Reading and writing on and on.

use proptest::prelude::*;
use simdisk::device::Extent;

use crate::layouts::{MS, US, extent, layouts, plain, sector};

/// A read-ahead that were ahead of the media would make sequential reads too fast.
#[test]
fn a_sector_is_reached_when_it_has_passed_whole() {
    let mechanics = plain().mechanics();
    let reached = |at| mechanics.reached(0, 0, at);
    assert_eq!(reached(0), 0);
    assert_eq!(reached(100 * US - 1), 0);
    assert_eq!(reached(100 * US), 1);
    assert_eq!(reached(10 * MS - 1), 99);
    // on the way to the next track
    assert_eq!(reached(10 * MS), 100);
    assert_eq!(reached(11_100 * US - 1), 100);
    assert_eq!(reached(11_100 * US), 101);
    // at the end of the disk
    assert_eq!(reached(1_000_000 * MS), 3000);
}

/// On a long way to the next cylinder no sector passes, though a track could have begun.
#[test]
fn nothing_is_reached_between_cylinders() {
    let mut layout = plain();
    layout.geometry.cylinder_skew_us = Some(5000.0);
    let mechanics = layout.mechanics();
    let reached = |at| mechanics.reached(0, 0, at);
    assert_eq!(reached(21 * MS), 200);
    assert_eq!(reached(26 * MS + 100 * US - 1), 200);
    assert_eq!(reached(26 * MS + 100 * US), 201);
}

proptest! {
    /// Data that are taken from a read-ahead, or lost in a power cut, are those of this moment.
    #[test]
    fn what_is_reached_has_passed_and_what_follows_has_not(
        layout in layouts(),
        share in 0.0..1.0,
        began in 0..1000 * MS,
        turns in 0.0..100.0,
    ) {
        let mechanics = layout.mechanics();
        let geometry = mechanics.geometry();
        let first = sector(&mechanics, share);
        let began = began + geometry.rotation_ns(began, geometry.angle_ns(first));
        let at = began + (turns * geometry.revolution_ns() as f64) as u64;
        let reached = mechanics.reached(first, began, at);
        prop_assert!((first..=geometry.sectors()).contains(&reached));
        if reached > first {
            prop_assert!(mechanics.passes(first, began, reached - 1) <= at);
        }
        if reached < geometry.sectors() {
            let passes = mechanics.passes(first, began, reached);
            prop_assert!(passes > at);
            prop_assert_eq!(mechanics.reached(first, began, passes), reached + 1);
            prop_assert_eq!(mechanics.reached(first, began, passes - 1), reached);
        }
    }

    /// No benchmark may ever see more than the heads can read.
    #[test]
    fn no_stream_beats_the_media(
        layout in layouts(),
        shares in (0.0..1.0, 0.0..1.0),
    ) {
        let mechanics = layout.mechanics();
        let geometry = mechanics.geometry();
        let Extent { sector, sectors } = extent(&mechanics, shares);
        let began = geometry.angle_ns(sector);
        let passes = mechanics.passes(sector, began, sector + sectors - 1);
        let media_ns: u64 = (sector..sector + sectors).map(|sector| geometry.sector_ns(sector)).sum();
        prop_assert!(passes - began >= media_ns);
        if geometry.track(sector) == geometry.track(sector + sectors - 1) {
            prop_assert_eq!(passes - began, media_ns);
        }
    }
}
