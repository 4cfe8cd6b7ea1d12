//! The two clocks: what a disk did in real time, and the same requests in virtual time.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::json;

use simdisk::disk::Disk;
use simdisk::host::{Fifo, RequestQueue};
use simdisk::profile::Profile;
use simdisk::simulate::{Replay, run, trace};
use simdisk::time::Ns;

use crate::host::{Aligned, Folder, Server, open, text};
use crate::needs_root;

/// With a queue that it reorders, read-ahead and a write cache.
const DISK: &str = "ddys-t36950n";

const LARGE_B: usize = 64 << 10;
const SMALL_B: usize = 4 << 10;

/// Issue 6: the clocks agree within this on the same trace.
const AGREES: f64 = 0.05;

/// From when the disk got a request to its answer.
#[derive(Clone, Copy)]
struct Span {
    from: Ns,
    to: Ns,
}

impl Span {
    fn ns(self) -> f64 {
        (self.to - self.from) as f64
    }
}

/// The sum, and how long there was any.
fn served_and_busy_ns(spans: &[Span]) -> (f64, f64) {
    let mut spans = spans.to_vec();
    spans.sort_by_key(|span| span.from);
    let (mut busy, mut until) = (0, 0);
    for span in &spans {
        busy += span.to.max(until) - span.from.max(until);
        until = until.max(span.to);
    }
    (spans.iter().map(|span| span.ns()).sum(), busy as f64)
}

fn agree(real: f64, simulated: f64, share: f64) -> bool {
    (real - simulated).abs() <= share * simulated
}

/// Sequential and random reads and writes in turn, each in parts of the disk of its own, and
/// flushes; returns how many requests that was.
fn load(disk: &Path, nth: u64, steps: u64) -> usize {
    let (file, mut data) = (open(disk), Aligned::new(LARGE_B));
    let length_b = file.metadata().expect("it is a file").len();
    let part_b = length_b / 16 / (1 << 20) * (1 << 20);
    let mut state = nth;
    let mut random = || {
        state = crate::host::mark(state, nth, 0);
        state % (length_b / SMALL_B as u64) * SMALL_B as u64
    };
    let mut flushes = 0;
    for step in 0..steps {
        let onward = (step / 4) * LARGE_B as u64;
        let (large, small) = (LARGE_B, SMALL_B);
        let done = match step % 4 {
            0 => file.read_exact_at(&mut data.bytes()[..large], nth * part_b + onward),
            1 => file.read_exact_at(&mut data.bytes()[..small], random()),
            2 => file.write_all_at(&data.bytes()[..large], (nth + 8) * part_b + onward),
            _ => file.write_all_at(&data.bytes()[..small], random()),
        };
        done.expect("the disk serves");
        if step % 32 == 31 {
            file.sync_all().expect("the disk flushes");
            flushes += 1;
        }
    }
    steps as usize + flushes
}

/// So late is no answer of a machine that goes on.
const STOOD_STILL_NS: u64 = 10_000_000;

/// Results in virtual time would say nothing of the disk that a kernel sees.
#[test]
fn both_clocks_agree_on_the_same_trace() {
    needs_root!();
    let folder = Folder::new();
    let mut serve = Command::new(env!("CARGO_BIN_EXE_fsgreen-simdisk"));
    serve
        .args(["serve", DISK, "--at", &text(&folder.at())])
        .args(["--store", &text(&folder.store())])
        .args(["--control", &text(&folder.control())])
        .stdout(Stdio::piped());
    let mut server = Server::run(&folder, serve);
    let (disk, log) = (folder.at().join("disk"), folder.0.join("log.csv"));
    server.order(json!({"do": "reset"}));
    server.order(json!({"do": "timing", "reset": true}));
    server.order(json!({"do": "log", "to": log}));
    let alone = load(&disk, 0, 200);
    let together: usize = thread::scope(|scope| {
        let workers = (1..5).map(|nth| {
            let disk = &disk;
            scope.spawn(move || load(disk, nth, 80))
        });
        let workers: Vec<_> = workers.collect();
        let counts = workers.into_iter().map(|worker| worker.join());
        counts.map(|count| count.expect("it has finished")).sum()
    });
    server.order(json!({"do": "log"}));
    let timing = server.order(json!({"do": "timing"}));
    let on_time = timing["share"].as_f64();
    let latest_ns = timing["late_ns"]["max"].as_u64();

    let text = fs::read_to_string(log).expect("it is written");
    assert_eq!(text.lines().count(), 1 + alone + together, "all are logged");
    let mut rows: Vec<Vec<Ns>> = text
        .lines()
        .skip(1)
        .map(|line| {
            let times = line.split(',').skip(4);
            times.map(|time| time.parse().expect("a time")).collect()
        })
        .collect();
    // as the requests of a trace are numbered
    rows.sort_by_key(|row| row[0]);
    let until = |end: usize| -> Vec<Span> {
        let span = |row: &Vec<Ns>| Span {
            from: row[1],
            to: row[end],
        };
        rows.iter().map(span).collect()
    };
    let (planned, measured) = (until(2), until(3));

    let profile = Profile::load(DISK).expect("it is built in");
    let requests = trace::parse(&text, "log", profile.sectors()).expect("a log is a trace");
    let Profile::Disk(profile) = &profile else {
        panic!("{DISK} is a disk");
    };
    let start = requests[0].issued;
    let mut queue = RequestQueue::new(
        Box::new(Disk::new(profile, start)),
        Box::new(Fifo::default()),
    );
    let mut simulated = vec![Span { from: 0, to: 0 }; requests.len()];
    run(&mut queue, &mut Replay::new(requests), start, |served| {
        simulated[served.sent.request.command.tag as usize] = Span {
            from: served.sent.at,
            to: served.done,
        };
    });

    let alike = planned.iter().zip(&simulated);
    let alike = alike.filter(|(real, simulated)| agree(real.ns(), simulated.ns(), AGREES));
    let alike = alike.count() as f64 / simulated.len() as f64;
    let (served, busy) = served_and_busy_ns(&simulated);
    for (name, real) in [("planned", planned), ("measured", measured)] {
        let (real_served, real_busy) = served_and_busy_ns(&real);
        eprintln!(
            "{name} against simulated: service {:.4}, busy {:.4} of {:.1} s",
            real_served / served,
            real_busy / busy,
            busy / 1e9
        );
        // what a machine that was not calm answered late is no plan of the disk's
        if name == "measured" && (on_time < Some(0.95) || latest_ns > Some(STOOD_STILL_NS)) {
            eprintln!(
                "not compared: {on_time:?} of the answers were on time, 0.95 are needed; the \
                 latest by {latest_ns:?} ns, {STOOD_STILL_NS} are allowed"
            );
            continue;
        }
        assert!(
            agree(real_served, served, AGREES),
            "{name}: {real_served} {served}"
        );
        assert!(agree(real_busy, busy, AGREES), "{name}: {real_busy} {busy}");
    }
    eprintln!("{alike:.4} of the requests were planned alike, {on_time:?} answered on time");
    assert!(
        alike > 0.9,
        "only {alike:.4} of the requests were planned alike"
    );
}
