//! Faults that are put in, and what a host sees of them.

use simdisk::device::{Action, Device, Event, Outcome};
use simdisk::disk::Fault;

use crate::host::{Host, MS, S, extent, profile};

fn with_unreadable(sector: u64, sectors: u64) -> Host {
    let mut host = Host::new(&profile(|_| ()));
    let fault = Fault::Unreadable(extent(sector, sectors));
    host.disk.fault(0, fault, &mut host.events);
    host
}

/// A latent error would be found at no cost, or never.
#[test]
fn an_unreadable_sector_fails_its_reads_after_all_tries() {
    let mut host = with_unreadable(105, 1);
    let tag = host.issue(Action::Read, extent(100, 16));
    let (at, outcome) = host.wait(tag);
    assert_eq!(outcome, Outcome::Unreadable(105));
    assert!((300 * MS..312 * MS).contains(&at), "{at}");
    assert_eq!(host.counter("unreadable_count"), 1);
    // its neighbours are not hurt
    host.takes(Action::Read, extent(100, 5));
    host.takes(Action::Read, extent(106, 8));
}

/// A scrub that rewrites what it cannot read would be of no use.
#[test]
fn a_write_heals_it_once_the_media_have_it() {
    let mut host = with_unreadable(105, 1);
    host.takes(Action::Write, extent(104, 4));
    // from the cache, and from the media
    host.takes(Action::Read, extent(100, 16));
    host.settle();
    host.disk.reset(host.now);
    assert!(host.takes(Action::Read, extent(100, 16)) > MS / 2);
}

/// What was read ahead would hold data that could not be read.
#[test]
fn reading_ahead_stops_before_it() {
    let mut host = with_unreadable(20, 1);
    host.takes(Action::Read, extent(0, 8));
    host.until(S);
    assert_eq!(host.counter("read_ahead_b"), 12 * 512);
    assert!(host.takes(Action::Read, extent(8, 12)) < MS);
    let tag = host.issue(Action::Read, extent(20, 1));
    assert_eq!(host.wait(tag).1, Outcome::Unreadable(20));
}

/// One that comes up while the disk is reading ahead would be read over.
#[test]
fn it_ends_reading_ahead_that_goes_on() {
    let mut host = Host::new(&profile(|_| ()));
    host.takes(Action::Read, extent(0, 8));
    let fault = Fault::Unreadable(extent(20, 200));
    host.disk.fault(host.now, fault, &mut host.events);
    host.until(S);
    assert_eq!(host.counter("read_ahead_b"), 0);
}

/// A hung disk would answer, or would have lost what it was asked.
#[test]
fn a_hung_disk_answers_when_it_comes_back() {
    let mut host = Host::new(&profile(|_| ()));
    let tag = host.issue(Action::Read, extent(100, 8));
    host.until(MS);
    let until = 5 * S;
    host.disk
        .fault(host.now, Fault::Hang { until }, &mut host.events);
    let later = host.issue(Action::Read, extent(90_000, 8));
    host.until(until - 1);
    assert_eq!(host.events, []);
    assert!(host.wait(tag).0 >= until);
    assert_eq!(host.wait(later).1, Outcome::Done);
    assert!(host.takes(Action::Read, extent(60_000, 8)) < 20 * MS);
}

/// A file system would wait for ever instead of seeing an error.
#[test]
fn a_disk_that_vanished_answers_nothing_but_that() {
    let mut host = Host::new(&profile(|_| ()));
    host.takes(Action::Write, extent(0, 8));
    let read = host.issue(Action::Read, extent(100, 8));
    host.until(host.now + MS / 2);
    host.disk.fault(host.now, Fault::Vanish, &mut host.events);
    assert_eq!(host.answer(read), Some((host.now, Outcome::Gone)));
    let later = host.issue(Action::Flush, extent(0, 0));
    assert_eq!(host.wait(later), (host.now, Outcome::Gone));
    assert_eq!(host.stored(), [], "what was volatile is lost");
    assert_eq!(host.disk.ledger().power_uw(), 0);

    host.disk.mend(host.now);
    let back = host.takes(Action::Read, extent(100, 8));
    assert!(back > 8 * S);
    let events = host.events.iter();
    let answers = events.filter(|(_, event)| matches!(event, Event::Completed { .. }));
    assert_eq!(answers.count(), 4);
}
