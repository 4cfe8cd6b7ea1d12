//! How often a thread does what, when it begins, and when it ends.

use super::common::{Place, ops, sum};
use super::{FULL, count, run, skipped, text};

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
fn goals_with_a_target_are_reached_exactly_by_each_thread_alone() {
    let place = Place::new("goals");
    let text = "
        define fileset name=files, path=$dir, entries=4, size=64k, dirwidth=4, prealloc
        define process name=p, instances=2 {
          thread name=count, instances=2 {
            flowop read name=a, filesetname=files, iosize=1k, random
            flowop finishoncount name=enda, value=123, target=a }
          thread name=target, instances=2 {
            flowop statfile name=other, filesetname=files
            flowop read name=b, filesetname=files, iosize=1k, random
            flowop finishoncount name=endb, value=45, target=b }
          thread name=bytes {
            flowop read name=c, filesetname=files, iosize=1k, random
            flowop finishonbytes name=endc, value=10k, target=c } }
        run 60\n";
    let run = run(&place, text);
    assert_eq!(ops(&run, "a"), 4 * 123);
    assert_eq!((ops(&run, "b"), ops(&run, "other")), (4 * 45, 4 * 45));
    // The goal is to exceed ten reads.
    assert_eq!(ops(&run, "c"), 2 * 11);
}

#[test]
fn goals_without_a_target_count_what_all_threads_of_the_process_do() {
    let place = Place::new("common-goals");
    let text = "
        set mode quit alldone
        define fileset name=files, path=$dir, entries=4, size=64k, dirwidth=4, prealloc
        define process name=p, instances=2 {
          thread name=one, instances=3 {
            flowop read name=a, filesetname=files, iosize=1k, random
            flowop hog name=idle, value=1
            flowop finishoncount name=enda, value=900 }
          thread name=other {
            flowop statfile name=b, filesetname=files
            flowop finishoncount name=endb, value=900 } }
        define process name=q { thread name=bytes, instances=3 {
            flowop read name=c, filesetname=files, iosize=1k, random
            flowop finishonbytes name=endc, value=1m } }
        run 60\n";
    let run = run(&place, text);
    // Each of the threads may be in an operation when the last one that is needed ends.
    let both = ops(&run, "a") + ops(&run, "b");
    assert!((1800..=1800 + 2 * 3).contains(&both), "{both}");
    let bytes = ops(&run, "c");
    assert!((1025..=1025 + 2).contains(&bytes), "{bytes}");
}

#[test]
fn a_semblock_above_its_highwater_gives_back_before_it_waits() {
    let place = Place::new("narrow");
    let text = "
        set mode quit firstdone
        define fileset name=files, path=$dir, entries=4, size=8k, dirwidth=4, prealloc
        define process name=p {
          thread name=reader {
            flowop statfile name=stat, filesetname=files
            flowop sempost name=post, value=1, target=wait, blocking }
          thread name=writer {
            flowop semblock name=wait, value=10, highwater=1
            flowop statfile name=done, filesetname=files
            flowop finishoncount name=end, value=5, target=done } }
        run 60\n";
    let run = run(&place, text);
    assert_eq!(ops(&run, "done"), 5);
    assert!((50..=61).contains(&ops(&run, "stat")), "{run}");
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
