//! What each flowop does to the file system, and how often.

mod common;

use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::Value;

use common::{Place, errors, flowop, ops, sum};

/// A text with one fileset of these attributes and one thread with this body.
fn text(fileset: &str, body: &str) -> String {
    format!(
        "define fileset name=files, path=$dir, dirwidth=5, {fileset}
         define process name=p {{ thread name=t {{ {body} }} }}
         run 60\n"
    )
}

fn count(value: u64) -> String {
    format!("flowop finishoncount name=end, value={value}")
}

/// Everything below a directory, of which `wanted` is true.
fn below(directory: &Path, wanted: fn(&Metadata) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for item in fs::read_dir(directory).unwrap() {
        let path = item.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        if wanted(&metadata) {
            found.push(path.clone());
        }
        if metadata.is_dir() {
            found.extend(below(&path, wanted));
        }
    }
    found
}

fn files(place: &Place) -> Vec<PathBuf> {
    let mut files = below(&place.dir(), Metadata::is_file);
    files.sort();
    files
}

/// Run a text that must end by itself, without an error and not for want of time.
fn run(place: &Place, text: &str) -> Value {
    let run = place.run(text, &[]);
    assert_eq!(errors(&run), 0, "{run}");
    assert_eq!(run["partial"], false);
    assert!(run["measure"]["duration_s"].as_f64().unwrap() < 30.0);
    run
}

fn skipped(run: &Value, name: &str) -> u64 {
    flowop(run, name)["skipped"].as_u64().unwrap()
}

fn bytes(run: &Value, name: &str) -> u64 {
    flowop(run, name)["bytes"].as_u64().unwrap()
}

const FULL: &str = "entries=10, size=8k, prealloc";
const HALF: &str = "entries=40, size=8k, prealloc=50";

#[test]
fn leaf_directories_are_made_and_removed_until_none_is_left() {
    let place = Place::new("leafdirs");
    let leaves = "leafdirs=20";
    let directories = |place: &Place| below(&place.dir(), Metadata::is_dir).len();
    let made = "set mode quit alldone\n".to_owned()
        + &text(leaves, "flowop makedir name=make, filesetname=files");
    place.report("prepare", &made, &[]);
    let before = directories(&place);
    let first = run(&place, &made);
    assert_eq!((ops(&first, "make"), skipped(&first, "make")), (20, 1));
    assert_eq!(directories(&place), before + 20);

    let place = Place::new("leafdirs-remove");
    let removed = "set mode quit firstdone\n".to_owned()
        + &text(
            "leafdirs=20, prealloc",
            "flowop removedir name=remove, filesetname=files",
        );
    let second = run(&place, &removed);
    assert_eq!(
        (ops(&second, "remove"), skipped(&second, "remove")),
        (20, 1)
    );
    assert_eq!(directories(&place), before);
}

#[test]
fn listing_reads_every_entry_of_a_directory_with_or_without_a_look_at_each() {
    let place = Place::new("listing");
    let body = format!(
        "flowop listdir name=list, filesetname=files
         flowop liststatdir name=look, filesetname=files
         flowop fsyncdir name=sync, filesetname=files {}",
        count(300)
    );
    let run = run(&place, &text("entries=50, size=1, prealloc", &body));
    for name in ["list", "look", "sync"] {
        assert_eq!(ops(&run, name), 100);
    }
    // A record has 19 bytes and the name; ".", ".." and something with eight digits are in each.
    for name in ["list", "look"] {
        assert!(bytes(&run, name) >= 100 * (2 * 24 + 28), "{name}");
    }
    assert_eq!(bytes(&run, "sync"), 0);
}

#[test]
fn renaming_keeps_the_number_of_files() {
    let place = Place::new("rename");
    let body = format!(
        "flowop renamefile name=rename, filesetname=files {}",
        count(200)
    );
    let text = text(HALF, &body);
    place.report("prepare", &text, &[]);
    let before = files(&place);
    let run = run(&place, &text);
    assert_eq!(ops(&run, "rename"), 200);
    assert_eq!(files(&place).len(), before.len());
    assert_ne!(files(&place), before);
}

#[test]
fn links_are_made_under_every_absent_name_and_then_nothing_is_left() {
    for operation in ["linkfile", "symlinkfile"] {
        let place = Place::new(operation);
        let body = format!("flowop {operation} name=link, filesetname=files");
        let text = "set mode quit firstdone\n".to_owned() + &text(HALF, &body);
        place.report("prepare", &text, &[]);
        let before = files(&place).len() as u64;
        let run = run(&place, &text);
        assert_eq!(ops(&run, "link"), 40 - before);
        let links = if operation == "linkfile" {
            let linked = |path: &PathBuf| fs::metadata(path).unwrap().nlink() > 1;
            assert!(files(&place).iter().any(linked));
            files(&place).len() as u64 - before
        } else {
            let links = below(&place.dir(), Metadata::is_symlink);
            assert!(
                links
                    .iter()
                    .all(|link| fs::metadata(link).unwrap().is_file())
            );
            links.len() as u64
        };
        assert_eq!(links, 40 - before);
    }
}

