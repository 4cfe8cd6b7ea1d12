//! What runs do and what is counted of it: files, operations, errors, ends.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use common::{Place, errors, flowop, ops, personality, reader, seconds, sum};

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

/// The first of some runs, each longer than the one before, that is enough; or the last.
fn long_enough(
    durations: [&str; 3],
    is_enough: impl Fn(&Value) -> bool,
    run: impl Fn(&str) -> Value,
) -> Value {
    let [short, longer, longest] = durations;
    let enough = [short, longer].into_iter().map(&run).find(is_enough);
    enough.unwrap_or_else(|| run(longest))
}

/// The flowops that did nothing, but for the limiter.
fn idle(run: &Value) -> Vec<&Value> {
    let flowops = run["measure"]["flowops"].as_array().unwrap().iter();
    let idle = flowops.filter(|one| one["operation"] != "opslimit" && one["work_ops"] == 0);
    idle.map(|one| &one["flowop"]).collect()
}

fn all_work(run: &Value) -> bool {
    idle(run).is_empty()
}

#[test]
fn every_personality_works_without_errors_at_a_small_scale() {
    for (name, extra) in [
        ("webserver", ""),
        ("fileserver", ""),
        ("varmail", ""),
        ("oltp", "--set=compute=1000"),
    ] {
        let place = Place::new(name);
        let run = long_enough(["1", "5", "20"], all_work, |duration| {
            let duration = format!("--duration={duration}");
            let mut options = vec!["--set=scale=0.01", "--warmup=0.2", &duration];
            options.extend((!extra.is_empty()).then_some(extra));
            let run = place.run(&personality(name), &options);
            assert_eq!(errors(&run), 0, "{name}");
            run
        });
        assert!(all_work(&run), "{name}: {:?} did nothing", idle(&run));
        assert_eq!(run["partial"], false);
        let measure = &run["measure"];
        for flowop in measure["flowops"].as_array().unwrap() {
            let done = flowop["work_ops"].as_u64().unwrap();
            let buckets = flowop["latency"]["buckets"].as_array().unwrap();
            let counts = buckets.iter().map(|bucket| bucket[2].as_u64().unwrap());
            assert_eq!(done, counts.sum::<u64>());
            assert_eq!(done, sum(&flowop["work_ops_by_instance"]));
        }
        assert_eq!(
            measure["work_ops"],
            sum(&measure["series"]["work_ops"]),
            "{name}"
        );
        let spent_s = |mode: &str| run["cost"][mode].as_f64().unwrap();
        assert!(spent_s("user_s") + spent_s("system_s") > 0.0, "{name}");
    }
}

#[test]
fn oltp_keeps_twenty_reads_for_a_write() {
    let place = Place::new("ratio");
    let many = |run: &Value| ops(run, "read-data") >= 20_000;
    let run = long_enough(["2", "8", "30"], many, |duration| {
        let duration = format!("--duration={duration}");
        let options = [
            "--set=scale=0.005",
            "--set=compute=100",
            "--warmup=0.5",
            &duration,
        ];
        place.run(&personality("oltp"), &options)
    });
    let (reads, writes) = (ops(&run, "read-data"), ops(&run, "write-data"));
    assert!(many(&run), "{reads} reads are too few to tell");
    // Readers may run ahead of the writers by the high-water mark, 2000, beside what the writers
    // have taken of it and 200 readers that are about to ask.
    let apart = reads.abs_diff(20 * writes);
    assert!(apart <= 3500, "{reads} reads, {writes} writes");
}

#[test]
fn one_seed_gives_the_same_bytes_and_another_seed_others() {
    // Threads have files of their own, so that their order does not matter.
    let text = "
        set $size=randvar(mean=20k, min=4k)
        define fileset name=files, path=$dir, entries=8, size=$size, dirwidth=3, prealloc, paralloc
        define process name=p, instances=2 { thread name=t, instances=4 {
          flowop write name=w, filesetname=files, iosize=1k, random
          flowop finishoncount name=end, value=200, target=w } }
        run";
    let trees: Vec<_> = ["7", "7", "8"]
        .iter()
        .enumerate()
        .map(|(nth, seed)| {
            let place = Place::new(&format!("seed{nth}"));
            let seed = format!("--seed={seed}");
            let before = place.report("prepare", text, &[&seed]);
            assert_eq!(before["prepare"][0]["files"], 8);
            let prepared = tree(&place);
            let run = place.run(text, &["--prepared", &seed]);
            assert_eq!(ops(&run, "w"), 1600);
            assert_ne!(prepared, tree(&place), "nothing was written");
            (prepared, tree(&place))
        })
        .collect();
    assert!(trees[0] == trees[1], "the same seed");
    assert!(trees[0].0 != trees[2].0, "another seed made the same tree");
}

#[test]
fn a_run_that_is_ended_by_its_time_has_measured_exactly_that_time() {
    let place = Place::new("exact");
    let options = ["--warmup=0.15", "--duration=0.737", "--interval=0.1"];
    let run = place.run(&reader("iosize=1k", "iosize=1k"), &options);
    let asked = [0.15, 0.737];
    for (phase, asked_s) in asked.into_iter().enumerate() {
        assert!((seconds(&run, phase) - asked_s).abs() < 1e-6);
    }
    let measure = &run["measure"];
    assert!((measure["duration_s"].as_f64().unwrap() - 0.737).abs() < 1e-3);
    let series = &measure["series"];
    assert_eq!(series["interval_s"], 0.1);
    assert_eq!(series["work_ops"].as_array().unwrap().len(), 8);
    assert_eq!(measure["work_ops"], sum(&series["work_ops"]));
    assert_eq!(measure["read_b"], sum(&series["read_b"]));
}

