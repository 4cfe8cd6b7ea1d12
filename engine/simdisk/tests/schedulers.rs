//! Whether requests come out of the schedulers, and in which order.

mod common;

use std::collections::BTreeMap;

use proptest::prelude::*;

use common::Linear;
use simdisk::device::{Action, Command, Event, Extent};
use simdisk::host::{
    Choice, Request, RequestQueue, SCHEDULERS, Scheduler, Served, scheduler_by_name,
};
use simdisk::time::Ns;

fn request(tag: u64, issued: Ns, stream: u32, action: Action, extent: Extent) -> Request {
    let command = Command {
        tag,
        action,
        extent,
        through: false,
    };
    Request {
        command,
        stream,
        issued,
    }
}

/// After so long another request is issued: stream, whether it writes, its place, its length.
type Load = Vec<(Ns, u32, bool, u64, u64)>;

fn load(most: usize) -> impl Strategy<Value = Load> {
    let one = (
        0..30_000_000_u64,
        0..6_u32,
        any::<bool>(),
        0..1_000_000_u64,
        1..64_u64,
    );
    prop::collection::vec(one, 1..most)
}

fn requests(load: &Load) -> Vec<Request> {
    let mut at = 0;
    let numbered = (0..).zip(load);
    let made = numbered.map(|(tag, &(after, stream, writes, sector, sectors))| {
        at += after;
        let action = if writes { Action::Write } else { Action::Read };
        request(tag, at, stream, action, Extent { sector, sectors })
    });
    made.collect()
}

fn scheduler(name: &str) -> Box<dyn Scheduler> {
    scheduler_by_name(name).expect("it is in the list")
}

/// Issue the requests at their times; what is served until nothing happens any more.
fn served(name: &str, depth: usize, requests: &[Request]) -> Vec<Served> {
    let mut queue = RequestQueue::new(Box::new(Linear::new(depth)), scheduler(name));
    queue.keep_served();
    let mut events = Vec::new();
    for &request in requests {
        queue.advance(request.issued, &mut events);
        queue.offer(request.issued, request);
    }
    while let Some(at) = queue.next() {
        queue.advance(at, &mut events);
    }
    assert_eq!(queue.waiting(), 0, "{name} keeps a request for ever");
    let answers = events
        .iter()
        .filter(|(_, event)| matches!(event, Event::Completed { .. }));
    assert_eq!(answers.count(), requests.len());
    queue.served().collect()
}

/// Take requests one after the other, at one time; a wait is waited for.
fn taken(scheduler: &mut dyn Scheduler, mut at: Ns, count: usize) -> Vec<Request> {
    let mut taken = Vec::new();
    while taken.len() < count {
        match scheduler.take(at) {
            Choice::Send(request) => {
                scheduler.completed(at, &request);
                taken.push(request);
            }
            Choice::Wait(until) => at = until,
            Choice::Nothing => break,
        }
    }
    taken
}

fn sectors(requests: &[Request]) -> Vec<u64> {
    requests
        .iter()
        .map(|request| request.command.extent.sector)
        .collect()
}

