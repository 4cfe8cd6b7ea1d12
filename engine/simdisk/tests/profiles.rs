//! The parameter files: complete, plausible, near what the makers say, and refused with a message
//! that helps where they are wrong.

use proptest::prelude::*;
use simdisk::device::SECTOR_B;
use simdisk::profile::disk::{DiskProfile, QueuePolicy, SeekCurve, WriteCache};
use simdisk::profile::{Overrides, Profile};

fn disk(name: &str) -> DiskProfile {
    match Profile::load(name).unwrap() {
        Profile::Disk(disk) => disk,
        Profile::Ssd(_) => panic!("{name} is an SSD"),
    }
}

fn gb(sectors: u64) -> f64 {
    (sectors * SECTOR_B) as f64 / 1e9
}

/// What a zone sustains over whole cylinders: data over revolutions and skews, the makers' formula
/// (for one, Ultrastar specifications, "sustained data rate"). 10^6 B/s.
fn sustained_mb_s(disk: &DiskProfile, zone: usize) -> f64 {
    let geometry = &disk.geometry;
    let revolution_ms = 6e4 / f64::from(geometry.rpm);
    let per_track = f64::from(geometry.zones[zone].sectors_per_track);
    let whole_sectors_ms =
        |ms: f64| (ms / revolution_ms * per_track).ceil() * revolution_ms / per_track;
    let curve = disk.seek.curve.unwrap();
    let next_cylinder_ms = seek_ms(curve, 1.0);
    let head_ms = geometry.head_skew_us.map(|us| us / 1e3);
    let cylinder_ms = geometry.cylinder_skew_us.map(|us| us / 1e3);
    let heads = f64::from(geometry.heads);
    let time_ms = heads * revolution_ms
        + (heads - 1.0) * whole_sectors_ms(head_ms.unwrap_or(disk.seek.head_switch_ms))
        + whole_sectors_ms(cylinder_ms.unwrap_or(next_cylinder_ms));
    heads * per_track * SECTOR_B as f64 / time_ms / 1e3
}

fn seek_ms(curve: SeekCurve, cylinders: f64) -> f64 {
    curve.settle_ms + curve.root_ms * cylinders.sqrt() + curve.linear_us / 1e3 * cylinders
}

fn near(value: f64, aim: f64, share: f64) -> bool {
    (value / aim - 1.0).abs() <= share
}

/// A profile that does not load would be found by a user, not by us.
#[test]
fn every_shipped_profile_loads() {
    let names: Vec<_> = Profile::names().collect();
    assert!(names.is_sorted());
    for name in names {
        let profile = Profile::load(name).unwrap_or_else(|fault| panic!("{fault}"));
        let text = Profile::text(name).unwrap();
        assert_eq!(profile, Profile::parse(text, "again").unwrap());
    }
}

/// A disk of another size is another disk.
#[test]
fn capacities_are_the_makers() {
    for (name, capacity_gb) in [
        ("atlas15k-18wls", 18.4),
        ("ddys-t36950n", 36.7),
        ("greenfs08-desktop", 100.0),
        ("greenfs08-notebook", 60.0),
        ("greenfs08-server", 36.7),
        ("st4000nm0033", 4000.8),
        ("sun14-ssd-k", 64.0),
        ("sun14-ssd-s", 64.0),
        ("wd200bb", 20.0),
        ("x25-m-g2", 80.0),
        ("x25-m-g2-slowed", 80.0),
    ] {
        let sectors = Profile::load(name).unwrap().sectors();
        assert!(
            near(gb(sectors), capacity_gb, 0.03),
            "{name}: {} GB",
            gb(sectors)
        );
    }
}

/// Throughput by zone is the confound that nfstricks03 is about; wrong ends would make it another.
#[test]
fn rates_at_both_edges_are_the_makers() {
    for (name, outer_mb_s, inner_mb_s) in [
        ("ddys-t36950n", 36.0, Some(21.0)),
        ("greenfs08-server", 71.0, None),
        ("greenfs08-desktop", 56.0, None),
        ("greenfs08-notebook", 44.0, None),
        ("st4000nm0033", 175.0, None),
    ] {
        let disk = disk(name);
        let outer = sustained_mb_s(&disk, 0);
        assert!(
            near(outer, outer_mb_s, 0.02),
            "{name}: {outer} MB/s outside"
        );
        if let Some(inner_mb_s) = inner_mb_s {
            let inner = sustained_mb_s(&disk, disk.geometry.zones.len() - 1);
            assert!(near(inner, inner_mb_s, 0.06), "{name}: {inner} MB/s inside");
        }
    }
    // the IDE disk must be able to do what nfstricks03 measured, 42.9 MB/s with MB of 2^20 B
    assert!(sustained_mb_s(&disk("wd200bb"), 0) >= 42.9 * 1.048_576);
}

