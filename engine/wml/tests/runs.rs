//! The program as its users run it: files, counts, limits, signals, exit statuses.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use common::{Place, flowop, ops};

/// Every file below the directory with its bytes.
fn tree(place: &Place) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(directory: &Path, tree: &mut BTreeMap<PathBuf, Vec<u8>>, root: &Path) {
        for item in fs::read_dir(directory).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                walk(&path, tree, root);
            } else {
                let name = path.strip_prefix(root).unwrap().to_owned();
                tree.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut tree = BTreeMap::new();
    walk(&place.dir(), &mut tree, &place.dir());
    tree
}

fn personality(name: &str) -> String {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fsgreen/workloads/personalities"
    );
    fs::read_to_string(format!("{folder}/{name}.f")).unwrap()
}

fn errors(report: &Value) -> u64 {
    let flowops = report["measure"]["flowops"].as_array().unwrap();
    let counts = flowops
        .iter()
        .flat_map(|flowop| flowop["errors"].as_object().unwrap().values());
    counts.map(|count| count.as_u64().unwrap()).sum()
}

fn seconds(report: &Value, phase: usize) -> f64 {
    let phase = &report["phases"][phase];
    let at = |name: &str| phase[name].as_u64().unwrap() as f64;
    (at("end_ns") - at("start_ns")) / 1e9
}

fn wait(mut child: Child, limit: Duration) -> i32 {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap_or(-1);
        }
        assert!(start.elapsed() < limit, "it did not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Processes whose command line names a file.
fn processes_with(file: &Path) -> usize {
    let name = file.as_os_str().as_encoded_bytes();
    let lines = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|item| fs::read(item.ok()?.path().join("cmdline")).ok());
    lines
        .filter(|line| line.windows(name.len()).any(|part| part == name))
        .count()
}

fn signal(child: &Child, number: i32) {
    // SAFETY: our own child, not yet waited for.
    unsafe { libc::kill(child.id() as i32, number) };
}

const READER: &str = "
define fileset name=files, path=$dir, entries=20, size=8k, dirwidth=20, prealloc
define process name=p, instances=2 { thread name=t, instances=2 {
  flowop read name=r, filesetname=files, iosize=1k, random } }
";

