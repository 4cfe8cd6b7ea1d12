//! An NFS server in virtual time: what heuristics are worth on a disk, and recorded traces.

mod common;

use proptest::prelude::*;
use serde_json::{Value, json};

use common::{Linear, SECTORS};
use readahead::{Count, Heuristic, Reads, Settings};
use simdisk::host::{RequestQueue, scheduler_by_name};
use simdisk::simulate::{Experiment, Nfs, nfs, run};

fn report(disk: &str, work: &Value) -> Value {
    reported(&json!({"disk": disk, "work": {"nfs": work}, "log": true}))
}

fn reported(asked: &Value) -> Value {
    let experiment = Experiment::parse(&asked.to_string()).expect("a good experiment");
    serde_json::to_value(experiment.run().expect("it is run")).expect("plain data")
}

/// What clients get of a disk that may read ahead into its own cache, too.
fn mb_s(disk: &str, own_kib: Option<u32>, work: &Value) -> f64 {
    let overrides = json!({"read_ahead_kib": own_kib});
    let asked = json!({
        "disk": disk, "overrides": overrides, "scheduler": "elevator", "work": {"nfs": work},
    });
    let rate = &reported(&asked)["nfs"]["delivered_mb_s"];
    rate.as_f64().expect("a rate")
}

/// What the clients get of a device of which every time is known, and when all is done.
fn served(asked: &Nfs, own: Option<Count>) -> (u64, u64) {
    let mut server = asked.server(SECTORS, own).expect("a good server");
    let scheduler = scheduler_by_name("fifo").expect("it is in the list");
    let mut queue = RequestQueue::new(Box::new(Linear::new(4)), scheduler);
    let end = run(&mut queue, &mut server, 0, |_| {});
    (server.report(0).delivered_b, end)
}

fn on_strides(disk: &str, own_kib: Option<u32>, streams: u32, heuristic: &str) -> f64 {
    let reads = json!({"total_mib": 32, "streams": streams});
    let read_ahead = json!({"heuristic": heuristic});
    let work = json!({"reads": reads, "read_ahead": read_ahead, "partition": 1});
    mb_s(disk, own_kib, &work)
}

const DISKS: [&str; 2] = ["wd200bb", "ddys-t36950n"];

/// The finding of section 7, where nothing else reads ahead: with cursors strides need a seek for
/// each 64 KiB, and without for each 8.
#[test]
fn cursors_are_five_times_as_fast_on_strides() {
    for disk in DISKS {
        for streams in [2, 4, 8] {
            let rate = |heuristic| on_strides(disk, Some(0), streams, heuristic);
            let (default, cursors) = (rate("default"), rate("cursors"));
            assert!(
                cursors > 5.0 * default,
                "{disk} {streams}: {cursors} {default}"
            );
            assert!(rate("slowdown") > 0.95 * default);
        }
    }
}

/// A disk that reads ahead into its own cache leaves less to be won, as it did in table 1.
#[test]
fn cursors_win_less_where_the_disk_reads_ahead() {
    for disk in DISKS {
        for streams in [2, 4, 8] {
            let rate = |heuristic| on_strides(disk, None, streams, heuristic);
            let gain = rate("cursors") / rate("default");
            assert!((1.0..2.5).contains(&gain), "{disk} {streams}: {gain}");
        }
    }
}

/// The finding of section 6.3: what matters is that a file is remembered at all. Requests to the disk
/// are of 128 KiB, as FreeBSD's ATA driver allows; with 64 KiB it is four times.
#[test]
fn a_table_that_is_too_small_is_five_times_as_slow() {
    let rate = |slots, heuristic| {
        let reads = json!({"total_mib": 64, "files": 8});
        let read_ahead = json!({
            "slots": slots, "probes": 4, "heuristic": heuristic, "window_kib": 256,
        });
        let work = json!({
            "reads": reads, "read_ahead": read_ahead, "cluster_kib": 128, "partition": 1,
        });
        mb_s("wd200bb", Some(0), &work)
    };
    let (small, large) = (rate(4, "default"), rate(1017, "default"));
    assert!(large > 5.0 * small, "{large} {small}");
    assert!(rate(4, "slowdown") < 1.05 * small);
    assert!((rate(1017, "always") / large - 1.0).abs() < 0.05);
}

