//! The results of a run as data, for JSON.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;

use crate::clock::to_seconds;
use crate::fileset::Prepared;
use crate::histogram::bounds_ns;
use crate::lang::Value;
use crate::model::{Class, Model};
use crate::record::Total;
use crate::run::{Arena, CostRecord, Ending};

pub const SCHEMA: u32 = 1;
pub const ENGINE: &str = concat!("fsgreen-wml ", env!("CARGO_PKG_VERSION"));

#[derive(Debug, Serialize)]
pub struct Report {
    pub schema: u32,
    pub engine: &'static str,
    pub file: String,
    pub seed: u64,
    pub variables: BTreeMap<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prepare: Option<Vec<Prepared>>,
    #[serde(flatten)]
    pub results: Option<Results>,
}

#[derive(Debug, Serialize)]
pub struct Results {
    pub partial: bool,
    /// Why it is partial.
    pub reason: Option<String>,
    pub phases: Vec<Phase>,
    pub measure: Measure,
    pub cost: Cost,
}

/// Times are of CLOCK_MONOTONIC.
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
}

#[derive(Debug, Serialize)]
pub struct Latency {
    pub sum_ns: u64,
    pub max_ns: u64,
    /// Non-empty buckets: lower bound, upper bound (outside), count.
    pub buckets: Vec<(u64, u64, u64)>,
}

/// Sums over each second of the measured interval; the last may be shorter.
#[derive(Debug, Serialize)]
pub struct Series {
    pub interval_s: u64,
    pub work_ops: Vec<u64>,
    pub read_b: Vec<u64>,
    pub write_b: Vec<u64>,
}

/// What the processes used within the measured interval.
#[derive(Debug, Serialize)]
pub struct Cost {
    pub user_s: f64,
    pub system_s: f64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

impl Results {
    pub fn new(arena: &Arena, ending: &Ending) -> Self {
        let control = arena.control;
        let end_ns = control.end_ns();
        let measure_ns = control.measure_ns().min(end_ns);
        let reason = match ending {
            Ending::Cut(reason) => Some(reason.clone()),
            Ending::Complete | Ending::Finished => None,
        };
        Self {
            partial: reason.is_some(),
            reason,
            phases: vec![
                Phase {
                    name: "warmup",
                    start_ns: control.start_ns(),
                    end_ns: measure_ns,
                },
                Phase {
                    name: "measure",
                    start_ns: measure_ns,
                    end_ns,
                },
            ],
            measure: Measure::new(arena, end_ns - measure_ns),
            cost: Cost::new(arena.costs),
        }
    }

    /// One line for people.
    pub fn summary(&self) -> String {
        let Measure {
            duration_s,
            work_ops,
            throughput_ops_s,
            read_b,
            write_b,
            flowops,
            ..
        } = &self.measure;
        let errors: u64 = flowops
            .iter()
            .flat_map(|flowop| flowop.errors.values())
            .sum();
        let skipped: u64 = flowops.iter().map(|flowop| flowop.skipped).sum();
        let mib = |bytes: &u64| *bytes as f64 / 1048576.0;
        format!(
            "measured {duration_s:.1} s: {work_ops} ops, {throughput_ops_s:.1} ops/s, \
             {:.1} MiB read, {:.1} MiB written, {errors} errors, {skipped} skipped",
            mib(read_b),
            mib(write_b),
        )
    }
}

impl Measure {
    fn new(arena: &Arena, duration_ns: u64) -> Self {
        let flowops = flowops(arena, arena.model);
        let duration_s = to_seconds(duration_ns);
        let bytes = |class: Class| {
            let results = flowops.iter().zip(arena.model.flowops());
            results
                .filter(|(_, (_, f))| f.operation.class() == class)
                .map(|(r, _)| r.bytes)
                .sum()
        };
        let work_ops = flowops
            .iter()
            .filter(|f| f.counted)
            .map(|f| f.work_ops)
            .sum();
        let sums = arena.records.series(duration_ns);
        let column = |nth: usize| sums.iter().map(|sum| sum[nth]).collect();
        Self {
            duration_s,
            work_ops,
            throughput_ops_s: if duration_ns > 0 {
                work_ops as f64 / duration_s
            } else {
                0.0
            },
            read_b: bytes(Class::Reads),
            write_b: bytes(Class::Writes),
            series: Series {
                interval_s: 1,
                work_ops: column(0),
                read_b: column(1),
                write_b: column(2),
            },
            flowops,
        }
    }
}

fn flowops(arena: &Arena, model: &Model) -> Vec<FlowopResult> {
    let result = |(id, flowop): (_, &crate::model::Flowop)| {
        let mut total = Total::default();
        arena.records_of(id).for_each(|record| total.merge(record));
        let process = &model.processes[id.process];
        let buckets = total
            .buckets
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0);
        FlowopResult {
            process: process.name.clone(),
            thread: process.threads[id.thread].name.clone(),
            flowop: flowop.name.clone(),
            operation: flowop.operation.name(),
            counted: flowop.operation.is_counted(),
            work_ops: total.work_ops,
            bytes: total.bytes,
            skipped: total.skipped,
            errors: total
                .errors
                .iter()
                .map(|(errno, n)| (errno_name(*errno), *n))
                .collect(),
            latency: Latency {
                sum_ns: total.sum_ns,
                max_ns: total.max_ns,
                buckets: buckets
                    .map(|(bucket, &count)| {
                        let (lower, upper) = bounds_ns(bucket);
                        (lower, upper, count)
                    })
                    .collect(),
            },
        }
    };
    model.flowops().map(result).collect()
}

impl Cost {
    fn new(costs: &[CostRecord]) -> Self {
        let sum = |part: fn(&CostRecord) -> &AtomicU64| {
            costs
                .iter()
                .map(|cost| part(cost).load(Relaxed))
                .sum::<u64>()
        };
        Self {
            user_s: to_seconds(sum(|cost| &cost.user_ns)),
            system_s: to_seconds(sum(|cost| &cost.system_ns)),
            voluntary_switches: sum(|cost| &cost.voluntary_switches),
            involuntary_switches: sum(|cost| &cost.involuntary_switches),
        }
    }
}

/// The symbol of an errno that file operations give, or its number.
fn errno_name(errno: i32) -> String {
    macro_rules! names {
        ($($name:ident)*) => {
            match errno {
                0 => return "other".to_owned(),
                $(libc::$name => stringify!($name),)*
                _ => return format!("errno {errno}"),
            }
        };
    }
    names!(
        EACCES EAGAIN EBADF EBUSY EDQUOT EEXIST EFAULT EFBIG EINVAL EIO EISDIR ELOOP EMFILE
        ENAMETOOLONG ENFILE ENODEV ENOENT ENOMEM ENOSPC ENOSYS ENOTDIR ENXIO EOPNOTSUPP
        EOVERFLOW EPERM EROFS ESTALE ETIMEDOUT ETXTBSY
    )
    .to_owned()
}