/// nfstricks03, section 5.1: the rates of outer and inner zones are as 3:2 to 2:1.
#[test]
fn inner_tracks_hold_half_to_two_thirds() {
    for name in ["ddys-t36950n", "wd200bb", "st4000nm0033", "atlas15k-18wls"] {
        let zones = disk(name).geometry.zones;
        let per_track = |index: usize| f64::from(zones[index].sectors_per_track);
        let share = per_track(zones.len() - 1) / per_track(0);
        assert!((0.49..=0.67).contains(&share), "{name}: {share}");
        assert!(zones.is_sorted_by(|a, b| a.sectors_per_track > b.sectors_per_track));
    }
}

/// Makers tell the mean over random pairs of cylinders, which is not the seek of mean distance.
#[test]
fn seek_curves_have_the_makers_mean_and_full_stroke() {
    for (name, mean_ms, full_ms) in [
        ("ddys-t36950n", 4.9, 10.5),
        ("wd200bb", 8.9, 21.0),
        ("atlas15k-18wls", 3.2, 7.5),
        ("st4000nm0033", 8.5, 17.0),
    ] {
        let disk = disk(name);
        let cylinders = disk.geometry.cylinders() as f64;
        let curve = disk.seek.curve.unwrap();
        // of two random places of [0, 1], the density of the distance x is 2 (1 - x)
        let steps = 10_000;
        let mean: f64 = (0..steps)
            .map(|step| (f64::from(step) + 0.5) / f64::from(steps))
            .map(|x| 2.0 * (1.0 - x) * seek_ms(curve, x * cylinders))
            .sum::<f64>()
            / f64::from(steps);
        assert!(near(mean, mean_ms, 0.005), "{name}: {mean} ms on average");
        let full = seek_ms(curve, cylinders);
        assert!(near(full, full_ms, 0.005), "{name}: {full} ms full stroke");
    }
}

/// fast10, section 4: 22 W when direct I/O alternates between distant tracks, 7 W idle.
#[test]
fn the_disk_of_fast10_draws_what_fast10_measured() {
    let disk = disk("atlas15k-18wls");
    let seek = seek_ms(disk.seek.curve.unwrap(), disk.geometry.cylinders() as f64);
    let half_turn = 3e4 / f64::from(disk.geometry.rpm);
    let command = disk.interface.command_ms;
    let power = disk.power;
    let energy = seek * power.seek_w + half_turn * power.rotate_w + command * power.idle_w;
    assert!(near(energy / (seek + half_turn + command), 22.0, 0.02));
    assert!(near(power.idle_w, 7.0, 1e-9));
}

/// Table 2 of greenfs08 is what its study computes with.
#[test]
fn the_disks_of_greenfs08_have_its_table() {
    for (name, start_j, transfer_w) in [
        ("greenfs08-server", 75.0, 15.0),
        ("greenfs08-desktop", 41.0, 11.0),
        ("greenfs08-notebook", 5.0, 2.5),
    ] {
        let disk = disk(name);
        assert!(near(disk.spin.spin_up_j, start_j, 1e-9), "{name}");
        assert!(near(disk.power.transfer_w, transfer_w, 1e-9), "{name}");
    }
}

/// A source that does not say what is assumed would pass a guess off as a fact.
#[test]
fn sources_name_where_numbers_come_from() {
    for name in Profile::names() {
        let sources = match Profile::load(name).unwrap() {
            Profile::Disk(disk) => disk.sources,
            Profile::Ssd(ssd) => ssd.sources,
        };
        for (table, source) in sources {
            let words = source.split_whitespace().count();
            assert!(words >= 5 && source.ends_with('.'), "{name}.{table}");
        }
    }
}