#[test]
fn truncating_gives_every_file_its_length_by_path_and_by_slot() {
    let place = Place::new("truncate");
    let body = format!(
        "flowop truncatefile name=path, filesetname=files, iosize=100
         flowop openfile name=open, filesetname=files, fd=1
         flowop truncatefile name=slot, fd=1, iosize=100
         flowop closefile name=close, fd=1 {}",
        count(40)
    );
    let run = run(&place, &text(FULL, &body));
    assert_eq!((ops(&run, "path"), ops(&run, "slot")), (10, 10));
    let length = |path: &PathBuf| fs::metadata(path).unwrap().len();
    let lengths: Vec<u64> = files(&place).iter().map(length).collect();
    assert_eq!(lengths, [100; 10]);
}

#[test]
fn allocation_grows_a_file_behind_its_end() {
    let place = Place::new("fallocate");
    let body = format!(
        "flowop fallocate name=allocate, filesetname=files, fd=1, iosize=4k {}",
        count(5)
    );
    let run = run(&place, &text("entries=1, size=10000, prealloc", &body));
    assert_eq!(ops(&run, "allocate"), 5);
    assert_eq!(
        fs::metadata(&files(&place)[0]).unwrap().len(),
        10_000 + 5 * 4096
    );
}

#[test]
fn modes_change_between_two() {
    let place = Place::new("chmod");
    let body = format!(
        "flowop chmodfile name=chmod, filesetname=files {}",
        count(40)
    );
    run(&place, &text(FULL, &body));
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let mut modes: Vec<u32> = files(&place).iter().map(mode).collect();
    modes.sort_unstable();
    modes.dedup();
    assert_eq!(modes, [0o600, 0o644]);
}

#[test]
fn attributes_are_set_and_found_again_by_path_and_by_slot() {
    let place = Place::new("xattr");
    let body = format!(
        "flowop setxattr name=set, filesetname=files, iosize=32
         flowop getxattr name=get, filesetname=files, iosize=64, indexed=0
         flowop openfile name=open, filesetname=files, fd=1
         flowop setxattr name=setslot, fd=1
         flowop getxattr name=getslot, fd=1
         flowop closefile name=close, fd=1 {}",
        count(60)
    );
    let run = place.run(&text(FULL, &body), &[]);
    if !flowop(&run, "set")["errors"]["EOPNOTSUPP"].is_null() {
        eprintln!(
            "skipped: {} keeps no user attributes; set CARGO_TARGET_DIR to ext4 or xfs",
            place.dir().display()
        );
        return;
    }
    assert_eq!(errors(&run), 0, "{run}");
    assert_eq!((ops(&run, "set"), ops(&run, "getslot")), (10, 10));
}

#[test]
fn a_whole_file_is_copied_within_the_kernel_in_pieces() {
    let place = Place::new("copy");
    let text = "
        define file name=from, path=$dir, size=100000, prealloc
        define file name=to, path=$dir, size=100000
        define process name=p { thread name=t {
          flowop openfile name=open, filesetname=from, fd=1
          flowop createfile name=create, filesetname=to, fd=2
          flowop copyfilerange name=copy, srcfd=1, fd=2, iosize=30k
          flowop fdatasync name=data, fd=2
          flowop fsyncset name=all, filesetname=to
          flowop closefile name=closefrom, fd=1
          flowop closefile name=closeto, fd=2
          flowop finishoncount name=end, value=7 } }
        run 60\n";
    let run = run(&place, text);
    assert_eq!((ops(&run, "copy"), bytes(&run, "copy")), (1, 100_000));
    assert_eq!((ops(&run, "data"), ops(&run, "all")), (1, 1));
    let content = |set| fs::read(place.dir().join(set).join("00000001/00000001")).unwrap();
    assert_eq!(content("from").len(), 100_000);
    assert!(content("from") == content("to"), "the copy differs");
}

