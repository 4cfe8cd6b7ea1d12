//! Files that are read by the client: what arrives, in which order, and what the server decides.

mod common;

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{Folder, MIB, load, session, wait_until};
use nfs::client::{self, Load, Progress, Protocol, Report, Session};
use nfs::proxy::{self, Proxy};
use nfs::server::Server;
use readahead::decide::HEAD;
use readahead::{Decide, Heuristic, Request};

fn read(session: &Session, load: &Load) -> Report {
    client::run(session, load, &Progress::default()).expect("all can be read")
}

/// A file whole, by reads of 8 KiB.
fn whole(session: &Session, file: &str) -> Vec<u8> {
    let (handle, found) = session.look_up(file).expect("it is there");
    let at = |offset_b| session.read(session.number(), &handle, offset_b, 8192);
    let data = |offset_b| at(offset_b).expect("data").to_vec();
    (0..found.size_b).step_by(8192).flat_map(data).collect()
}

#[test]
fn what_is_read_is_what_is_in_the_file() {
    let folder = Folder::new();
    let bytes = folder.file("file", MIB + 12_345);
    let server = folder.serve();
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        assert!(
            whole(&session(server.address, protocol), "file") == bytes,
            "{protocol:?}"
        );
    }
}

#[test]
fn every_reader_reads_its_file_and_the_server_counts_the_reads() {
    let folder = Folder::new();
    for name in ["a", "b", "c"] {
        folder.file(name, 2 * MIB + 100);
    }
    let server = folder.serve();
    for (protocol, strides) in [(Protocol::Tcp, 1), (Protocol::Udp, 4)] {
        let before = server.summary().reads_count;
        let progress = Progress::default();
        let load = Load {
            strides,
            ..load(&["a", "b", "c"])
        };
        let report = client::run(&session(server.address, protocol), &load, &progress);
        let report = report.expect("all can be read");
        assert_eq!(report.read_b, 6 * MIB as u64, "the whole MiB");
        assert_eq!(progress.read_b.load(Ordering::Relaxed), report.read_b);
        assert!(
            report
                .readers
                .iter()
                .all(|reader| reader.read_b == 2 * MIB as u64)
        );
        let repeated = server.summary().repeated_count;
        assert!(
            server.summary().reads_count - before == 3 * 256,
            "{repeated} were repeated"
        );
    }
}

#[test]
fn one_worker_sends_in_order() {
    let folder = Folder::new();
    folder.file("file", MIB);
    let server = folder.serve();
    let session = session(server.address, Protocol::Tcp);
    let one = Load {
        workers: 1,
        ..load(&["file"])
    };
    assert_eq!(read(&session, &one).tally.sent_late_count, 0);
    assert_eq!(server.summary().late_count, 0);
}

/// The lines of a log below its head.
fn logged(server: Server, log: &std::path::Path) -> Vec<Vec<String>> {
    assert!(server.summary().is_log_complete);
    drop(server);
    let text = fs::read_to_string(log).expect("the log is there");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(format!("{HEAD},late").as_str()));
    lines
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect()
}

#[test]
fn the_log_has_every_decision_as_the_heuristic_makes_it() {
    let folder = Folder::new();
    for name in ["a", "b"] {
        folder.file(name, MIB);
    }
    for heuristic in [Heuristic::Default, Heuristic::SlowDown, Heuristic::Cursors] {
        let mut settings = folder.settings();
        let log = folder.0.join("log");
        settings.log = Some(log.clone());
        settings.read_ahead.heuristic = heuristic;
        settings.read_ahead.slots = 1;
        settings.read_ahead.probes = 1;
        let server = Server::start(&settings).expect("the folder can be served");
        let asked = Load {
            strides: 2,
            late_percent: 20,
            ..load(&["a", "b"])
        };
        read(&session(server.address, Protocol::Tcp), &asked);
        let evicted = server.summary().evicted_count;
        assert!(evicted > 0, "two files share a slot");
        let mut again = settings
            .read_ahead
            .read_ahead()
            .expect("the settings are right");
        let lines = logged(server, &log);
        assert_eq!(lines.len(), 256);
        for line in lines {
            let number = |nth: usize| line[nth].parse::<u64>().expect("a number");
            let decision = again.decide(Request {
                file: number(0),
                offset_b: number(1),
                count_b: number(2),
            });
            assert_eq!(decision.to_string(), line[..7].join(","));
        }
    }
}

#[test]
fn lost_datagrams_are_sent_again_and_decided_on_once() {
    let folder = Folder::new();
    let bytes = folder.file("file", MIB);
    let server = folder.serve();
    let proxy = Proxy::start(proxy::Settings {
        listen: ([127, 0, 0, 1], 0).into(),
        server: server.address,
        delay: Duration::ZERO,
        loss_percent: 20,
        seed: 1,
    });
    let address = proxy.expect("it can listen").address;
    let session = Session::mount(&address.into(), Protocol::Udp, Duration::from_millis(20));
    let session = session.expect("some datagrams arrive");
    assert!(whole(&session, "file") == bytes);
    assert!(session.tally().resent_count > 0);
    let summary = server.summary();
    assert_eq!(
        summary.reads_count, 128,
        "a read that comes again is no other read"
    );
    assert!(summary.repeated_count > 0, "some replies were lost");
}

#[test]
fn what_is_delayed_arrives_over_both_protocols() {
    let folder = Folder::new();
    let bytes = folder.file("file", MIB);
    let server = folder.serve();
    let proxy = Proxy::start(proxy::Settings {
        listen: ([127, 0, 0, 1], 0).into(),
        server: server.address,
        delay: Duration::from_millis(1),
        loss_percent: 0,
        seed: 0,
    });
    let address = proxy.expect("it can listen").address;
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        assert!(
            whole(&session(address, protocol), "file") == bytes,
            "{protocol:?}"
        );
    }
    wait_until(
        || server.connections() == 0,
        "the proxy keeps the connection of a client that went",
    );
}

#[test]
fn a_server_that_goes_ends_what_is_read() {
    let folder = Folder::new();
    folder.file("file", MIB);
    let server = folder.serve();
    let session = session(server.address, Protocol::Tcp);
    drop(server);
    let fault = client::run(&session, &load(&["file"]), &Progress::default());
    assert!(fault.is_err());
}
