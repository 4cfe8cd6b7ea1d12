//! Write cache, flushes, and what memory answers.

use simdisk::device::{Action, Device, Event, Outcome};
use simdisk::profile::disk::{QueuePolicy, WriteCache};

use crate::host::{Host, MS, extent, profile};

/// `fsync` would return before the data are safe.
#[test]
fn a_flush_waits_for_all_that_was_cached_before_it() {
    for policy in [QueuePolicy::Fifo, QueuePolicy::Sptf, QueuePolicy::Elevator] {
        let mut host = Host::new(&profile(|profile| profile.queue.policy = policy));
        for k in 0..20 {
            host.takes(Action::Write, extent(k * 5000, 8));
        }
        let flush = host.issue(Action::Flush, extent(0, 0));
        let (flushed, _) = host.wait(flush);
        let on_media: u64 = host
            .stored()
            .iter()
            .filter(|stored| stored.0 <= flushed)
            .map(|stored| stored.1.sectors)
            .sum();
        assert_eq!(on_media, 20 * 8, "{policy:?}");
    }
}

/// A log that is appended to all the time would never get its flush.
#[test]
fn a_flush_does_not_wait_for_what_is_cached_after_it() {
    let mut host = Host::new(&profile(|profile| profile.queue.policy = QueuePolicy::Sptf));
    host.takes(Action::Write, extent(0, 8));
    let flush = host.issue(Action::Flush, extent(0, 0));
    let mut next = 8;
    while host.answer(flush).is_none() {
        host.issue(Action::Write, extent(next, 8));
        next += 8;
        host.until(host.now + MS / 2);
        assert!(host.now < 200 * MS);
    }
}

#[test]
fn a_flush_of_nothing_costs_the_command_only() {
    let mut host = Host::new(&profile(|_| ()));
    assert_eq!(host.takes(Action::Flush, extent(0, 0)), MS / 10);
}

/// Data would stay volatile for ever on a quiet disk.
#[test]
fn an_idle_disk_writes_what_is_cached_and_joins_neighbours() {
    let mut host = Host::new(&profile(|_| ()));
    // the media turn to the first as soon as it is cached, and the others come meanwhile
    for k in [0, 3, 1, 2, 4] {
        host.issue(Action::Write, extent(600 + k * 8, 8));
    }
    host.settle();
    let stored: Vec<_> = host.stored().into_iter().map(|stored| stored.1).collect();
    assert_eq!(stored, [extent(600, 8), extent(624, 16), extent(608, 16)]);
    let mut host = Host::new(&profile(|profile| {
        profile.queue.policy = QueuePolicy::Elevator
    }));
    for k in [0, 3, 1, 2, 4] {
        host.issue(Action::Write, extent(600 + k * 8, 8));
    }
    host.settle();
    let stored: Vec<_> = host.stored().into_iter().map(|stored| stored.1).collect();
    assert_eq!(stored, [extent(600, 8), extent(608, 32)]);
}

/// Writes would be complete faster than the media for ever.
#[test]
fn a_full_cache_makes_writes_wait_for_the_media() {
    let mut host = Host::new(&profile(|_| ()));
    let mut longest = 0;
    let mut done = 0;
    for k in 0..300 {
        longest = longest.max(host.takes(Action::Write, extent(k * 397, 8)));
        done = host.now;
    }
    assert!(longest > 2 * MS, "{longest}");
    let held: u64 = 300 * 8
        - host
            .stored()
            .iter()
            .map(|stored| stored.1.sectors)
            .sum::<u64>();
    assert!(held <= 7 * 128, "{held} sectors in a cache of 896");
    assert!(done > 100 * MS);
}

/// One write larger than the whole cache would wait for ever.
#[test]
fn a_write_larger_than_the_cache_gets_through() {
    for write in [WriteCache::Back, WriteCache::Through] {
        let mut host = Host::new(&profile(|profile| profile.cache.write = write));
        host.issue(Action::Write, extent(5000, 8));
        let large = host.issue(Action::Write, extent(0, 2000));
        assert_eq!(host.wait(large).1, Outcome::Done);
        host.settle();
        let stored: u64 = host.stored().iter().map(|stored| stored.1.sectors).sum();
        assert_eq!(stored, 2008);
    }
}

