//! Whole simulations of the shipped disks, from JSON to JSON.

use proptest::prelude::*;
use serde_json::{Value, json};

use simdisk::simulate::Experiment;

fn report(asked: &Value) -> Value {
    let experiment = Experiment::parse(&asked.to_string()).expect("a good experiment");
    let report = experiment.run().expect("it runs");
    serde_json::from_str(&serde_json::to_string(&report).expect("plain data")).expect("JSON")
}

fn asked(scheduler: &str) -> Value {
    json!({
        "disk": "wd200bb",
        "scheduler": scheduler,
        "work": {"readers": {"readers": 4, "total_mib": 32, "partition": 1}},
        "power": true,
        "log": true,
    })
}

/// The same input gives the same text, to the last digit.
#[test]
fn the_same_experiment_gives_the_same_report() {
    for scheduler in ["elevator", "n-cscan", "bfq"] {
        assert_eq!(
            report(&asked(scheduler)).to_string(),
            report(&asked(scheduler)).to_string()
        );
    }
}

/// What a figure adds up must be what the report says: energy, bytes, requests, readers.
#[test]
fn a_report_agrees_with_itself() {
    let report = report(&asked("elevator"));
    assert_eq!(report["basis"], "simulated");
    let number = |value: &Value| value.as_u64().expect("a whole number");
    let parts = report["energy"]["parts"].as_array().expect("a list");
    let sum: u64 = parts.iter().map(|part| number(&part["energy_fj"])).sum();
    assert_eq!(sum, number(&report["energy"]["total_fj"]));
    let spent: u64 = parts.iter().map(|part| number(&part["time_ns"])).sum();
    let (start, end) = (number(&report["start_ns"]), number(&report["end_ns"]));
    assert_eq!(spent, end - start, "a disk is in one state at a time");

    let power: Vec<(u64, u64)> = serde_json::from_value(report["power_uw"].clone()).unwrap();
    let ends = power.iter().skip(1).map(|&(at, _)| at).chain([end]);
    let steps = power.iter().zip(ends);
    let integral: u64 = steps
        .map(|(&(at, power_uw), end)| (end - at) * power_uw)
        .sum();
    assert_eq!(integral, sum);

    assert_eq!(number(&report["read_b"]), 32 << 20);
    let log = report["log"].as_str().expect("text");
    assert_eq!(
        log.lines().count() as u64,
        number(&report["requests_count"]) + 1
    );
    let dones = report["readers"].as_array().expect("a list").iter();
    assert_eq!(
        dones.map(|reader| number(&reader["done_ns"])).max(),
        Some(end)
    );
}

/// Tagged queues off: the disk serves in the order in which it gets (nfstricks03, section 5.2).
#[test]
fn a_disk_without_tags_does_not_reorder() {
    let mut asked = asked("fifo");
    asked["disk"] = "ddys-t36950n".into();
    asked["overrides"] = json!({"depth": 1});
    assert_eq!(report(&asked)["device_order"]["overtaken_count"], 0);
    asked["overrides"] = json!({"depth": 64, "policy": "elevator"});
    assert_ne!(report(&asked)["device_order"]["overtaken_count"], 0);
}

/// Every slip is told with what may stand there instead.
#[test]
fn slips_are_told() {
    for (key, value, word) in [
        ("disk", json!("wd300bb"), "wd200bb"),
        ("scheduler", json!("noop"), "n-cscan"),
        ("work", json!({"readers": {"reader": 4}}), "reader"),
        ("work", json!({"readers": {"partition": 9}}), "partition"),
        (
            "work",
            json!({"replay": {"file": "/no/such/trace.csv"}}),
            "/no/such/trace.csv",
        ),
        ("overrides", json!({"depth": 0}), "depth"),
        ("powr", json!(true), "powr"),
    ] {
        let mut asked = asked("fifo");
        asked[key] = value;
        let told = Experiment::parse(&asked.to_string()).and_then(Experiment::run);
        let told = told.expect_err("it has a slip").to_string();
        assert!(told.contains(word), "{told}");
    }
}

/// sun14: an SSD in use writes slower than a new one, by what it has to move.
#[test]
fn an_ssd_is_slower_in_the_steady_state() {
    let written = |state: &str| {
        report(&json!({
            "disk": "x25-m-g2",
            "state": state,
            "overrides": {"sectors": 1 << 21},
            "work": {"writes": {"total_mib": 128}},
        }))
    };
    let (initial, steady) = (written("initial"), written("steady"));
    let number = |report: &Value, name: &str| report["counters"][name].as_u64().expect("a count");
    let amplification = |report: &Value| {
        number(report, "flash_programmed_b") as f64 / number(report, "host_written_b") as f64
    };
    let mb_s = |report: &Value| report["throughput_mb_s"].as_f64().expect("a rate");
    assert!(amplification(&initial) <= 1.0);
    assert!(amplification(&steady) > 3.0);
    assert!(mb_s(&steady) < mb_s(&initial) / amplification(&steady) * 1.1);
}

/// Files that readers read must be on the drive: what was never written costs no read.
#[test]
fn readers_of_an_ssd_read_the_flash() {
    for state in [None, Some("initial"), Some("steady")] {
        let mut asked = json!({
            "disk": "x25-m-g2",
            "overrides": {"sectors": 1 << 21},
            "work": {"readers": {"readers": 2, "total_mib": 16}},
        });
        if let Some(state) = state {
            asked["state"] = state.into();
        }
        let counters = &report(&asked)["counters"];
        let number = |name: &str| counters[name].as_u64().expect("a count");
        // a drive in use goes on with its own copies
        let for_host_b = number("flash_read_b") - number("flash_copied_b");
        assert_eq!(for_host_b, 16 << 20, "{state:?}");
        assert_eq!(counters["host_written_b"], 0, "{state:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A broken file is an error in words.
    #[test]
    fn garbage_is_refused(cut in 0_usize..150, text in "[\\[\\]{}\":,0-9a-z]{0,20}") {
        let whole = asked("cfq").to_string();
        let cut = cut.min(whole.len());
        let broken = format!("{}{text}", &whole[..cut]);
        if let Err(fault) = Experiment::parse(&broken) {
            prop_assert!(fault.to_string().contains("next:"));
        }
    }
}
