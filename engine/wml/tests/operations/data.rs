//! What the flowops that move data move, and how often.

use std::fs;

use serde_json::Value;

use super::common::{Place, errors, flowop, ops};
use super::{bytes, count, files, run, text};

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
    let run = place.run(
        &text("entries=1, size=64k, prealloc", &body),
        &["--max-errors=100%"],
    );
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
    let Some(run) = &run_by_ring(&place, &text) else {
        return;
    };
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

/// The run of a text that takes an io_uring; nothing where the kernel refuses one.
fn run_by_ring(place: &Place, text: &str) -> Option<Value> {
    let output = place.output("run", text, &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    if said.contains("the kernel refuses an io_uring") {
        eprintln!("skipped: {said}");
        return None;
    }
    assert!(output.status.success(), "{said}");
    let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
    Some(report["runs"][0].take())
}

#[test]
fn places_that_are_read_through_a_ring_take_turns_however_many_are_in_flight() {
    let place = Place::new("uring-places");
    let body = format!(
        "flowop uringread name=read, filesetname=files, iosize=6k, streams=3, value=4, iters=30
         flowop uringwait name=wait {}",
        count(62)
    );
    let text = text("entries=1, size=12k, prealloc", &body);
    let Some(run) = &run_by_ring(&place, &text) else {
        return;
    };
    assert_eq!(ops(run, "read"), 60);
    // From 0, from 4 KiB, and from 8 KiB, where the file ends after four more.
    assert_eq!(bytes(run, "read"), 20 * (6 + 6 + 4) * 1024);
}

#[test]
fn direct_io_is_aligned_whoever_does_it() {
    let place = Place::new("direct");
    let body = "flowop openfile name=open, filesetname=files, fd=1, directio
         flowop read name=read, fd=1, iosize=4k, random
         flowop readwholefile name=whole, fd=1, iosize=16k
         flowop write name=write, fd=1, iosize=8k, random
         flowop aiowrite name=aio, fd=1, iosize=4k, random, iters=3
         flowop aiowait name=wait
         flowop closefile name=close, fd=1
         flowop finishoncount name=end, value=10, target=close";
    let run = place.run(&text("entries=4, size=64k, prealloc", body), &[]);
    if !flowop(&run, "open")["errors"]["EINVAL"].is_null() {
        let dir = place.dir();
        eprintln!(
            "skipped: {} has no direct I/O; set CARGO_TARGET_DIR to ext4 or xfs",
            dir.display()
        );
        return;
    }
    assert_eq!(errors(&run), 0, "{run}");
    assert_eq!(
        (ops(&run, "read"), ops(&run, "write"), ops(&run, "aio")),
        (10, 10, 30)
    );
}
