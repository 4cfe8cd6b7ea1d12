//! Unloading, stopping and starting: what they take, and what they cost.

use simdisk::device::{Action, Device};
use simdisk::profile::DiskProfile;
use simdisk::time::Ns;

use crate::host::{Host, MS, S, extent, profile};

fn sleepy(unload_after_s: f64, standby_after_s: f64) -> DiskProfile {
    profile(|profile| {
        profile.spin.unload_after_s = unload_after_s;
        profile.spin.standby_after_s = standby_after_s;
        profile.cache.read_ahead_kib = 0;
    })
}

/// Time and energy of a state; the account has whole microwatts.
fn costs(host: &Host, part: &str, time_ns: Ns, energy_j: f64) {
    let (measured_ns, measured_j) = host.part(part);
    assert_eq!(measured_ns, time_ns, "{part}");
    let rounding_j = 0.5e-6 * time_ns as f64 / 1e9;
    assert!(
        (measured_j - energy_j).abs() <= rounding_j + 1e-12,
        "{part}: {measured_j} J"
    );
}

/// Stopping a disk would save or cost another energy than the profile's.
#[test]
fn an_idle_disk_unloads_and_stops_and_the_next_command_starts_it() {
    let mut host = Host::new(&sleepy(5.0, 20.0));
    host.until(60 * S);
    costs(&host, "idle", 5 * S, 45.0);
    costs(&host, "unload", 7 * S / 10, 5.0);
    costs(&host, "unloaded", 20 * S - 57 * S / 10, 7.0 * 14.3);
    costs(&host, "spin-down", 3 * S, 4.0);
    costs(&host, "standby", 37 * S, 37.0);
    assert_eq!(host.counter("start_stops_count"), 0);

    let measured = host.takes(Action::Read, extent(0, 8));
    assert!((8 * S..8 * S + 12 * MS).contains(&measured), "{measured}");
    costs(&host, "spin-up", 8 * S, 130.0);
    assert_eq!(host.counter("start_stops_count"), 1);
}

#[test]
fn unloaded_heads_are_loaded_first() {
    let mut host = Host::new(&sleepy(5.0, 0.0));
    host.until(60 * S);
    let measured = host.takes(Action::Read, extent(0, 8));
    assert!((600 * MS..612 * MS).contains(&measured), "{measured}");
    costs(&host, "load", 6 * S / 10, 8.0);
    assert_eq!(host.counter("loads_count"), 1);
    assert_eq!(host.counter("start_stops_count"), 0);
}

/// A disk in use would stop under its user.
#[test]
fn every_command_sets_the_timers_back() {
    let mut host = Host::new(&sleepy(0.0, 1.0));
    for _ in 0..20 {
        host.until(host.now + 900 * MS);
        host.takes(Action::Read, extent(host.now % 100_000, 8));
    }
    assert_eq!(host.part("spin-down").0, 0);
    host.until(host.now + 10 * S);
    costs(&host, "spin-down", 3 * S, 4.0);
}

/// A transition that was begun would be cut short.
#[test]
fn a_command_during_a_spin_down_waits_for_it_and_the_spin_up() {
    let mut host = Host::new(&sleepy(0.0, 5.0));
    host.until(6 * S);
    let measured = host.takes(Action::Read, extent(0, 8));
    assert!((10 * S..10 * S + 12 * MS).contains(&measured), "{measured}");
    assert_eq!(host.part("standby").0, 0);
}

/// A stopped disk would start for what its memory has.
#[test]
fn memory_answers_while_the_disk_stands() {
    let mut host = Host::new(&sleepy(0.0, 5.0));
    host.takes(Action::Read, extent(0, 8));
    host.until(60 * S);
    assert!(host.takes(Action::Read, extent(0, 8)) < MS);
    assert_eq!(host.takes(Action::Flush, extent(0, 0)), MS / 10);
    assert_eq!(host.counter("start_stops_count"), 0);
}

/// Cached data would stand before a stopped disk until power fails.
#[test]
fn a_write_starts_the_disk_and_reaches_the_media() {
    let mut host = Host::new(&sleepy(0.0, 5.0));
    host.until(60 * S);
    assert!(host.takes(Action::Write, extent(0, 8)) < MS);
    host.until(host.now + 8 * S + 20 * MS);
    assert_eq!(host.stored().len(), 1);
}

#[test]
fn standby_on_demand_waits_for_what_is_cached() {
    let mut host = Host::new(&sleepy(0.0, 0.0));
    host.takes(Action::Write, extent(50_000, 8));
    host.disk.standby(host.now);
    host.until(host.now + 10 * S);
    assert_eq!(host.stored().len(), 1);
    assert_eq!(host.part("spin-down").0, 3 * S);
    assert_eq!(host.disk.ledger().power_uw(), 1_000_000);
    host.takes(Action::Read, extent(0, 8));
    host.settle();
    assert_eq!(host.part("spin-down").0, 3 * S, "it is asked for once");
}
