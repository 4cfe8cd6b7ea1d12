//! The order in which the media serve what waits.

use simdisk::device::{Action, Device};
use simdisk::disk::Service;
use simdisk::disk::heads::Heads;
use simdisk::profile::disk::{QueuePolicy, WriteCache};
use simdisk::profile::{DiskProfile, Profile};
use simdisk::time::Ns;

use crate::host::{Host, MS, Numbers, extent, profile};

fn with(policy: QueuePolicy) -> DiskProfile {
    profile(|profile| profile.queue.policy = policy)
}

/// Random reads of eight sectors in a closed loop: all accesses, and the time.
fn random_reads(profile: &DiskProfile, depth: usize, reads: u64) -> (Vec<Service>, Ns) {
    let mut host = Host::new(profile);
    let mut numbers = Numbers(3);
    for _ in 0..reads {
        while host.disk.waiting() >= depth {
            host.until(host.disk.next().unwrap());
        }
        let places = host.disk.sectors() / 8;
        host.issue(Action::Read, extent(numbers.below(places) * 8, 8));
    }
    while host.disk.waiting() > 0 {
        host.until(host.disk.next().unwrap());
    }
    (host.disk.take_log(), host.now)
}

fn tags(log: &[Service]) -> Vec<u64> {
    log.iter().filter_map(|service| service.tag).collect()
}

/// An experiment on the host's scheduler would see the disk's order instead.
#[test]
fn first_in_first_out_serves_in_the_order_of_issue() {
    for (policy, depth) in [
        (QueuePolicy::Fifo, 1),
        (QueuePolicy::Fifo, 32),
        (QueuePolicy::Sptf, 1),
        (QueuePolicy::Elevator, 1),
    ] {
        let (log, _) = random_reads(&with(policy), depth, 200);
        assert!(tags(&log).is_sorted(), "{policy:?} at depth {depth}");
    }
}

#[test]
fn shortest_positioning_time_first_makes_a_deep_queue_pay() {
    for name in ["atlas15k-18wls", "st4000nm0033"] {
        let Ok(Profile::Disk(mut profile)) = Profile::load(name) else {
            panic!("{name} is a disk that comes with the program");
        };
        profile.queue.policy = QueuePolicy::Sptf;
        profile.queue.depth = 32;
        profile.queue.age_limit_ms = None;
        let (_, one_ns) = random_reads(&profile, 1, 1000);
        let (_, deep_ns) = random_reads(&profile, 32, 1000);
        profile.queue.policy = QueuePolicy::Fifo;
        let (_, fifo_ns) = random_reads(&profile, 32, 1000);
        let gain = one_ns as f64 / deep_ns as f64;
        assert!((1.5..3.0).contains(&gain), "{name}: {gain}");
        assert!(
            fifo_ns > one_ns * 9 / 10,
            "{name}: a queue alone brings nothing"
        );
    }
}

/// Who compares queue depths would find that a deeper queue is slower, as no disk is: once all that
/// waits is overdue, it must not be served in the order of arrival.
#[test]
fn a_deeper_queue_never_makes_random_reads_slower() {
    let names = Profile::names();
    let disks = names.filter_map(|name| match Profile::load(name) {
        Ok(Profile::Disk(disk)) => Some((name, disk)),
        _ => None,
    });
    for (name, mut profile) in disks {
        let most = profile.queue.depth as u32;
        let mut before_ns = Ns::MAX;
        for depth in (0..=most.ilog2()).map(|power| 1 << power) {
            profile.queue.depth = depth;
            let (_, took_ns) = random_reads(&profile, depth, 600);
            assert!(took_ns < before_ns, "{name}: {took_ns} ns at depth {depth}");
            before_ns = took_ns;
        }
    }
}

/// A flush of much data takes longer than the limit.
#[test]
fn an_overdue_flush_writes_the_nearest_first() {
    let took_ns = |age_limit_ms| {
        let mut profile = with(QueuePolicy::Sptf);
        profile.queue.age_limit_ms = age_limit_ms;
        profile.cache.write = WriteCache::Back;
        let mut host = Host::new(&profile);
        let mut numbers = Numbers(7);
        for _ in 0..100 {
            host.issue(Action::Write, extent(numbers.below(14_000) * 8, 1));
        }
        let flush = host.issue(Action::Flush, extent(0, 0));
        host.wait(flush).0
    };
    assert_eq!(took_ns(Some(5.0)), took_ns(None));
}