#[test]
fn a_run_that_ends_by_itself_is_whole_and_timed_by_its_last_operation() {
    let place = Place::new("goal");
    // 20 reads, half a second of rest, 20 reads, half a second of rest, the end.
    let text = reader(
        "random }",
        "random, iters=20 flowop delay name=rest, value=0.5
         flowop finishoncount name=end, value=40, target=r }",
    );
    let run = place.run(&text, &["--duration=60"]);
    assert_eq!(ops(&run, "r"), 4 * 40);
    assert_eq!(
        flowop(&run, "r")["work_ops_by_instance"].to_string(),
        "[40,40,40,40]"
    );
    assert_eq!(run["partial"], false);
    let duration_s = run["measure"]["duration_s"].as_f64().unwrap();
    assert_eq!(duration_s, seconds(&run, 1));
    let ended_s = run["last_ops"][0]["ended_s"].as_array().unwrap().iter();
    let ended_s: Vec<f64> = ended_s.map(|at_s| at_s.as_f64().unwrap()).collect();
    assert_eq!(ended_s.len(), 4);
    assert!(ended_s.iter().all(|at_s| (0.5..duration_s).contains(at_s)));
    let last_s = ended_s
        .iter()
        .fold(0.0, |last_s: f64, &at_s| last_s.max(at_s));
    assert!(duration_s - last_s < 2e-9, "{last_s} of {duration_s}");
    // What follows the last read is at least the rest of the thread that was the last to read.
    let whole = place.run(
        &text.replace("random, iters=20", "random, iters=40"),
        &["--duration=60"],
    );
    assert_eq!(ops(&whole, "r"), 4 * 40);
    assert!((0.5..30.0).contains(&duration_s), "{duration_s}");
    assert!(whole["measure"]["duration_s"].as_f64().unwrap() < duration_s);
}

#[test]
fn the_first_thread_at_its_goal_ends_a_run_of_the_mode_firstdone() {
    let place = Place::new("firstdone");
    let text = "
        set mode quit firstdone
        define fileset name=files, path=$dir, entries=5, size=1k, dirwidth=20, prealloc
        define process name=p {
          thread name=quick { flowop statfile name=s, filesetname=files
                              flowop finishoncount name=end, value=300, target=s }
          thread name=endless { flowop statfile name=e, filesetname=files }
          thread name=asleep { flowop delay name=d, value=600 } }
        run";
    let run = place.run(text, &[]);
    assert_eq!(ops(&run, "s"), 300);
    assert_eq!(
        (&run["partial"], &run["quit"]),
        (&false.into(), &"firstdone".into())
    );
    assert!(run["configuration"]["duration_s"].is_null());
    let measure = &run["measure"];
    assert!(measure["duration_s"].as_f64().unwrap() < 60.0);
    assert_eq!(measure["work_ops"], sum(&measure["series"]["work_ops"]));
}

#[test]
fn a_run_of_the_mode_alldone_lasts_until_every_thread_is_done() {
    let place = Place::new("alldone");
    let text = "
        set mode quit alldone
        define fileset name=files, path=$dir, entries=5, size=1k, dirwidth=20, prealloc
        define process name=p, instances=2 {
          thread name=quick { flowop statfile name=s, filesetname=files
                              flowop finishoncount name=end, value=10, target=s }
          thread name=slow { flowop statfile name=t, filesetname=files
                             flowop delay name=d, value=0.05
                             flowop finishoncount name=end, value=20, target=t } }
        run";
    let run = place.run(text, &[]);
    assert_eq!((ops(&run, "s"), ops(&run, "t")), (20, 40));
    assert_eq!(run["partial"], false);
    assert!(seconds(&run, 1) >= 19.0 * 0.05);
}

#[test]
fn a_goal_within_the_warm_up_leaves_nothing_measured_and_says_so() {
    let place = Place::new("early");
    let text = reader(
        "random }",
        "random flowop finishoncount name=end, value=5 }",
    );
    let report = place.report("run", &text, &["--warmup=30", "--duration=60"]);
    let run = &report["runs"][0];
    assert_eq!(
        (&run["measure"]["work_ops"], seconds(run, 1)),
        (&0.into(), 0.0)
    );
    assert!(seconds(run, 0) < 30.0);
    let note = report["notes"][0].as_str().unwrap();
    assert_eq!(
        note,
        "run 1: it ended within its warm-up, so that nothing was measured"
    );
}

#[test]
fn an_asynchronous_write_counts_once_when_it_is_complete() {
    let place = Place::new("aio");
    let text = reader("read name=r", "aiowrite name=r, iters=4").replace(
        "random }",
        "random flowop aiowait name=reap flowop finishoncount name=end, value=600, target=r }",
    );
    let run = place.run(&text, &["--duration=60"]);
    let written = flowop(&run, "r")["bytes"].as_u64().unwrap();
    assert_eq!(written, ops(&run, "r") * 1024);
    assert!(ops(&run, "r") >= 4 * 600, "{}", ops(&run, "r"));
    assert_eq!(run["measure"]["write_b"], written);
}

#[test]
fn failed_operations_are_counted_once_by_errno_and_do_not_end_the_run() {
    let place = Place::new("errno");
    let text = reader("prealloc", "prealloc, writeonly");
    let run = place.run(&text, &["--duration=0.3", "--max-errors=100%"]);
    assert_eq!(ops(&run, "r"), 0);
    assert!(flowop(&run, "r")["errors"]["EBADF"].as_u64().unwrap() > 0);
    assert_eq!(run["measure"]["work_ops"], 0);
    assert!(run["cost"]["user_us_per_op"].is_null());
}