#[test]
fn mapped_reads_and_writes_go_through_the_whole_file_and_round_again() {
    let place = Place::new("mapped");
    let one = "entries=1, size=10000, prealloc";
    let body = format!(
        "flowop mmapread name=read, filesetname=files, fd=1, iosize=4k
         flowop mmapread name=any, fd=1, iosize=1k, random
         flowop mmapwrite name=write, filesetname=files, fd=2, iosize=4k
         flowop mmapwrite name=anywrite, fd=2, iosize=1k, random {}",
        count(24)
    );
    let text = text(one, &body);
    place.report("prepare", &text, &[]);
    let before = fs::read(&files(&place)[0]).unwrap();
    let run = run(&place, &text);
    // Twice 4096, 4096 and the 1808 that are left.
    for name in ["read", "write"] {
        assert_eq!((ops(&run, name), bytes(&run, name)), (6, 2 * 10_000));
    }
    assert_eq!(
        (bytes(&run, "any"), bytes(&run, "anywrite")),
        (6 * 1024, 6 * 1024)
    );
    let after = fs::read(&files(&place)[0]).unwrap();
    assert_eq!(after.len(), before.len());
    assert!(
        after
            .chunks(1000)
            .zip(before.chunks(1000))
            .all(|(a, b)| a != b)
    );
}

#[test]
fn a_mapping_that_loses_its_file_is_an_error_and_not_the_end() {
    let place = Place::new("sigbus");
    let body = format!(
        "flowop mmapread name=before, filesetname=files, fd=1, iosize=4k, random
         flowop truncatefile name=cut, fd=1, iosize=0
         flowop mmapread name=lost, fd=1, iosize=4k, random
         flowop truncatefile name=grow, fd=1, iosize=64k
         flowop mmapread name=again, fd=1, iosize=4k, random {}",
        count(4 * 25)
    );
    let run = place.run(&text("entries=1, size=64k, prealloc", &body), &[]);
    assert_eq!(flowop(&run, "lost")["errors"]["EFAULT"], 25);
    assert_eq!((ops(&run, "before"), ops(&run, "again")), (25, 25));
    assert_eq!(errors(&run), 25);
}

