//! What a run did, as JSON of the shape that `fsgreen-wml` writes.

use std::collections::BTreeMap;

use serde::Serialize;
use wml::clock::{SECOND_NS, to_seconds};
use wml::report::{Latency, Phase, Series};

use crate::mix::Operation;
use crate::run::{Done, Ended};

const PROCESS: &str = "ycsb";
const THREAD: &str = "client";

#[derive(Serialize)]
pub struct Report {
    pub engine: String,
    pub seed: u64,
    pub partial: bool,
    pub reason: Option<String>,
    pub notes: Vec<String>,
    pub runs: [Run; 1],
}

#[derive(Serialize)]
pub struct Run {
    quit: &'static str,
    configuration: Configuration,
    variables: BTreeMap<&'static str, String>,
    phases: [Phase; 2],
    measure: Measure,
    last_ops: [LastOps; 1],
    cost: Cost,
}

#[derive(Serialize)]
struct Configuration {
    warmup_s: f64,
    duration_s: f64,
}

#[derive(Serialize)]
struct Measure {
    duration_s: f64,
    work_ops: u64,
    throughput_ops_s: f64,
    read_b: u64,
    write_b: u64,
    flowops: Vec<OfOperation>,
    series: Series,
}

#[derive(Serialize)]
struct OfOperation {
    process: &'static str,
    thread: &'static str,
    flowop: &'static str,
    operation: &'static str,
    counted: bool,
    work_ops: u64,
    skipped: u64,
    errors: BTreeMap<String, u64>,
    latency: Latency,
    work_ops_by_instance: Vec<u64>,
}

#[derive(Serialize)]
struct LastOps {
    process: &'static str,
    thread: &'static str,
    ended_s: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct Cost {
    user_s: f64,
    system_s: f64,
    voluntary_switches: u64,
    involuntary_switches: u64,
}

impl Run {
    pub fn new(
        ended: &Ended,
        warmup_s: f64,
        duration_s: f64,
        variables: BTreeMap<&'static str, String>,
    ) -> Self {
        let length_ns = ended.end_ns - ended.measure_ns;
        let series = series(ended, length_ns);
        let sum = |column: &[u64]| column.iter().sum();
        let work_ops = sum(&series.work_ops);
        let length_s = to_seconds(length_ns);
        let since_s = |last_ns: u64| to_seconds(last_ns - ended.measure_ns);
        let phase = |name, start_ns, end_ns| Phase {
            name,
            start_ns,
            end_ns,
        };
        Self {
            quit: "timeout",
            configuration: Configuration {
                warmup_s,
                duration_s,
            },
            variables,
            phases: [
                phase("warmup", ended.start_ns, ended.measure_ns),
                phase("measure", ended.measure_ns, ended.end_ns),
            ],
            measure: Measure {
                duration_s: length_s,
                work_ops,
                throughput_ops_s: if length_ns > 0 {
                    work_ops as f64 / length_s
                } else {
                    0.0
                },
                read_b: sum(&series.read_b),
                write_b: sum(&series.write_b),
                flowops: of_operations(ended),
                series,
            },
            last_ops: [LastOps {
                process: PROCESS,
                thread: THREAD,
                ended_s: ended
                    .threads
                    .iter()
                    .map(|thread| thread.last_ns.map(since_s))
                    .collect(),
            }],
            cost: Cost {
                user_s: to_seconds(ended.cost.user_ns),
                system_s: to_seconds(ended.cost.system_ns),
                voluntary_switches: ended.cost.voluntary_switches,
                involuntary_switches: ended.cost.involuntary_switches,
            },
        }
    }
}

fn of_operations(ended: &Ended) -> Vec<OfOperation> {
    let threads = || ended.threads.iter();
    Operation::ALL
        .iter()
        .map(|&operation| (operation, operation as usize))
        .filter(|&(_, place)| threads().any(|thread| thread.done[place].work_ops > 0))
        .map(|(operation, place)| {
            let of_threads: Vec<&Done> = threads().map(|thread| &thread.done[place]).collect();
            let mut total = Done::default();
            for done in &of_threads {
                total.work_ops += done.work_ops;
                total.missing += done.missing;
                total.latency.sum_ns += done.latency.sum_ns;
                total.latency.max_ns = total.latency.max_ns.max(done.latency.max_ns);
                let buckets = total.latency.buckets.iter_mut().zip(&done.latency.buckets);
                buckets.for_each(|(sum, count)| *sum += count);
            }
            OfOperation {
                process: PROCESS,
                thread: THREAD,
                flowop: operation.name(),
                operation: operation.name(),
                counted: true,
                work_ops: total.work_ops,
                skipped: total.missing,
                errors: BTreeMap::new(),
                latency: Latency::from(&total.latency),
                work_ops_by_instance: of_threads.iter().map(|done| done.work_ops).collect(),
            }
        })
        .collect()
}

fn series(ended: &Ended, length_ns: u64) -> Series {
    let seconds = length_ns.div_ceil(SECOND_NS) as usize;
    let column = |nth: usize| {
        let at = |second: usize| {
            let threads = ended.threads.iter();
            threads
                .filter_map(|thread| Some(thread.seconds.get(second)?[nth]))
                .sum()
        };
        (0..seconds).map(at).collect()
    };
    Series {
        interval_s: 1.0,
        work_ops: column(0),
        read_b: column(1),
        write_b: column(2),
    }
}