/// Nothing is lost and nothing read twice, however requests arrive and whatever is decided.
#[test]
fn every_byte_is_delivered_and_read_once() {
    for heuristic in ["default", "always", "slowdown", "cursors"] {
        let reads = json!({"total_mib": 16, "files": 3, "late_percent": 10, "order": "random"});
        let read_ahead = json!({"heuristic": heuristic});
        let work = json!({"reads": reads, "read_ahead": read_ahead, "in_flight": 4});
        let report = report("wd200bb", &work);
        // Three equal files of whole requests.
        let wanted_b = 3 * (16 * 1024 / 3 / 8) * 8192_u64;
        assert_eq!(report["nfs"]["delivered_b"], wanted_b, "{heuristic}");
        assert_eq!(report["read_b"], wanted_b, "{heuristic}");
        let lines = report["nfs"]["decisions"]
            .as_str()
            .expect("decisions")
            .lines();
        assert_eq!(lines.count() as u64, 1 + wanted_b / 8192);
    }
}

/// One read, and a second that is in memory by then: every time can be added up by hand.
#[test]
fn a_reply_takes_what_device_and_link_take() {
    let asked = Nfs {
        reads: Reads {
            total_mib: 1,
            read_kib: 512,
            ..Reads::default()
        },
        read_ahead: Settings {
            heuristic: Heuristic::Always,
            window_kib: 512,
            ..Settings::default()
        },
        cluster_kib: 512,
        link_mb_s: 100,
        ..Nfs::default()
    };
    let (transfer_ns, link_ns) = (1024 * common::TRANSFER_NS, 512 * 1024 * 10);
    assert!(
        transfer_ns > link_ns,
        "the device is what the second read waits for"
    );
    assert_eq!(served(&asked, None), (1 << 20, 2 * transfer_ns + link_ns));
}

/// A heuristic of one's own is asked in the place of the named one.
#[test]
fn an_own_heuristic_decides() {
    let asked = Nfs {
        reads: Reads {
            total_mib: 4,
            streams: 4,
            ..Reads::default()
        },
        ..Nfs::default()
    };
    let own = |count: u32| -> Option<Count> { Some(Box::new(move |_| count)) };
    let (_, without) = served(&asked, None);
    assert_eq!(served(&asked, own(0)).1, without);
    assert!(served(&asked, own(127)).1 < without);
}

#[test]
fn a_recorded_trace_is_replayed_in_its_order() {
    let name = format!("simdisk-nfs-{}.csv", std::process::id());
    let file = std::env::temp_dir().join(name);
    let trace =
        "time,offset_b,file,count_b\n9,0,5,8192\n8,8192,5,8192\n7,0,3,100\n6,16384,5,8192\n";
    std::fs::write(&file, trace).expect("room for a trace");
    let report = report("wd200bb", &json!({"file": file}));
    std::fs::remove_file(&file).expect("it is there");
    let decisions = report["nfs"]["decisions"].as_str().expect("decisions");
    assert_eq!(
        decisions.lines().skip(1).collect::<Vec<_>>(),
        [
            "5,0,8192,5,,1,0",
            "5,8192,8192,5,,2,8192",
            "3,0,100,3,,1,0",
            "5,16384,8192,5,,3,16384"
        ]
    );
    assert_eq!(report["nfs"]["delivered_b"], 3 * 8192 + 100);
}

#[test]
fn slips_are_told() {
    for (work, word) in [
        (json!({"in_flight": 0}), "nfs.in_flight"),
        (json!({"reads": {"files": 0}}), "nfs.reads"),
        (json!({"read_ahead": {"slots": 0}}), "nfs.read_ahead"),
        (json!({"file": "/none.csv"}), "/none.csv"),
        (
            json!({"partition": 1, "reads": {"total_mib": 16384}}),
            "do not fit",
        ),
    ] {
        let asked = json!({"disk": "wd200bb", "work": {"nfs": work}}).to_string();
        let told = Experiment::parse(&asked).expect("JSON").run();
        let told = told.expect_err("it is refused").to_string();
        assert!(told.contains(word) && told.contains("next:"), "{told}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A trace from anywhere is read, or refused with its line.
    #[test]
    fn a_trace_of_garbage_is_refused(text in "(file,offset_b,count_b\n)?([0-9a-z,\n.-]{0,80})") {
        match nfs::parse(&text, "here") {
            Ok(requests) => prop_assert!(!requests.is_empty()),
            Err(fault) => prop_assert!(fault.origin.starts_with("here")),
        }
    }
}
