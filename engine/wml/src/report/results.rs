//! The results of one run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;

use super::errno::errno_name;
use super::latency::Latency;
use crate::clock::to_seconds;
use crate::model::{ArrivalProcess, Class, Flowop, FlowopId, Model, Quit, Run, Value};
use crate::record::{RequestTotal, Total, Totals};
use crate::run::{Arena, Ending, Place, ProcessRecord, Timing, Turn};

#[derive(Debug, Serialize)]
pub struct RunResult {
    pub name: String,
    pub partial: bool,
    /// Why it is partial.
    pub reason: Option<String>,
    pub quit: Quit,
    pub configuration: Configuration,
    /// At the command that ran it.
    pub variables: BTreeMap<String, Value>,
    pub phases: Vec<Phase>,
    /// Those in which the work was done, if it was done in turns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    pub measure: Measure,
    pub last_ops: Vec<LastOps>,
    pub cost: Cost,
}

/// When the threads of a kind ended their last op that is work.
#[derive(Debug, Serialize)]
pub struct LastOps {
    pub process: String,
    pub thread: String,
    /// Since the begin of the measured interval, for each instance as in `work_ops_by_instance`;
    /// None if it did none within.
    pub ended_s: Vec<Option<f64>>,
}

/// What was asked for.
#[derive(Debug, Serialize)]
pub struct Configuration {
    pub warmup_s: f64,
    /// None until all threads had reached their goals.
    pub duration_s: Option<f64>,
    #[serde(flatten)]
    pub model: Model,
}

/// Times are of CLOCK_MONOTONIC, less the pauses between turns.
#[derive(Debug, Serialize)]
pub struct Phase {
    pub name: &'static str,
    pub start_ns: u64,
    pub end_ns: u64,
}

#[derive(Debug, Serialize)]
pub struct Measure {
    pub duration_s: f64,
    pub work_ops: u64,
    pub throughput_ops_s: f64,
    pub read_b: u64,
    pub write_b: u64,
    pub flowops: Vec<FlowopResult>,
    /// Of threads with an open loop.
    pub requests: Vec<Requests>,
    pub series: Series,
}

#[derive(Debug, Serialize)]
pub struct FlowopResult {
    pub process: String,
    pub thread: String,
    pub flowop: String,
    pub operation: &'static str,
    /// Whether its ops are work.
    pub counted: bool,
    pub work_ops: u64,
    pub bytes: u64,
    pub skipped: u64,
    pub errors: BTreeMap<String, u64>,
    pub latency: Latency,
    /// For each instance of its process, each instance of its thread.
    pub work_ops_by_instance: Vec<u64>,
}

/// Passes of all instances of a thread; the latency counts from when a pass was due.
#[derive(Debug, Serialize)]
pub struct Requests {
    pub process: String,
    pub thread: String,
    pub rate_ops_s: f64,
    pub arrivals: ArrivalProcess,
    pub work_ops: u64,
    /// Those that were due before their thread had ended the one before.
    pub late: u64,
    pub latency: Latency,
}

/// Sums over each interval of the measured time; the last may be shorter.
#[derive(Debug, Default, Serialize)]
pub struct Series {
    pub interval_s: f64,
    pub work_ops: Vec<u64>,
    pub read_b: Vec<u64>,
    pub write_b: Vec<u64>,
}

/// What the processes used within the measured interval: in user mode that is the engine itself,
/// in system mode the kernel on its behalf.
#[derive(Debug, Serialize)]
pub struct Cost {
    pub user_s: f64,
    pub system_s: f64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    /// None if nothing was done.
    pub user_us_per_op: Option<f64>,
    pub system_us_per_op: Option<f64>,
}

impl RunResult {
    pub fn new(
        name: String,
        run: &Run,
        timing: &Timing,
        arena: &Arena,
        ending: &Ending,
        turns: Vec<Turn>,
    ) -> Self {
        let control = arena.control();
        let end_ns = control.end_ns();
        let measure_ns = control.measure_ns().min(end_ns);
        let reason = match ending {
            Ending::Cut(reason) => Some(reason.clone()),
            Ending::Complete | Ending::Finished | Ending::Asked => None,
        };
        let phase = |name, start_ns, end_ns| Phase {
            name,
            start_ns,
            end_ns,
        };
        let duration_ns = end_ns - measure_ns;
        let series = Series::new(arena, duration_ns);
        let measure = Measure::new(arena.model, &arena.totals(), duration_ns, series);
        Self {
            name,
            partial: reason.is_some(),
            reason,
            quit: run.model.quit,
            configuration: Configuration {
                warmup_s: to_seconds(timing.warmup_ns),
                duration_s: timing.duration_ns.map(to_seconds),
                model: run.model.clone(),
            },
            variables: run.variables.clone(),
            phases: vec![
                phase("warmup", control.start_ns().min(measure_ns), measure_ns),
                phase("measure", measure_ns, end_ns),
            ],
            turns,
            cost: Cost::new(&arena.processes, measure.work_ops),
            measure,
            last_ops: last_ops(arena, measure_ns),
        }
    }
}