#[test]
fn every_personality_works_without_errors_at_a_small_scale() {
    for (name, extra) in [
        ("webserver", ""),
        ("fileserver", ""),
        ("varmail", ""),
        ("oltp", "--set=compute=1000"),
    ] {
        let place = Place::new(name);
        let mut options = vec!["--set=scale=0.01", "--warmup=0.2", "--duration=1"];
        options.extend((!extra.is_empty()).then_some(extra));
        let report = place.report("run", &personality(name), &options);
        assert_eq!(errors(&report), 0, "{name}");
        assert_eq!(report["partial"], false);
        assert!((seconds(&report, 1) - 1.0).abs() < 1e-6, "{name}");
        let measure = &report["measure"];
        for flowop in measure["flowops"].as_array().unwrap() {
            let limit = flowop["operation"] == "opslimit";
            let done = flowop["work_ops"].as_u64().unwrap();
            assert!(
                limit || done > 0,
                "{name}: {} did nothing",
                flowop["flowop"]
            );
            let buckets = flowop["latency"]["buckets"].as_array().unwrap();
            assert_eq!(
                done,
                buckets.iter().map(|b| b[2].as_u64().unwrap()).sum::<u64>()
            );
        }
        let series = measure["series"]["work_ops"].as_array().unwrap();
        let sum: u64 = series.iter().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(measure["work_ops"], sum, "{name}");
        assert!(report["cost"]["user_s"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn oltp_keeps_twenty_reads_for_a_write() {
    let place = Place::new("ratio");
    let options = [
        "--set=scale=0.005",
        "--set=compute=100",
        "--warmup=0.5",
        "--duration=2",
    ];
    let report = place.report("run", &personality("oltp"), &options);
    let reads = ops(&report, "read-data") as f64;
    let ratio = reads / ops(&report, "write-data") as f64;
    // Readers may run ahead of the writers by the high-water mark.
    assert!((15.0..25.0).contains(&ratio), "{ratio} with {reads} reads");
}

#[test]
fn one_seed_gives_the_same_bytes_and_another_seed_others() {
    // Threads have files of their own, so that their order does not matter.
    let text = "
        set $size=randvar(mean=20k, min=4k)
        define fileset name=files, path=$dir, entries=8, size=$size, dirwidth=3, prealloc, paralloc
        define process name=p, instances=2 { thread name=t, instances=4 {
          flowop write name=w, filesetname=files, iosize=1k, random
          flowop finishoncount name=end, value=200 } }";
    let trees: Vec<_> = ["7", "7", "8"]
        .iter()
        .enumerate()
        .map(|(nth, seed)| {
            let place = Place::new(&format!("seed{nth}"));
            let seed = format!("--seed={seed}");
            let before = place.report("prepare", text, &[&seed]);
            assert_eq!(before["prepare"][0]["files"], 8);
            let prepared = tree(&place);
            let report = place.report("run", text, &["--prepared", &seed]);
            assert_eq!(ops(&report, "w"), 1600);
            assert_ne!(prepared, tree(&place), "nothing was written");
            (prepared, tree(&place))
        })
        .collect();
    assert!(trees[0] == trees[1], "the same seed");
    assert!(trees[0].0 != trees[2].0, "another seed made the same tree");
}

#[test]
fn a_run_that_reaches_its_goal_is_whole_and_timed_by_its_last_operation() {
    let place = Place::new("goal");
    let text = READER.replace(
        "random }",
        "random flowop finishoncount name=end, value=500 }",
    );
    let report = place.report("run", &text, &["--duration=60"]);
    assert_eq!(ops(&report, "r"), 4 * 500);
    assert_eq!(report["partial"], false);
    assert!(report["measure"]["duration_s"].as_f64().unwrap() < 10.0);
}

#[test]
fn an_asynchronous_write_counts_once_when_it_is_complete() {
    let place = Place::new("aio");
    let text = READER
        .replace("read name=r", "aiowrite name=r, iters=4")
        .replace(
            "random }",
            "random flowop aiowait name=reap flowop finishoncount name=end, value=1000 }",
        );
    let report = place.report("run", &text, &["--duration=60"]);
    let written = flowop(&report, "r")["bytes"].as_u64().unwrap();
    assert_eq!(written, ops(&report, "r") * 1024);
    assert!(ops(&report, "r") >= 4 * 600, "{}", ops(&report, "r"));
    assert_eq!(report["measure"]["write_b"], written);
}

#[test]
fn failed_operations_are_counted_once_by_errno_and_do_not_end_the_run() {
    let place = Place::new("errno");
    let text = READER.replace("prealloc", "prealloc, writeonly");
    let report = place.report("run", &text, &["--duration=0.3"]);
    assert_eq!(ops(&report, "r"), 0);
    assert!(flowop(&report, "r")["errors"]["EBADF"].as_u64().unwrap() > 0);
    assert_eq!(report["measure"]["work_ops"], 0);
}

#[test]
fn without_a_file_that_fits_operations_are_skipped() {
    let place = Place::new("skip");
    let text = READER.replace(
        "read name=r, filesetname=files, iosize=1k, random",
        "createfile name=r, filesetname=files flowop closefile name=c",
    );
    let report = place.report("run", &text, &["--duration=0.3"]);
    assert_eq!(ops(&report, "r") + ops(&report, "c") + errors(&report), 0);
    assert!(flowop(&report, "c")["skipped"].as_u64().unwrap() > 0);
}

#[test]
fn a_signal_leaves_partial_results_and_no_process() {
    let place = Place::new("signal");
    let json = place.0.join("out.json");
    let option = format!("--json={}", json.display());
    let mut command = place.command(
        "run",
        &personality("oltp"),
        &[
            "--set=scale=0.005",
            "--warmup=0.2",
            "--duration=60",
            &option,
        ],
    );
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    signal(&child, libc::SIGTERM);
    assert_eq!(wait(child, Duration::from_secs(20)), 3);
    let report: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(report["partial"], true);
    assert_eq!(report["reason"], "stopped by SIGTERM");
    assert!(seconds(&report, 1) < 30.0);
    assert!(report["measure"]["work_ops"].as_u64().unwrap() > 0);
    assert_eq!(processes_with(&place.0.join("text.f")), 0);
}

#[test]
fn children_do_not_survive_the_program() {
    let place = Place::new("orphans");
    let mut command = place.command("run", READER, &["--duration=60"]);
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    let text = place.0.join("text.f");
    let start = Instant::now();
    while processes_with(&text) < 3 {
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "it did not start"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(&child, libc::SIGKILL);
    assert_eq!(wait(child, Duration::from_secs(5)), -1);
    let start = Instant::now();
    while processes_with(&text) > 0 {
        assert!(start.elapsed() < Duration::from_secs(5), "a child is left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn exit_statuses_tell_a_wrong_text_from_a_wrong_place() {
    let place = Place::new("exit");
    let status = |output: Output| output.status.code().unwrap();
    assert_eq!(status(place.output("check", READER, &[])), 0);
    assert_eq!(status(place.output("check", "define nothing", &[])), 2);
    assert_eq!(status(place.output("run", READER, &["--duration=soon"])), 1);
    let output = place.output("run", READER, &["--prepared"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no file instead of 8192 bytes"), "{said}");
    assert!(said.contains("\n  next:  prepare it again"), "{said}");
}

#[test]
fn foreign_files_are_never_removed() {
    let place = Place::new("foreign");
    let precious = place.dir().join("files/thesis.txt");
    fs::create_dir(place.dir().join("files")).unwrap();
    fs::write(&precious, "years").unwrap();
    assert_eq!(place.output("prepare", READER, &[]).status.code(), Some(1));
    assert_eq!(fs::read(&precious).unwrap(), b"years");
}

#[test]
fn a_file_system_that_is_too_small_is_refused_before_anything_is_written() {
    let place = Place::new("small");
    let text = READER.replace("size=8k", "size=1000t");
    let output = place.output("prepare", &text, &[]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("no space for") && said.contains("next:"),
        "{said}"
    );
    assert!(tree(&place).is_empty());
}
