//! Rates of real runs. Apart from the other tests, so that these do not take the processor away.

mod common;

use common::{Place, flowop, ops};

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
                let options = ["--warmup=1", "--duration=5"];
                let run = place.run(&limited(limiter, rate), &options);
                let done = run["measure"]["work_ops"].as_u64().unwrap() as f64;
                // Never more than asked; less where the machine has other things to do. That the
                // budget itself is exact and fair, its own tests show on a simulated clock.
                let asked = expected_ops_s * 5.0;
                let possible = 0.9 * asked..=1.01 * asked + 1.0;
                assert!(possible.contains(&done), "{limiter}: {done} of {asked}");
                let share = (ops(&run, "a") + ops(&run, "b")) / 12;
                for name in ["a", "b"] {
                    let threads = flowop(&run, name)["work_ops_by_instance"]
                        .as_array()
                        .unwrap();
                    let least = threads.iter().map(|ops| ops.as_u64().unwrap()).min();
                    assert!(least >= Some(share / 2), "{limiter}: {threads:?}");
                }
            });
        }
    });
}