fn reads(places: &[u64]) -> Vec<Request> {
    let numbered = (0..).zip(places);
    let made = numbered
        .map(|(tag, &sector)| request(tag, 0, 0, Action::Read, Extent { sector, sectors: 8 }));
    made.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// A lost request would hang a reader, one that comes twice would corrupt a file.
    #[test]
    fn every_request_is_served_once(load in load(120), depth in 1_usize..9) {
        let requests = requests(&load);
        for name in SCHEDULERS {
            let mut counts = BTreeMap::new();
            for served in served(name, depth, &requests) {
                prop_assert!(served.sent.at >= served.sent.request.issued);
                prop_assert!(served.done > served.sent.at);
                *counts.entry(served.sent.request.command.tag).or_insert(0) += 1;
            }
            prop_assert!(counts.values().all(|&count| count == 1), "{}", name);
            prop_assert_eq!(counts.len(), requests.len());
        }
    }

    /// A trace that is replayed twice must give the same times.
    #[test]
    fn the_same_load_is_served_the_same(load in load(60), depth in 1_usize..5) {
        let requests = requests(&load);
        for name in SCHEDULERS {
            prop_assert_eq!(served(name, depth, &requests), served(name, depth, &requests));
        }
    }

    /// FIFO is the baseline of every comparison of schedulers: it must change no order.
    #[test]
    fn fifo_keeps_the_order(load in load(120), depth in 1_usize..9) {
        let requests = requests(&load);
        let tags = served("fifo", depth, &requests).into_iter();
        let tags: Vec<_> = tags.map(|served| served.sent.request.command.tag).collect();
        prop_assert!(tags.is_sorted());
    }

    /// A request that is passed waits for the next sweep; within a sweep the head goes one way.
    #[test]
    fn the_elevator_serves_sweep_after_sweep_by_place(load in load(120), late in 0_usize..60) {
        let mut elevator = scheduler("elevator");
        let (mut sweep, mut place) = (0, 0);
        let mut waiting: Vec<(u32, u64)> = Vec::new();
        let requests = requests(&load);
        let early = requests.len() - late.min(requests.len());
        let mut coming = requests.iter();
        for _ in 0..requests.len() {
            let now = if waiting.is_empty() { early.max(1) } else { 1 };
            for &request in coming.by_ref().take(now) {
                let sector = request.command.extent.sector;
                let joins = waiting.is_empty() || sector >= place;
                waiting.push((if joins { sweep } else { sweep + 1 }, sector));
                elevator.add(0, request);
            }
            let Choice::Send(sent) = elevator.take(0) else {
                panic!("{} wait", waiting.len());
            };
            let (nth, &first) = waiting.iter().enumerate().min_by_key(|&(_, key)| key).unwrap();
            prop_assert_eq!(sent.command.extent.sector, first.1);
            place = first.1;
            waiting.swap_remove(nth);
            if waiting.iter().all(|&(which, _)| which > sweep) {
                sweep += 1;
            }
        }
    }

    /// Nobody waits longer than the sweep that goes on takes, and what came until its end.
    #[test]
    fn n_cscan_bounds_the_wait(early in 1_usize..40, crowd in 1_usize..40, sector in 0..1_000_000_u64) {
        let mut scheduler = scheduler("n-cscan");
        let place = |tag: u64| (tag * 7919) % 1_000_000;
        let read = |tag, sector| request(tag, 0, 0, Action::Read, Extent { sector, sectors: 8 });
        (0..early as u64).for_each(|tag| scheduler.add(0, read(tag, place(tag))));
        taken(&mut *scheduler, 0, 1);
        (0..crowd as u64).for_each(|tag| scheduler.add(0, read(1000 + tag, place(tag))));
        scheduler.add(0, read(9999, sector));
        // A reader in sequence goes on issuing just ahead of the sweep.
        let mut passed = 0;
        loop {
            let Choice::Send(sent) = scheduler.take(0) else {
                panic!("the request is lost");
            };
            if sent.command.tag == 9999 {
                break;
            }
            passed += 1;
            scheduler.add(0, read(10_000 + passed, sent.command.extent.sector + 8));
        }
        prop_assert!(passed as usize <= 2 * (early - 1) + crowd);
    }
}

/// The trap of nfstricks03, section 5.3: one block waits until a whole file is read.
#[test]
fn the_elevator_starves_what_a_sequential_reader_has_passed() {
    let mut elevator = scheduler("elevator");
    let read = |tag, sector| request(tag, 0, 0, Action::Read, Extent { sector, sectors: 8 });
    elevator.add(0, read(0, 5000));
    taken(&mut *elevator, 0, 1);
    elevator.add(0, read(1, 5008));
    elevator.add(0, read(9999, 100));
    for tag in 2..1000 {
        elevator.add(0, read(tag, 5000 + 8 * tag));
        assert_eq!(taken(&mut *elevator, 0, 1)[0].command.tag, tag - 1);
    }
    let last = taken(&mut *elevator, 0, 2);
    assert_eq!(last[1].command.tag, 9999);
}

#[test]
fn sstf_goes_to_the_nearest() {
    let mut sstf = scheduler("sstf");
    for request in reads(&[100, 2000, 90, 400]) {
        sstf.add(0, request);
    }
    assert_eq!(sectors(&taken(&mut *sstf, 0, 9)), [90, 100, 400, 2000]);
}

/// An overdue read must not wait for more than the batch that goes on.
#[test]
fn deadline_sends_an_overdue_read_within_a_batch() {
    const EXPIRE_NS: Ns = 500_000_000;
    let mut deadline = scheduler("deadline");
    let read = |tag, sector| request(tag, 0, 0, Action::Read, Extent { sector, sectors: 8 });
    let mut at = 0;
    deadline.add(at, read(0, 5000));
    taken(&mut *deadline, at, 1);
    deadline.add(at, read(9999, 100));
    let mut late = 0;
    for tag in 1.. {
        deadline.add(at, read(tag, 5000 + 8 * tag));
        at += 10_000_000;
        if taken(&mut *deadline, at, 1)[0].command.tag == 9999 {
            break;
        }
        late += u32::from(at >= EXPIRE_NS);
        assert!(late < 16, "overdue since {late} requests");
    }
    assert!(
        at >= EXPIRE_NS,
        "the sweep was left before the read was due"
    );
}

