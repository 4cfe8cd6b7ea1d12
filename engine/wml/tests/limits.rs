//! Rates of real runs. Apart from the other tests, so that these do not take the processor away.

mod common;

use common::{Place, ops};

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
        ("eventlimit", 1000, 1000.0),
        ("bwlimit", 4, 1024.0),
    ];
    std::thread::scope(|scope| {
        for (limiter, rate, expected_ops_s) in cases {
            scope.spawn(move || {
                let place = Place::new(limiter);
                let options = ["--warmup=1", "--duration=4"];
                let run = place.run(&limited(limiter, rate), &options);
                let rate = run["measure"]["throughput_ops_s"].as_f64().unwrap();
                // Never more than asked; less where the machine has other things to do. That the
                // budget itself is exact and fair, its own tests show on a simulated clock.
                let share = rate / expected_ops_s;
                assert!((0.9..1.03).contains(&share), "{limiter}: {rate}");
                let (a, b) = (ops(&run, "a"), ops(&run, "b"));
                assert!(a.min(b) * 3 > a + b, "{limiter}: {a} against {b}");
            });
        }
    });
}