/// A request at the edge would wait for ever.
#[test]
fn what_has_waited_beyond_the_age_limit_goes_before_what_comes_later() {
    let longest = |age_limit_ms| {
        let mut profile = with(QueuePolicy::Sptf);
        profile.queue.age_limit_ms = age_limit_ms;
        let mut host = Host::new(&profile);
        host.issue(Action::Read, extent(0, 8));
        host.until(MS); // the media are at it
        let far = host.issue(Action::Read, extent(119_000, 8));
        let mut near = 0;
        while host.answer(far).is_none() && host.now < 2000 * MS {
            while host.disk.waiting() < 16 {
                near += 1;
                host.issue(Action::Read, extent(near * 37 % 4000 * 8, 8));
            }
            host.until(host.disk.next().unwrap());
        }
        host.now
    };
    let without = longest(None);
    let with = longest(Some(100.0));
    assert!(without > 500 * MS, "{without}");
    // the limit, and a round of sixteen of which none takes longer than 10 ms
    assert!((100 * MS..260 * MS).contains(&with), "{with}");
}

#[test]
fn the_elevator_sweeps_by_address_and_starts_again() {
    let mut host = Host::new(&with(QueuePolicy::Elevator));
    let sectors = [50_000, 9000, 70_000, 100, 30_000, 110_000];
    // the first is being served when the others come
    for &sector in &sectors {
        host.issue(Action::Read, extent(sector, 8));
        host.until(host.now + MS);
    }
    host.settle();
    let served: Vec<_> = host
        .disk
        .take_log()
        .iter()
        .map(|s| s.extent.sector)
        .collect();
    assert_eq!(served, [50_000, 70_000, 110_000, 100, 9000, 30_000]);
}

/// The data of a later write would be overwritten by an earlier one.
#[test]
fn commands_that_overlap_keep_their_order_under_every_policy() {
    for policy in [QueuePolicy::Fifo, QueuePolicy::Sptf, QueuePolicy::Elevator] {
        for mode in [WriteCache::Back, WriteCache::Through] {
            let mut profile = with(policy);
            profile.cache.write = mode;
            let mut host = Host::new(&profile);
            let tags: Vec<_> = (0..20)
                .map(|k| {
                    let action = if k % 3 == 0 {
                        Action::Write
                    } else {
                        Action::Read
                    };
                    host.issue(action, extent(4000 - k * 10, 16))
                })
                .collect();
            host.settle();
            let answers: Vec<_> = tags
                .iter()
                .map(|&tag| host.answer(tag).unwrap().0)
                .collect();
            assert!(answers.is_sorted(), "{policy:?} {mode:?}");
        }
    }
}

/// Two runs of one simulation would give two papers.
#[test]
fn the_same_run_gives_the_same_bits() {
    let run = || {
        let mut host = Host::new(&with(QueuePolicy::Sptf));
        let mut numbers = Numbers(5);
        for _ in 0..2000 {
            while host.disk.waiting() >= 32 {
                host.until(host.disk.next().unwrap());
            }
            let action = [Action::Read, Action::Write, Action::Flush][numbers.below(3) as usize];
            let sectors = if action == Action::Flush {
                0
            } else {
                1 + numbers.below(40)
            };
            host.issue(action, extent(numbers.below(119_000), sectors));
            host.until(host.now + numbers.below(3 * MS));
        }
        host.settle();
        let energy_fj = host.disk.ledger().energy_fj();
        (host.disk.take_log(), host.events, energy_fj)
    };
    assert_eq!(run(), run());
}

/// The search for the nearest looks at few commands: one that it passed over would be served in
/// another order than by the policy.
#[test]
fn every_choice_is_the_best_of_all_that_wait() {
    for seed in 1..51 {
        let mut host = Host::new(&profile(|profile| {
            profile.queue.policy = QueuePolicy::Sptf;
            profile.interface.command_ms = 0.0;
            profile.cache.read_ahead_kib = 0;
        }));
        let mut numbers = Numbers(seed);
        let places: Vec<u64> = (0..100)
            .map(|_| numbers.below(host.disk.sectors() / 8) * 8)
            .collect();
        for &sector in &places {
            host.issue(Action::Read, extent(sector, 8));
        }
        while host.disk.waiting() > 0 {
            host.until(host.disk.next().unwrap());
        }
        let log = host.disk.take_log();
        let mechanics = host.disk.mechanics();
        let mut left: Vec<u64> = (0..100).collect();
        let mut heads = Heads::default();
        for (nth, service) in log.into_iter().enumerate() {
            let best = left.iter().min_by_key(|&&tag| {
                let sector = places[tag as usize];
                let action = Action::Read;
                (
                    mechanics.positioning_ns(heads, service.from, sector, action),
                    tag,
                )
            });
            // the first was served before the others came
            assert!(nth == 0 || service.tag == best.copied(), "seed {seed}");
            // those of the same place are answered from memory
            left.retain(|&tag| places[tag as usize] != service.extent.sector);
            heads = mechanics.geometry().place(service.extent.end() - 1).heads;
        }
        assert!(left.is_empty());
    }
}