/// Writes that wait behind reads for ever would fill the memory of the host.
#[test]
fn deadline_lets_reads_pass_writes_twice() {
    let mut deadline = scheduler("deadline");
    let extent = |nth: u64| Extent {
        sector: nth * 8,
        sectors: 8,
    };
    for nth in 0..200 {
        deadline.add(0, request(nth, 0, 0, Action::Read, extent(nth)));
        deadline.add(0, request(1000 + nth, 0, 0, Action::Write, extent(nth)));
    }
    let kinds: Vec<_> = taken(&mut *deadline, 0, 96)
        .iter()
        .map(|request| request.command.action)
        .collect();
    let batches: Vec<_> = kinds.chunks(16).map(|batch| batch[0]).collect();
    use Action::{Read, Write};
    assert!(
        kinds
            .chunks(16)
            .all(|batch| batch.iter().all(|&kind| kind == batch[0]))
    );
    assert_eq!(batches, [Read, Read, Write, Read, Read, Write]);
}

/// What each of two readers has got when so many requests have been served; each has always
/// another in wait.
fn shares(name: &str, sizes: [u64; 2], count: usize) -> [(Ns, u64); 2] {
    let mut queue = RequestQueue::new(Box::new(Linear::new(1)), scheduler(name));
    queue.keep_served();
    let mut events = Vec::new();
    let mut places = [0, 1_000_000];
    let mut got = [(0, 0); 2];
    let mut tag = 0;
    let mut offer = |queue: &mut RequestQueue<Linear>, at, stream: usize| {
        let extent = Extent {
            sector: places[stream],
            sectors: sizes[stream],
        };
        places[stream] += sizes[stream];
        tag += 1;
        queue.offer(at, request(tag, at, stream as u32, Action::Read, extent));
    };
    for stream in [0, 1, 0, 1] {
        offer(&mut queue, 0, stream);
    }
    for _ in 0..count {
        let at = queue.next().expect("more waits");
        queue.advance(at, &mut events);
        for served in queue.served().collect::<Vec<_>>() {
            let stream = served.sent.request.stream as usize;
            got[stream].0 += served.done - served.sent.at;
            got[stream].1 += served.sent.request.command.extent.sectors;
            offer(&mut queue, at, stream);
        }
    }
    got
}

/// CFQ gives equal times, whatever is read in them: a slice is 100 ms.
#[test]
fn cfq_gives_equal_times() {
    let [(one_ns, _), (other_ns, _)] = shares("cfq", [8, 256], 20_000);
    assert!(
        one_ns.abs_diff(other_ns) < 150_000_000,
        "{one_ns} {other_ns}"
    );
    assert!(one_ns + other_ns > 2_000_000_000);
}

/// BFQ gives equal amounts, up to the budgets of 8 MiB, however small the requests are.
#[test]
fn bfq_gives_equal_amounts() {
    let [(_, one), (_, other)] = shares("bfq", [8, 256], 20_000);
    assert!(one.abs_diff(other) <= 2 * 16 * 1024, "{one} {other}");
    assert!(one + other > 200_000);
}

/// A reader that thinks a little keeps the heads where it reads, if the scheduler waits for it.
#[test]
fn cfq_and_bfq_wait_for_who_reads_on() {
    for name in ["cfq", "bfq"] {
        let mut scheduler = scheduler(name);
        let read = |tag, stream, sector| {
            request(tag, 0, stream, Action::Read, Extent { sector, sectors: 8 })
        };
        scheduler.add(0, read(1, 0, 0));
        scheduler.add(0, read(2, 1, 900_000));
        let first = taken(&mut *scheduler, 0, 1);
        let Choice::Wait(until) = scheduler.take(0) else {
            panic!("{name} does not wait");
        };
        scheduler.add(until / 2, read(3, 0, 8));
        let then = scheduler.take(until / 2);
        assert_eq!(first[0].command.tag, 1);
        assert!(
            matches!(then, Choice::Send(request) if request.command.tag == 3),
            "{name}"
        );
    }
}

/// A flush must not wait behind a sweep, and is none of the scheduler's.
#[test]
fn a_flush_goes_first() {
    let mut queue = RequestQueue::new(Box::new(Linear::new(1)), scheduler("cfq"));
    queue.keep_served();
    for request in reads(&[0, 800, 1600]) {
        queue.offer(0, request);
    }
    let nothing = Extent {
        sector: 0,
        sectors: 0,
    };
    queue.offer(0, request(77, 0, 0, Action::Flush, nothing));
    let mut events = Vec::new();
    while let Some(at) = queue.next() {
        queue.advance(at, &mut events);
    }
    let tags: Vec<_> = queue
        .served()
        .map(|served| served.sent.request.command.tag)
        .collect();
    assert_eq!(tags, [0, 77, 1, 2]);
}
