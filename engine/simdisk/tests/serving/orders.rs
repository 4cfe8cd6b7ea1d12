//! Orders over the control socket.

use std::fs;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::host::{Aligned, DISK, Folder, Loop, Server, open, write_block};
use crate::needs_root;

/// What a meter, a testbed and a person read.
#[test]
fn a_disk_tells_what_it_is_and_what_it_has_done() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    assert_eq!(server.ready["ready"], json!(true));
    let beside = fs::read_link(folder.at().join("control")).expect("it is a link");
    assert_eq!(beside, folder.control());
    assert_eq!(
        server.ready["sectors"],
        json!(u64::from(DISK.megabytes) * 2048)
    );
    let device = Loop::on(&folder);
    let log = folder.0.join("log.csv");
    server.order(json!({"do": "log", "to": log}));
    server.order(json!({"do": "timing", "reset": true}));
    let before = server.order(json!({"do": "energy"}));
    let (file, mut data) = (device.open(), Aligned::new(4096));
    for block in 0..100 {
        write_block(&file, &mut data, block, 1);
        file.read_exact_at(data.bytes(), block * 4096)
            .expect("it is read");
    }
    file.sync_all().expect("the disk flushes");
    let after = server.order(json!({"do": "energy"}));
    server.order(json!({"do": "log"}));
    let timing = server.order(json!({"do": "timing"}));
    assert!(timing["requests"].as_u64() >= Some(201), "{timing}");
    let counters = server.order(json!({"do": "counters"}));
    assert!(counters["counters"]["completed_count"].as_u64() >= Some(201));

    let number = |value: &Value| value.as_u64().expect("a whole number");
    let spent_uj = number(&after["total_uj"]) - number(&before["total_uj"]);
    let span_ns = number(&after["time_ns"]) - number(&before["time_ns"]);
    // 5 W at rest, 10 W at work.
    let rest_uj = span_ns / 200;
    assert!(
        (rest_uj..=2 * rest_uj + 1).contains(&spent_uj),
        "{spent_uj} uJ in {span_ns} ns"
    );
    let told = server.order(json!({"do": "trace", "since_ns": before["time_ns"]}));
    let drawn_fj = integral(&told, number(&before["time_ns"]), number(&after["time_ns"]));
    assert!(drawn_fj.abs_diff(spent_uj * 1_000_000_000) < 1_000_000_000);

    let text = fs::read_to_string(log).expect("it is written");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(
        rows[0][4..],
        ["issued_ns", "sent_ns", "planned_ns", "done_ns"]
    );
    assert!(rows.len() > 200);
    for row in &rows[1..] {
        let time = |column: usize| row[column].parse::<u64>().expect("a time");
        let times = [time(4), time(5), time(6)];
        assert!(times.is_sorted(), "{row:?}");
        assert_eq!(
            time(6) - time(5),
            u64::from(DISK.service_us) * 1000,
            "{row:?}"
        );
    }
}

/// What is drawn between two times, in fJ, by an answer to `trace`.
fn integral(told: &Value, begin: u64, end: u64) -> u64 {
    let list = |name: &str| -> Vec<u64> {
        let numbers = told[name].as_array().expect("a list").iter();
        numbers
            .map(|number| number.as_u64().expect("a whole number"))
            .collect()
    };
    let (times, powers) = (list("times_ns"), list("power_uw"));
    assert!(times[0] <= begin && end <= told["until_ns"].as_u64().expect("a time"));
    let ends = times[1..].iter().copied().chain([end]);
    let spans = times
        .iter()
        .zip(ends)
        .map(|(&from, to)| to.min(end).saturating_sub(from.max(begin)));
    spans.zip(powers).map(|(span, power)| span * power).sum()
}

/// Changes while requests are under way must neither lose one nor hang.
#[test]
fn changes_are_made_between_requests() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    let device = Loop::on(&folder);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (file, mut data) = (device.open(), Aligned::new(4096));
            let mut version = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                version += 1;
                write_block(&file, &mut data, 7, version);
                file.read_exact_at(data.bytes(), 7 * 4096)
                    .expect("it is read");
                assert!(data.is_marked(7, version));
            }
        });
        for (order, to) in [
            ("depth", json!(1)),
            ("policy", json!("lifo")),
            ("scheduler", json!("elevator")),
            ("clock", json!("instant")),
            ("clock", json!("real")),
            ("scheduler", json!("fifo")),
            ("depth", json!(64)),
        ] {
            server.order(json!({"do": order, "to": to}));
        }
        server.order(json!({"do": "reset"}));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let described = server.order(json!({"do": "describe"}));
    assert_eq!(described["depth"], json!(64));
    assert_eq!(described["policy"], json!("lifo"));
}

