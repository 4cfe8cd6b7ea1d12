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
            flowop {limiter} name=limit }} }}"
    )
}

#[test]
fn a_limit_holds_for_all_threads_together_and_starves_none() {
    for (limiter, rate, expected_ops_s) in [
        ("iopslimit", 2000, 2000.0),
        ("eventlimit", 2000, 2000.0),
        ("bwlimit", 8, 2048.0),
    ] {
        let place = Place::new(limiter);
        let options = ["--warmup=1", "--duration=2"];
        let report = place.report("run", &limited(limiter, rate), &options);
        let rate = report["measure"]["throughput_ops_s"].as_f64().unwrap();
        assert!(
            (rate / expected_ops_s - 1.0).abs() < 0.04,
            "{limiter}: {rate}"
        );
        let (a, b) = (ops(&report, "a") as f64, ops(&report, "b") as f64);
        assert!((a / b - 1.0).abs() < 0.1, "{limiter}: {a} against {b}");
    }
}
