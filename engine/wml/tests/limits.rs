//! Rates of real runs. Apart from the other tests, so that these do not take the processor away.

mod common;

use common::{Place, flowop, ops};
use serde_json::Value;

/// Two kinds of threads that read as fast as a limiter lets them.
fn limited(limiter: &str, rate: u32) -> String {
    format!(
        "
        define fileset name=files, path=$dir, entries=20, size=1m, dirwidth=20, prealloc
        eventgen rate={rate}
        define process name=p, instances=2 {{
          thread name=t, instances=3 {{
            flowop read name=a, filesetname=files, iosize=4k, random
            flowop {limiter} name=limit }}
          thread name=u, instances=3 {{
            flowop read name=b, filesetname=files, iosize=4k, random
            flowop {limiter} name=limit }} }}
        run"
    )
}

/// Whether every thread has at least half of an equal share.
fn starves_none(run: &Value) -> bool {
    let share = (ops(run, "a") + ops(run, "b")) / THREADS as u64;
    ["a", "b"].into_iter().all(|name| {
        let threads = flowop(run, name)["work_ops_by_instance"].as_array();
        let mut done = threads.unwrap().iter().map(|ops| ops.as_u64().unwrap());
        done.all(|ops| ops >= share / 2)
    })
}

/// Work that a budget lets through late after a pause, and reads already on their way to a limiter.
const BURST_S: f64 = 0.04;
const THREADS: f64 = 12.0;

const SECONDS: f64 = 5.0;

/// A machine that stands still for a while does less: one of some runs must do what was asked.
const RUNS: usize = 3;

#[test]
fn a_limit_holds_for_all_threads_together_and_starves_none() {
    let cases = [
        ("iopslimit", 1000, 1000.0),
        ("eventlimit", 100, 100.0),
        ("bwlimit", 4, 1024.0),
    ];
    std::thread::scope(|scope| {
        for (limiter, rate, expected_ops_s) in cases {
            scope.spawn(move || {
                let place = Place::new(limiter);
                let options = ["--warmup=1", &format!("--duration={SECONDS}")];
                let asked = expected_ops_s * SECONDS;
                let mut seen = Vec::new();
                for _ in 0..RUNS {
                    let run = place.run(&limited(limiter, rate), &options);
                    let done = run["measure"]["work_ops"].as_u64().unwrap() as f64;
                    // That the budget itself is exact and fair, its own tests show on a simulated
                    // clock.
                    let most = asked + BURST_S * expected_ops_s + THREADS + 1.0;
                    assert!(done <= most, "{limiter}: {done} of {asked}");
                    let exact = 0.9 * asked..=1.01 * asked + 1.0;
                    if exact.contains(&done) && starves_none(&run) {
                        return;
                    }
                    seen.push((done, run["measure"]["flowops"].clone()));
                }
                panic!("{limiter}: in no run what was asked, {asked}, by all threads: {seen:?}");
            });
        }
    });
}
