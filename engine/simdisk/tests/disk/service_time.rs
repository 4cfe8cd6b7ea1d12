//! Whole commands against the closed form: command, seek, rotation, transfer, the bus beside it.

use simdisk::device::Action;
use simdisk::profile::disk::WriteCache;
use simdisk::time::Ns;

use crate::host::{Host, Numbers, extent, profile};

const COMMAND_NS: f64 = 1e5;
const REVOLUTION_NS: f64 = 1e7;
const SETTLE_NS: f64 = 5e5;
const OUTER_SECTORS: u64 = 200 * 2 * 200;

fn bus_ns(sectors: u64) -> f64 {
    sectors as f64 * 5120.0
}

fn sectors_per_track(sector: u64) -> f64 {
    if sector < OUTER_SECTORS { 200.0 } else { 100.0 }
}

fn cylinder_and_head(sector: u64) -> (u64, u64) {
    if sector < OUTER_SECTORS {
        (sector / 400, sector / 200 % 2)
    } else {
        let within = sector - OUTER_SECTORS;
        (200 + within / 200, within / 100 % 2)
    }
}

/// The curve of the profile, by distance from one track to another.
fn seek_ns(from: u64, to: u64) -> f64 {
    let (one, other) = (cylinder_and_head(from), cylinder_and_head(to));
    let distance = one.0.abs_diff(other.0) as f64;
    let switch_ns = if one.1 == other.1 { 0.0 } else { 0.8e6 };
    if distance == 0.0 {
        return switch_ns;
    }
    (1e6 + 0.2e6 * distance.sqrt() + 5e3 * distance).max(switch_ns)
}

/// Positioning and transfer of an extent within a track, with the heads free at `at` on the track
/// of `before`.
fn media_ns(host: &Host, before: u64, at: f64, sector: u64, sectors: u64, settle_ns: f64) -> f64 {
    let seek_ns = seek_ns(before, sector);
    let seek_ns = if seek_ns > 0.0 {
        seek_ns + settle_ns
    } else {
        0.0
    };
    let angle_ns = host.disk.mechanics().geometry().angle_ns(sector) as f64;
    let rotation_ns = (angle_ns - at - seek_ns).rem_euclid(REVOLUTION_NS);
    seek_ns + rotation_ns + sectors as f64 * REVOLUTION_NS / sectors_per_track(sector)
}

fn close(measured: Ns, expected_ns: f64) {
    let ratio = measured as f64 / expected_ns;
    assert!(
        (ratio - 1.0).abs() < 0.01,
        "{measured} ns, expected {expected_ns}"
    );
}

/// An extent of eight sectors within a track, anywhere.
fn somewhere(numbers: &mut Numbers) -> u64 {
    let sector = numbers.below(120_000);
    sector - sector % 100 + numbers.below(92)
}

/// Every figure in this book would rest on other times than the profile's.
#[test]
fn reads_take_command_seek_rotation_and_transfer() {
    let mut host = Host::new(&profile(|profile| profile.cache.read_ahead_kib = 0));
    let mut numbers = Numbers(7);
    let mut before = 0;
    for _ in 0..500 {
        host.until(host.now + numbers.below(20_000_000));
        let sector = somewhere(&mut numbers);
        let free = host.now as f64 + COMMAND_NS;
        let media = media_ns(&host, before, free, sector, 8, 0.0);
        let hits = host.counter("cache_hits_count");
        let measured = host.takes(Action::Read, extent(sector, 8));
        if host.counter("cache_hits_count") > hits {
            close(measured, COMMAND_NS + bus_ns(8));
        } else {
            close(measured, COMMAND_NS + media + bus_ns(1));
            before = sector;
        }
    }
}

#[test]
fn writes_through_take_the_bus_and_then_the_media() {
    let through = profile(|profile| profile.cache.write = WriteCache::Through);
    let mut host = Host::new(&through);
    let mut numbers = Numbers(11);
    let mut before = 0;
    for _ in 0..500 {
        host.until(host.now + numbers.below(20_000_000));
        let sector = somewhere(&mut numbers);
        let ready = COMMAND_NS + bus_ns(8);
        let free = host.now as f64 + ready;
        let media = media_ns(&host, before, free, sector, 8, SETTLE_NS);
        close(host.takes(Action::Write, extent(sector, 8)), ready + media);
        before = sector;
    }
}

#[test]
fn writes_back_take_command_and_bus() {
    let mut host = Host::new(&profile(|_| ()));
    let measured = host.takes(Action::Write, extent(1000, 64));
    close(measured, COMMAND_NS + bus_ns(64));
}

/// A slow bus would be hidden by fast media.
#[test]
fn a_bus_slower_than_the_media_sets_the_pace_from_the_first_sector_on() {
    let slow = profile(|profile| profile.interface.bandwidth_mb_s = 1.0);
    let mut host = Host::new(&slow);
    let angle_ns = host.disk.mechanics().geometry().angle_ns(50) as f64;
    let measured = host.takes(Action::Read, extent(50, 64));
    close(measured, angle_ns + REVOLUTION_NS / 200.0 + 64.0 * 512e3);
}

/// A queue would be charged the electronics once more for each command.
#[test]
fn the_electronics_read_commands_while_the_media_work() {
    let mut host = Host::new(&profile(|_| ()));
    let tags: Vec<_> = (0..10)
        .map(|k| host.issue(Action::Read, extent(k * 8, 8)))
        .collect();
    let last = host.wait(tags[9]).0;
    let first_turn = REVOLUTION_NS; // sector 0 has just been missed when the command is read
    close(last, first_turn + 80.0 * 50e3 + bus_ns(1));
}
