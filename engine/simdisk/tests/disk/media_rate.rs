//! Reading ahead: as fast as the media, and never faster.

use std::collections::HashSet;

use proptest::prelude::*;
use simdisk::device::{Action, Device, Event};
use simdisk::profile::disk::QueuePolicy;
use simdisk::time::Ns;

use crate::host::{Host, extent, profile};

/// The time from the first command to the last answer of sequential reads at depth 1.
fn sequential(host: &mut Host, from: u64, reads: u64, sectors: u64, gap: Ns) -> Ns {
    let issued = host.now;
    for k in 0..reads {
        host.takes(Action::Read, extent(from + k * sectors, sectors));
        host.until(host.now + gap);
    }
    host.now - gap - issued
}

/// A file that is read in order would be as slow as one revolution for each request.
#[test]
fn sequential_reads_with_gaps_reach_the_rate_of_each_zone() {
    for (first, sectors_per_track) in [(0, 200), (90_000, 100)] {
        let mut host = Host::new(&profile(|_| ()));
        let sectors = 20_000;
        let measured = sequential(&mut host, first, sectors / 100, 100, 300_000);
        // a revolution a track, and the skew between tracks; in the middle, a revolution to begin
        let stream = host.disk.mechanics();
        let media = stream.passes(first, 0, first + sectors - 1);
        assert!(media as f64 >= (sectors / sectors_per_track) as f64 * 1e7);
        let ratio = measured as f64 / media as f64;
        assert!((1.0..1.02).contains(&ratio), "{ratio}");
    }
}

/// Reading ahead would make no difference, and the test above would prove nothing.
#[test]
fn without_reading_ahead_each_request_costs_a_revolution() {
    let mut host = Host::new(&profile(|profile| profile.cache.read_ahead_kib = 0));
    let measured = sequential(&mut host, 0, 50, 40, 300_000);
    assert!(measured > 50 * 10_000_000, "{measured}");
}

/// A reader that stays behind within what was read ahead would lose the stream.
#[test]
fn two_readers_each_keep_what_was_read_ahead_for_them() {
    let mut host = Host::new(&profile(|_| ()));
    for k in 0..20 {
        host.takes(Action::Read, extent(k * 8, 8));
        host.takes(Action::Read, extent(40_000 + k * 8, 8));
        host.until(host.now + 2_000_000);
    }
    assert!(host.counter("cache_hits_count") >= 30);
}

fn policies() -> impl Strategy<Value = QueuePolicy> {
    prop_oneof![
        Just(QueuePolicy::Fifo),
        Just(QueuePolicy::Sptf),
        Just(QueuePolicy::Elevator),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A simulated disk would be faster than any that can be built. Writes far away take memory
    /// from what has been read.
    #[test]
    fn no_pattern_gets_data_faster_than_they_pass_under_the_heads(
        policy in policies(),
        depth in 1..9_usize,
        read_ahead_kib in 0..65_u64,
        segments in 1..9_u32,
        reads in prop::collection::vec(
            (0..5_u8, 0..3000_u64, 1..64_u64, 0..4_000_000_u64), 1..150),
    ) {
        let profile = profile(|profile| {
            profile.queue.policy = policy;
            profile.cache.read_ahead_kib = read_ahead_kib;
            profile.cache.segments = segments;
            profile.cache.size_kib = 64 * u64::from(segments);
        });
        let mut host = Host::new(&profile);
        let mut asked = Vec::new();
        let mut next = 0;
        for (kind, sector, sectors, gap) in reads {
            while host.disk.waiting() >= depth {
                host.until(host.disk.next().unwrap());
            }
            if kind == 0 {
                asked.push(extent(0, 0));
                host.issue(Action::Write, extent(50_000 + 10 * sector, sectors));
            } else {
                let sector = if kind < 3 { next } else { sector };
                next = sector + sectors;
                asked.push(extent(sector, sectors));
                host.issue(Action::Read, extent(sector, sectors));
            }
            host.until(host.now + gap / 10 * (gap % 2));
        }
        host.settle();
        let mut got = HashSet::new();
        for &(at, event) in &host.events {
            if let Event::Completed { tag, .. } = event {
                let extent = asked[tag as usize];
                got.extend(extent.sector..extent.end());
            }
            prop_assert!(got.len() as u64 * 50_000 <= at);
        }
        prop_assert_eq!(host.disk.waiting(), 0);
    }
}