#[test]
fn reads_and_writes_through_a_ring_are_counted_when_complete() {
    let place = Place::new("uring");
    let body = format!(
        "flowop uringwrite name=write, filesetname=files, fd=1, iosize=4k, random, value=8, iters=20
         flowop uringread name=read, filesetname=files, fd=1, iosize=1k, random, value=8, iters=20
         flowop uringwait name=wait
         flowop uringread name=whole, filesetname=files, fd=2, iosize=3k, iters=5 {}",
        count(460)
    );
    let text = text("entries=1, size=8k, prealloc", &body);
    let output = place.output("run", &text, &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    if said.contains("the kernel refuses an io_uring") {
        eprintln!("skipped: {said}");
        return;
    }
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let run = &report["runs"][0];
    assert_eq!(errors(run), 0);
    assert_eq!((ops(run, "write"), bytes(run, "write")), (200, 200 * 4096));
    assert_eq!((ops(run, "read"), bytes(run, "read")), (200, 200 * 1024));
    assert_eq!(ops(run, "wait"), 10);
    // Sequentially 3072, 3072, 2048, nothing at the end, and again from the beginning.
    assert_eq!(ops(run, "whole"), 50);
    let rounds = 50 / 4;
    assert_eq!(bytes(run, "whole"), rounds * 8192 + 2 * 3072);
    for name in ["write", "read", "whole"] {
        let buckets = flowop(run, name)["latency"]["buckets"].as_array().unwrap();
        let counted: u64 = buckets
            .iter()
            .map(|bucket| bucket[2].as_u64().unwrap())
            .sum();
        assert_eq!(counted, ops(run, name));
    }
}

#[test]
fn opennext_goes_round_the_slots_and_closes_what_is_there() {
    let place = Place::new("opennext");
    let body = format!(
        "flowop openfile name=open, filesetname=files, opennext
         flowop read name=read, opennext, iosize=8k
         flowop statfile name=stat, opennext {}",
        count(900)
    );
    let run = run(&place, &text("entries=200, size=8k, prealloc", &body));
    assert_eq!((ops(&run, "open"), ops(&run, "stat")), (300, 300));
    // Each read begins a file that was just opened.
    assert_eq!(bytes(&run, "read"), 300 * 8192);
}

#[test]
fn composites_repeat_their_inside_and_the_inside_its_flowops() {
    let place = Place::new("composite");
    let text = "
        define fileset name=files, path=$dir, entries=4, size=8k, dirwidth=4, prealloc
        define flowop name=inner, iters=3 { flowop statfile name=stat, filesetname=files, iters=2 }
        define flowop name=outer { flowop inner name=in
          flowop openfile name=open, filesetname=files, fd=1
          flowop closefile name=close, fd=1 }
        define process name=p { thread name=t {
          flowop outer name=out, iters=2
          flowop finishoncount name=end, value=48 } }
        run 60\n";
    let run = run(&place, text);
    assert_eq!(ops(&run, "out.in.stat"), 3 * 2 * 2 * 3);
    assert_eq!((ops(&run, "out.open"), ops(&run, "out.close")), (6, 6));
}

#[test]
fn goals_are_reached_exactly_by_each_thread_alone() {
    let place = Place::new("goals");
    let text = "
        define fileset name=files, path=$dir, entries=4, size=64k, dirwidth=4, prealloc
        define process name=p, instances=2 {
          thread name=count, instances=2 {
            flowop read name=a, filesetname=files, iosize=1k, random
            flowop finishoncount name=enda, value=123 }
          thread name=target, instances=2 {
            flowop statfile name=other, filesetname=files
            flowop read name=b, filesetname=files, iosize=1k, random
            flowop finishoncount name=endb, value=45, target=b }
          thread name=bytes {
            flowop read name=c, filesetname=files, iosize=1k, random
            flowop finishonbytes name=endc, value=10k } }
        run 60\n";
    let run = run(&place, text);
    assert_eq!(ops(&run, "a"), 4 * 123);
    assert_eq!((ops(&run, "b"), ops(&run, "other")), (4 * 45, 4 * 45));
    // The goal is to exceed ten reads.
    assert_eq!(ops(&run, "c"), 2 * 11);
}

#[test]
fn what_is_exhausted_ends_the_run_only_where_the_text_says_so() {
    let body = "flowop deletefile name=delete, filesetname=files";
    let text = text(FULL, body);
    let place = Place::new("exhausted");
    let run_on = place.run(&text.replace("run 60", "run 0.2"), &[]);
    assert_eq!(ops(&run_on, "delete"), 10);
    assert!(skipped(&run_on, "delete") > 1);
    let place = Place::new("exhausted-firstdone");
    let ended = run(&place, &format!("set mode quit firstdone\n{text}"));
    assert_eq!((ops(&ended, "delete"), skipped(&ended, "delete")), (10, 1));
}

#[test]
fn the_latency_of_an_open_loop_begins_when_a_request_was_due() {
    let place = Place::new("openloop");
    let text = "
        define fileset name=files, path=$dir, entries=4, size=8k, dirwidth=4, prealloc
        define process name=p { thread name=t, rate=100, arrivals=constant {
          flowop delay name=busy, value=0.05
          flowop statfile name=stat, filesetname=files
          flowop finishoncount name=end, value=20 } }
        run 60\n";
    let run = run(&place, text);
    assert_eq!(ops(&run, "stat"), 20);
    let request = &run["measure"]["requests"][0];
    // The pass in which the goal is reached does not come to its end.
    assert_eq!(request["work_ops"], 19);
    assert_eq!(
        request["late"], 18,
        "all but the first were due while one was busy"
    );
    // The nth of them takes its 50 ms behind n others, of which 10 ms each were to be expected.
    let least: u64 = (0..19)
        .map(|nth| 50_000_000 * (nth + 1) - 10_000_000 * nth)
        .sum();
    assert!(
        request["latency"]["sum_ns"].as_u64().unwrap() >= least,
        "{request}"
    );
}

#[test]
fn an_open_loop_never_does_more_than_its_schedule() {
    let place = Place::new("schedule");
    let text = "
        define fileset name=files, path=$dir, entries=4, size=8k, dirwidth=4, prealloc
        define process name=p, instances=2 { thread name=t, instances=2, rate=200, arrivals=constant {
          flowop statfile name=stat, filesetname=files } }
        run 1\n";
    let run = run(&place, text);
    let requests = run["measure"]["requests"][0]["work_ops"].as_u64().unwrap();
    assert!((1..=200).contains(&requests), "{requests}");
    assert_eq!(ops(&run, "stat"), requests);
    assert_eq!(sum(&run["measure"]["series"]["work_ops"]), requests);
}

#[test]
fn numbers_for_people_go_to_standard_error() {
    let place = Place::new("say");
    let body = format!(
        "flowop print name=show, value=42
         flowop testrandvar name=test, value=$v, iters=1000
         flowop statfile name=stat, filesetname=files {}",
        count(1)
    );
    let text = "set $v=randvar(type=uniform, mean=100, min=50)\n".to_owned() + &text(FULL, &body);
    let (_, said) = place.said("run", &text, &[]);
    let line = |name: &str| {
        let mut lines = said.lines();
        lines
            .find(|line| line.starts_with(name))
            .expect(&said)
            .to_owned()
    };
    assert_eq!(line("show"), "show of t (thread 0): 42");
    let test = line("test");
    assert!(
        test.contains("1000 values, mean 9") || test.contains("1000 values, mean 10"),
        "{test}"
    );
}