/// Someone who writes a file must learn what is wrong, where, and what to do.
#[test]
fn a_wrong_file_is_refused_with_its_place_and_a_remedy() {
    let text = Profile::text("wd200bb").unwrap();
    for (from, to, what, place) in [
        ("rpm = 7200", "rpm = 72", "geometry.rpm is 72", "mine.toml"),
        (
            "rpm = 7200",
            "rpms = 7200",
            "unknown field `rpms`",
            "mine.toml:",
        ),
        ("depth = 1\n", "", "missing field `depth`", "mine.toml"),
        (
            "kind = \"disk\"",
            "kind = \"tape\"",
            "unknown variant `tape`",
            "mine.toml:1",
        ),
        ("[errors]", "[errors", "", "mine.toml:"),
        (
            "seek = \"The",
            "curve = \"The",
            "sources.seek is missing",
            "mine.toml",
        ),
        (
            "read_ahead_kib = 256",
            "read_ahead_kib = 9999",
            "cache.read_ahead_kib",
            "mine.toml",
        ),
        (
            "curve = {",
            "points = [[1, 2.0]]\ncurve = {",
            "not both",
            "mine.toml",
        ),
        (
            "sectors = 39102336",
            "sectors = 99999999999",
            "the zones hold",
            "mine.toml",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let fault = Profile::parse(&text.replace(from, to), "mine.toml").unwrap_err();
        assert!(fault.what.contains(what), "{to}: {}", fault.what);
        assert!(fault.origin.starts_with(place), "{to}: {}", fault.origin);
        let shown = fault.to_string();
        assert!(
            shown.contains("\n  where: ") && shown.contains("\n  next:  "),
            "{shown}"
        );
    }
    let text = Profile::text("x25-m-g2").unwrap();
    for (from, to, what) in [
        (
            "spare_percent = 7.34",
            "spare_percent = 0.0",
            "spare blocks a die",
        ),
        (
            "capacity_gib = 74.53",
            "capacity_gib = 0.01",
            "spare blocks a die",
        ),
        ("page_kib = 4", "page_kib = 128", "flash.page_kib is 128"),
        ("channels = 10", "channels = 0", "flash.channels is 0"),
    ] {
        let fault = Profile::parse(&text.replace(from, to), "mine.toml").unwrap_err();
        assert!(fault.what.contains(what), "{to}: {}", fault.what);
    }
    let fault = Profile::load("no-such-disk").unwrap_err();
    assert!(fault.next.contains("wd200bb"), "{fault}");
}

/// Seek points instead of a curve are how most people know their disk.
#[test]
fn points_are_accepted_and_must_rise() {
    let text = Profile::text("wd200bb").unwrap();
    let curve = text.lines().find(|line| line.starts_with("curve")).unwrap();
    let with = |points: &str| Profile::parse(&text.replace(curve, points), "mine.toml");
    assert!(with("points = [[1, 2.0], [17000, 8.9], [51000, 21.0]]").is_ok());
    let fault = with("points = [[1, 2.0], [17000, 8.9], [16000, 21.0]]").unwrap_err();
    assert!(fault.what.contains("do not rise"), "{fault}");
}

/// The same confound is studied with and without queue, cache and read-ahead.
#[test]
fn settings_can_be_overridden_within_their_bounds() {
    let overrides = Overrides {
        depth: Some(1),
        policy: Some(QueuePolicy::Fifo),
        write: Some(WriteCache::Through),
        read_ahead_kib: Some(0),
        sectors: Some(1_000_000),
    };
    let ibm = Profile::load("ddys-t36950n").unwrap();
    let Ok(Profile::Disk(changed)) = ibm.clone().with(&overrides, "ibm") else {
        panic!("refused")
    };
    assert_eq!(
        (changed.queue.depth, changed.queue.policy),
        (1, QueuePolicy::Fifo)
    );
    assert_eq!(changed.cache.write, WriteCache::Through);
    assert_eq!(
        (changed.cache.read_ahead_kib, changed.sectors()),
        (0, 1_000_000)
    );

    let ssd = Profile::load("x25-m-g2").unwrap();
    assert!(ssd.clone().with(&overrides, "ssd").is_err());
    let smaller = Overrides {
        sectors: Some(1 << 21),
        ..Overrides::default()
    };
    assert_eq!(ssd.with(&smaller, "ssd").unwrap().sectors(), 1 << 21);

    for wrong in [
        Overrides {
            depth: Some(0),
            ..Overrides::default()
        },
        Overrides {
            sectors: Some(u64::MAX),
            ..Overrides::default()
        },
        Overrides {
            read_ahead_kib: Some(1 << 40),
            ..Overrides::default()
        },
    ] {
        assert!(ibm.clone().with(&wrong, "ibm").is_err(), "{wrong:?}");
    }
}

/// A value of a line put elsewhere, a piece lost or doubled: what hurried hands do to a file.
fn damaged(text: &str, at: usize, cut: usize, insert: &str) -> String {
    let place = |index: usize| {
        let index = index % (text.len() + 1);
        (0..=index)
            .rev()
            .find(|&index| text.is_char_boundary(index))
            .unwrap()
    };
    let (start, end) = (place(at), place(at.saturating_add(cut)));
    let (start, end) = (start.min(end), start.max(end));
    format!("{}{insert}{}", &text[..start], &text[end..])
}

proptest! {
    /// No text may end the program.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        if let Err(fault) = Profile::parse(&text, "fuzz") {
            prop_assert!(!fault.next.is_empty());
        }
    }

    /// Nor may one that is nearly right; and what is accepted is a device.
    #[test]
    fn a_damaged_file_is_read_or_refused(
        which in 0_usize..8,
        at in any::<u16>(),
        cut in 0_usize..80,
        insert in "[-0-9a-z.=\"\\[\\]{}\n ]{0,12}",
    ) {
        let name = Profile::names().nth(which).unwrap();
        let text = damaged(Profile::text(name).unwrap(), usize::from(at), cut, &insert);
        match Profile::parse(&text, "fuzz") {
            Ok(profile) => prop_assert!(profile.sectors() > 0),
            Err(fault) => prop_assert!(!fault.what.is_empty() && !fault.next.is_empty()),
        }
    }
}
