//! Traces as text, and what comes of replaying them.

mod common;

use proptest::prelude::*;

use common::{Linear, SECTORS, SEEK_NS, TRANSFER_NS};
use simdisk::device::{Action, LOG_HEAD};
use simdisk::host::{RequestQueue, Served, scheduler_by_name};
use simdisk::simulate::{Replay, run, trace};

const TRACE: &str = "\
action,stream,sector,sectors,issued_ns,note
read,3,100,8,5000,second
write,4,200,16,4000,first

flush,4,0,0,6000,third
";

fn replayed(text: &str, scheduler: &str) -> Vec<Served> {
    let requests = trace::parse(text, "test", SECTORS).expect("a good trace");
    let start = requests[0].issued;
    let mut queue = RequestQueue::new(
        Box::new(Linear::new(4)),
        scheduler_by_name(scheduler).expect("it is in the list"),
    );
    let mut served = Vec::new();
    run(&mut queue, &mut Replay::new(requests), start, |one| {
        served.push(*one)
    });
    served
}

/// Columns stand in any order and others beside them; times are those of the trace.
#[test]
fn a_trace_is_replayed_at_its_times() {
    let served = replayed(TRACE, "fifo");
    let actions: Vec<_> = served
        .iter()
        .map(|one| one.sent.request.command.action)
        .collect();
    assert_eq!(actions, [Action::Write, Action::Read, Action::Flush]);
    assert_eq!(served[0].sent.at, 4000);
    assert_eq!(served[0].sent.request.stream, 4);
    assert_eq!(served[0].done, 4000 + 200 * SEEK_NS + 16 * TRANSFER_NS);
}

/// A log must be good as a trace: so a run in real time is checked in virtual time.
#[test]
fn a_log_is_a_trace() {
    let mut log = format!("{LOG_HEAD}\n");
    let first = replayed(TRACE, "sstf");
    first.iter().for_each(|one| trace::write(&mut log, one));
    assert_eq!(replayed(&log, "sstf"), first);
}

/// A trace with a slip must name the line, not give other results.
#[test]
fn slips_in_a_trace_are_told_with_their_line() {
    for (from, to, place) in [
        ("sectors", "sectorz", "no column sectors"),
        ("read,3", "reed,3", "test:2"),
        ("100,8", "100,0", "test:2"),
        ("200,16", "16777210,16", "test:3"),
        ("flush,4,0,0", "flush,4,0,8", "test:5"),
        ("5000", "-1", "test:2"),
        ("5000", "99999999999999999999", "test:2"),
        ("read,3", "read,5000000000", "test:2"),
    ] {
        let fault = trace::parse(&TRACE.replace(from, to), "test", SECTORS);
        let fault = fault.expect_err("it has a slip").to_string();
        assert!(fault.contains(place), "{fault}");
    }
    assert!(trace::parse("", "test", SECTORS).is_err());
}

/// A flush has no place: one in the middle of a request would hold up what comes behind it.
#[test]
fn a_flush_is_nowhere() {
    let text = TRACE.replace("flush,4,0,0", "flush,4,18446744073709551615,0");
    let requests = trace::parse(&text, "test", SECTORS).expect("a good trace");
    assert_eq!(requests[2].command.extent.sector, 0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a file holds: requests within the device, in the order of time, or an error.
    #[test]
    fn garbage_is_refused_or_sound(text in "[a-z0-9,. \n-]{0,200}", cut in 0_usize..120) {
        let cut = TRACE.char_indices().nth(cut).map_or(TRACE.len(), |(at, _)| at);
        for text in [text.clone(), format!("{}{text}{}", &TRACE[..cut], &TRACE[cut..])] {
            if let Ok(requests) = trace::parse(&text, "test", SECTORS) {
                prop_assert!(requests.is_sorted_by_key(|request| request.issued));
                prop_assert!(requests.iter().all(|request| request.command.extent.end() <= SECTORS));
            }
        }
    }
}
