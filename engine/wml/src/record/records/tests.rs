use std::collections::BTreeMap;

use super::*;
use crate::clock::SECOND_NS;
use crate::model::Class;
use crate::record::{RequestTotal, Total, Totals};
use crate::shared::Control;

fn measuring() -> Control {
    let control = Control::default();
    control.start(SECOND_NS, 2 * SECOND_NS);
    control
}

fn records(threads: usize, interval_ns: u64) -> Records {
    let extent = Extent {
        flowops: threads,
        threads,
        requests: threads,
    };
    Records::new(extent, Some(2 * SECOND_NS), interval_ns).unwrap()
}

/// Of one thread, which has one flowop.
fn part(nth: usize) -> Part {
    Part {
        thread: nth,
        first_flowop: nth,
        flowops: 1,
        request: Some(nth),
    }
}

fn thread(records: &Records, nth: usize) -> ThreadRecord<'_> {
    records.thread(part(nth))
}

#[test]
fn only_what_ends_in_the_measured_interval_counts() {
    let control = measuring();
    let records = records(1, SECOND_NS);
    let thread = thread(&records, 0);
    let (from, to) = (control.measure_ns(), control.end_ns());
    for end in [from - 1, from, from + SECOND_NS, to - 1, to] {
        thread.done(&control, 0, Class::Reads, end - 100, end, 10);
        thread.skipped(&control, 0, end);
        thread.failed(&control, 0, end, libc::ENOSPC);
        thread.request(&control, end - 300, end);
    }
    let mut total = Total::default();
    total.merge(records.flowop(part(0), 0));
    assert_eq!((total.work_ops, total.bytes, total.skipped), (3, 30, 3));
    assert_eq!(total.errors, BTreeMap::from([(libc::ENOSPC, 3)]));
    assert_eq!(total.latency.buckets.iter().sum::<u64>(), 3);
    assert_eq!((total.latency.sum_ns, total.latency.max_ns), (300, 100));
    assert_eq!(records.series(2 * SECOND_NS), [[1, 10, 0], [2, 20, 0]]);
    assert_eq!(records.last_ns(), Some(to - 1));
    let mut requests = RequestTotal::default();
    requests.merge(records.request(0));
    assert_eq!((requests.work_ops, requests.latency.sum_ns), (3, 900));
}

#[test]
fn merging_is_adding_and_no_error_is_lost() {
    let control = measuring();
    let records = records(2, SECOND_NS);
    let now = control.measure_ns();
    let mut total = Total::default();
    for nth in 0..2 {
        let record = thread(&records, nth);
        for errno in 1..=20 {
            record.failed(&control, 0, now, errno);
        }
        record.done(&control, 0, Class::Metadata, now - 7, now, 0);
        total.merge(records.flowop(part(nth), 0));
    }
    assert_eq!(total.errors.values().sum::<u64>(), 40);
    assert_eq!(total.errors[&0], 26);
    assert_eq!(total.latency.buckets[7], 2);
    assert_eq!(total.work_ops_by_instance, [1, 1]);
}

#[test]
fn every_latency_is_in_the_histogram_of_its_flowop_whenever_one_looks() {
    let control = measuring();
    let flowops = 3;
    let mut extent = Extent {
        threads: 1,
        ..Extent::default()
    };
    let part = Part {
        thread: 0,
        first_flowop: extent.add_flowops(flowops),
        flowops,
        request: None,
    };
    let records = Records::new(extent, Some(SECOND_NS), SECOND_NS).unwrap();
    let thread = records.thread(part);
    let now = control.measure_ns() + SECOND_NS;
    for op in 1..=1000 {
        let flowop = op % flowops;
        thread.done(&control, flowop, Class::Reads, now - flowop as u64, now, 0);
        for flowop in 0..flowops {
            let mut total = Total::default();
            total.merge(records.flowop(part, flowop));
            let done = (op + flowops - flowop) / flowops - usize::from(flowop == 0);
            assert_eq!(total.latency.buckets[flowop], done as u64);
            assert_eq!(total.latency.buckets.iter().sum::<u64>(), total.work_ops);
        }
    }
}

#[test]
fn every_op_falls_into_its_interval_also_when_it_is_recorded_late() {
    let control = measuring();
    let records = records(1, SECOND_NS / 4);
    let thread = thread(&records, 0);
    let from = control.measure_ns();
    // The second is an asynchronous op that ended before the first.
    for quarter in [3, 1, 7, 7, 0] {
        let end = from + quarter * SECOND_NS / 4;
        thread.done(&control, 0, Class::Writes, end, end, quarter);
    }
    let written: Vec<u64> = records
        .series(2 * SECOND_NS)
        .iter()
        .map(|sum| sum[2])
        .collect();
    assert_eq!(written, [0, 1, 0, 3, 0, 0, 0, 14]);
    assert_eq!(records.last_ns(), Some(from + 7 * SECOND_NS / 4));
}

#[test]
fn a_request_that_was_due_before_the_thread_was_free_is_late() {
    let control = measuring();
    let records = records(1, SECOND_NS);
    let thread = thread(&records, 0);
    let from = control.measure_ns();
    for (intended, end) in [(0, 50), (40, 90), (90, 100), (99, 120)] {
        thread.request(&control, from + intended, from + end);
    }
    let mut total = RequestTotal::default();
    total.merge(records.request(0));
    assert_eq!((total.work_ops, total.late), (4, 2));
    assert_eq!(total.latency.max_ns, 50);
}

#[test]
fn a_later_look_holds_only_what_came_since() {
    let control = measuring();
    let records = records(1, SECOND_NS);
    let thread = thread(&records, 0);
    let now = control.measure_ns() + 2000;
    let look = || {
        let mut total = Total::default();
        total.merge(records.flowop(part(0), 0));
        Totals {
            flowops: vec![total],
            requests: Vec::new(),
        }
    };
    thread.done(&control, 0, Class::Reads, now - 1000, now, 1);
    thread.failed(&control, 0, now, libc::EIO);
    let first = look();
    thread.done(&control, 0, Class::Reads, now - 10, now, 1);
    let since = look().since(&first).flowops.remove(0);
    assert_eq!((since.work_ops, since.bytes), (1, 1));
    assert_eq!((since.latency.sum_ns, since.latency.max_ns), (10, 10));
    assert!(since.errors.is_empty());
}

#[test]
fn a_series_that_would_fill_the_memory_is_refused() {
    let extent = Extent::default();
    let refused = Records::new(extent, Some(10_000_000 * SECOND_NS), SECOND_NS / 2);
    assert!(refused.is_err_and(|failure| failure.to_string().contains("--interval")));
    // In steps of a second or more, a run that nobody waits for has the series of a day.
    assert!(Records::new(extent, Some(10_000_000 * SECOND_NS), SECOND_NS).is_ok());
}