/// A mistake is answered with what is wrong and what to do next, and changes nothing.
#[test]
fn orders_that_cannot_be_are_refused() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    for order in [
        json!({"do": "dance"}),
        json!({"do": "depth", "to": 0}),
        json!({"do": "depth", "to": 4096}),
        json!({"do": "policy", "to": "best"}),
        json!({"do": "scheduler", "to": "none"}),
        json!({"do": "clock", "to": "slow"}),
        json!({"do": "clock"}),
        json!({"do": "fault", "kind": "unreadable", "sector": 1_000_000_000, "sectors": 1}),
        json!({"do": "fault", "kind": "unreadable", "sector": u64::MAX, "sectors": 2}),
        json!({"do": "fault", "kind": "hang", "seconds": -1.0}),
        json!({"do": "fault", "kind": "hang", "seconds": 1e300}),
        json!({"do": "fault", "kind": "flood"}),
        json!({"do": "power", "to": "restore"}),
        json!({"do": "spin"}),
        json!({"do": "spin", "to": "standby"}),
        json!({"do": "log", "to": "/nowhere/at/all"}),
        json!({"do": "trace", "since_ns": 0}),
        json!({"do": "trace", "since_ns": -1}),
        json!([]),
        json!("describe"),
    ] {
        let answer = server.send(order.to_string().as_bytes());
        assert_eq!(answer["ok"], json!(false), "{order}");
        for part in ["what", "next"] {
            assert!(
                answer[part].as_str().is_some_and(|text| !text.is_empty()),
                "{answer}"
            );
        }
    }
    assert_eq!(server.order(json!({"do": "describe"}))["depth"], json!(32));
}

/// What broken orders are made of.
const WORDS: &[&str] = &[
    "do", "describe", "depth", "to", "fault", "kind", "hang", "seconds", "{", "}", "[", ":", ",",
    "\"", "-1", "1e999", "null", "\\u0000", "timing", "reset", "true",
];

/// Any bytes get an answer, and the server goes on.
#[test]
fn garbage_is_answered() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    let broken = prop::collection::vec(prop::sample::select(WORDS), 1..20)
        .prop_map(|words| words.concat().into_bytes());
    let noise = prop::collection::vec(any::<u8>(), 1..200);
    let line = prop_oneof![broken, noise].prop_filter("it is one line that is not blank", |line| {
        !line.contains(&b'\n') && !line.trim_ascii().is_empty()
    });
    let config = Config {
        failure_persistence: None,
        ..Config::with_cases(500)
    };
    let tried = TestRunner::new(config).run(&line, |line| {
        let answer = server_send(&folder, &line);
        prop_assert!(answer["ok"].is_boolean(), "{:?}", answer);
        Ok(())
    });
    tried.expect("every line is answered");
    let long = vec![b'x'; 70_000];
    assert_eq!(server_send(&folder, &long)["ok"], json!(false));
    server.order(json!({"do": "describe"}));
}

/// Send a line in a connection of its own.
fn server_send(folder: &Folder, line: &[u8]) -> Value {
    use std::io::{BufRead, BufReader, Write};
    let socket = std::os::unix::net::UnixStream::connect(folder.control()).expect("it listens");
    let limit = Some(Duration::from_secs(5));
    socket.set_read_timeout(limit).expect("it is a socket");
    // It may close before a line that is too long has ended.
    let _ = (&socket)
        .write_all(line)
        .and_then(|()| (&socket).write_all(b"\n"));
    let mut answer = String::new();
    let _ = BufReader::new(&socket).read_line(&mut answer);
    serde_json::from_str(&answer).unwrap_or(Value::Null)
}

/// Who has an answer must find it counted and logged.
#[test]
fn an_answer_that_was_given_is_counted() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    let (file, mut data) = (open(&folder.at().join("disk")), Aligned::new(4096));
    for round in 0..100 {
        server.order(json!({"do": "timing", "reset": true}));
        write_block(&file, &mut data, round, round);
        let timing = server.order(json!({"do": "timing"}));
        assert_eq!(timing["requests"], json!(1));
    }
}