#[test]
fn what_was_read_or_written_is_answered_from_memory() {
    let mut host = Host::new(&profile(|_| ()));
    host.takes(Action::Read, extent(1000, 8));
    assert!(host.takes(Action::Read, extent(1000, 8)) < MS);
    // partly written, partly read before
    host.takes(Action::Write, extent(992, 8));
    assert!(host.takes(Action::Read, extent(992, 16)) < MS);
    assert_eq!(host.counter("cache_hits_count"), 2);
}

/// Writes that must be safe when they return would be so only by chance.
#[test]
fn a_write_through_is_complete_once_the_media_have_it() {
    let back = profile(|_| ());
    let through = profile(|profile| profile.cache.write = WriteCache::Through);
    for (profile, by_command) in [(back, true), (through, false)] {
        let mut host = Host::new(&profile);
        let tag = host.issue_through(Action::Write, extent(700, 8), by_command);
        let (at, _) = host.wait(tag);
        let order: Vec<_> = host.events.iter().map(|&(_, event)| event).collect();
        let outcome = Outcome::Done;
        let expected = [
            Event::Cached { tag },
            Event::Stored {
                extent: extent(700, 8),
            },
            Event::Completed { tag, outcome },
        ];
        assert_eq!(order, expected);
        assert_eq!(host.stored()[0].0, at);
    }
}

#[test]
fn a_discard_drops_what_is_cached_and_what_is_stored() {
    let mut host = Host::new(&profile(|_| ()));
    host.issue(Action::Read, extent(50_000, 8)); // keeps the media busy
    host.issue(Action::Write, extent(0, 8));
    let discard = host.issue(Action::Discard, extent(4, 8));
    host.wait(discard);
    host.settle();
    let dropped = Event::Dropped {
        extent: extent(4, 8),
    };
    assert!(host.events.iter().any(|&(_, event)| event == dropped));
    let stored: Vec<_> = host.stored().into_iter().map(|stored| stored.1).collect();
    assert_eq!(stored, [extent(0, 4)]);
}

/// A flush would return while the media hold older data than were answered before it.
#[test]
fn media_never_write_what_is_being_replaced() {
    let mut host = Host::new(&profile(|profile| profile.cache.read_ahead_kib = 0));
    host.issue(Action::Read, extent(60_000, 8));
    host.until(MS);
    let busy_until = host.disk.take_log()[0].end;
    let older = host.issue(Action::Write, extent(0, 8));
    host.wait(older);
    // comes in over the bus for 4 ms, within which the media have nothing else to do
    host.until(busy_until - 2 * MS);
    let newer = host.issue(Action::Write, extent(0, 800));
    let (cached, _) = host.wait(newer);
    assert!(cached > busy_until);
    let flush = host.issue(Action::Flush, extent(0, 0));
    let (flushed, _) = host.wait(flush);
    let written: Vec<_> = host.disk.take_log();
    assert!(
        written.iter().all(|service| service.from >= cached),
        "{written:?}"
    );
    assert!(written.iter().any(|service| service.end <= flushed));
}

/// A block that is written again and again would never get its flush.
#[test]
fn a_flush_does_not_wait_for_what_replaces() {
    let mut host = Host::new(&profile(|_| ()));
    host.issue(Action::Write, extent(0, 8));
    host.issue(Action::Write, extent(0, 8));
    host.until(MS);
    let flush = host.issue(Action::Flush, extent(0, 0));
    for _ in 0..1000 {
        while host.disk.waiting() > 2 {
            host.until(host.disk.next().unwrap());
        }
        host.issue(Action::Write, extent(0, 8));
    }
    assert!(host.answer(flush).is_some());
}