impl Measure {
    /// What was done in so much time.
    pub fn new(model: &Model, totals: &Totals, duration_ns: u64, series: Series) -> Self {
        let totals_of = || model.flowops().zip(&totals.flowops);
        let flowops: Vec<FlowopResult> = totals_of()
            .map(|((id, flowop), total)| FlowopResult::new(model, id, flowop, total))
            .collect();
        let duration_s = to_seconds(duration_ns);
        let bytes = |class: Class| {
            let of_class = totals_of().filter(|((_, f), _)| f.operation.class() == class);
            of_class.map(|(_, total)| total.bytes).sum()
        };
        let counted = flowops.iter().filter(|flowop| flowop.counted);
        let work_ops = counted.map(|flowop| flowop.work_ops).sum();
        let throughput_ops_s = match duration_ns {
            0 => 0.0,
            _ => work_ops as f64 / duration_s,
        };
        Self {
            duration_s,
            work_ops,
            throughput_ops_s,
            read_b: bytes(Class::Reads),
            write_b: bytes(Class::Writes),
            flowops,
            requests: requests(model, &totals.requests),
            series,
        }
    }
}

impl FlowopResult {
    fn new(model: &Model, id: FlowopId, flowop: &Flowop, total: &Total) -> Self {
        let process = &model.processes[id.process];
        let errors = total.errors.iter();
        Self {
            process: process.name.clone(),
            thread: process.threads[id.thread].name.clone(),
            flowop: flowop.name.clone(),
            operation: flowop.operation.name(),
            counted: flowop.operation.is_counted(),
            work_ops: total.work_ops,
            bytes: total.bytes,
            skipped: total.skipped,
            errors: errors
                .map(|(errno, count)| (errno_name(*errno), *count))
                .collect(),
            latency: Latency::from(&total.latency),
            work_ops_by_instance: total.work_ops_by_instance.clone(),
        }
    }
}

fn last_ops(arena: &Arena, measure_ns: u64) -> Vec<LastOps> {
    let ended_s = |place: &Place| {
        let last_ns = arena.records.last_ns_of(place.part.thread)?;
        Some(to_seconds(last_ns - measure_ns))
    };
    let processes = arena.model.processes.iter().enumerate();
    let threads = processes.flat_map(|(p, process)| {
        let threads = process.threads.iter().enumerate();
        threads.map(move |(t, thread)| (p, t, &process.name, &thread.name))
    });
    threads
        .map(|(p, t, process, thread)| LastOps {
            process: process.clone(),
            thread: thread.clone(),
            ended_s: arena.places.of(p, t).map(ended_s).collect(),
        })
        .collect()
}

fn requests(model: &Model, totals: &[RequestTotal]) -> Vec<Requests> {
    let threads = model.processes.iter().flat_map(|process| {
        let threads = process.threads.iter();
        threads.filter_map(move |thread| Some((process, thread, thread.arrivals?)))
    });
    threads
        .zip(totals)
        .map(|((process, thread, arrivals), total)| Requests {
            process: process.name.clone(),
            thread: thread.name.clone(),
            rate_ops_s: arrivals.rate,
            arrivals: arrivals.process,
            work_ops: total.work_ops,
            late: total.late,
            latency: Latency::from(&total.latency),
        })
        .collect()
}

impl Series {
    fn new(arena: &Arena, duration_ns: u64) -> Self {
        let sums = arena.records.series(duration_ns);
        let column = |nth: usize| sums.iter().map(|sum| sum[nth]).collect();
        Self {
            interval_s: to_seconds(arena.records.interval_ns()),
            work_ops: column(0),
            read_b: column(1),
            write_b: column(2),
        }
    }
}

impl Cost {
    fn new(processes: &[ProcessRecord], work_ops: u64) -> Self {
        let sum = |part: fn(&ProcessRecord) -> &AtomicU64| {
            processes
                .iter()
                .map(|process| part(process).load(Relaxed))
                .sum::<u64>()
        };
        let (user_ns, system_ns) = (sum(|cost| &cost.user_ns), sum(|cost| &cost.system_ns));
        let us_per_op = |ns: u64| (work_ops > 0).then(|| ns as f64 / 1000.0 / work_ops as f64);
        Self {
            user_s: to_seconds(user_ns),
            system_s: to_seconds(system_ns),
            voluntary_switches: sum(|cost| &cost.voluntary_switches),
            involuntary_switches: sum(|cost| &cost.involuntary_switches),
            user_us_per_op: us_per_op(user_ns),
            system_us_per_op: us_per_op(system_ns),
        }
    }
}
