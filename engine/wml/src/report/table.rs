//! Results for people: a line for each flowop, aligned.

use std::collections::HashSet;
use std::fmt::Write;

use super::latency::Latency;
use super::results::{Cost, FlowopResult, Measure, RunResult};
use crate::histogram::{octaves as merged, quantile_ns};

const MIB: f64 = 1048576.0;
const QUANTILES: [f64; 3] = [0.5, 0.99, 0.999];
const HEADER: [&str; 9] = [
    "flowop", "ops", "ops/s", "MiB/s", "mean", "p50", "p99", "p99.9", "max",
];

/// A run with all its flowops.
pub fn summary(run: &RunResult) -> String {
    let mut text = statistics(&run.name, &run.measure);
    let Cost {
        user_s,
        system_s,
        user_us_per_op,
        system_us_per_op,
        ..
    } = run.cost;
    let _ = write!(
        text,
        "  processor: {user_s:.2} s user, {system_s:.2} s system"
    );
    if let (Some(user), Some(system)) = (user_us_per_op, system_us_per_op) {
        let _ = write!(text, "; {user:.3} + {system:.3} us per op");
    }
    text.push('\n');
    text
}

/// What was done in a part of a run.
pub fn statistics(name: &str, measure: &Measure) -> String {
    let per_s = |bytes: u64| {
        if measure.duration_s > 0.0 {
            bytes as f64 / MIB / measure.duration_s
        } else {
            0.0
        }
    };
    let mut text = format!(
        "{name}: {:.3} s, {} ops, {:.1} ops/s, {:.1} MiB/s read, {:.1} MiB/s written\n",
        measure.duration_s,
        measure.work_ops,
        measure.throughput_ops_s,
        per_s(measure.read_b),
        per_s(measure.write_b),
    );
    let names = names(&measure.flowops);
    let mut rows = vec![HEADER.map(str::to_owned)];
    let lines = measure.flowops.iter().zip(&names);
    rows.extend(lines.map(|(flowop, name)| row(flowop, name, measure.duration_s)));
    for requests in &measure.requests {
        let name = format!("{} (from when due)", requests.thread);
        let seconds = measure.duration_s;
        rows.push(cells(
            name,
            requests.work_ops,
            0,
            &requests.latency,
            seconds,
        ));
    }
    text.push_str(&aligned(&rows));
    for (flowop, name) in measure.flowops.iter().zip(&names) {
        for (errno, count) in &flowop.errors {
            let _ = writeln!(text, "  {name} failed {count} times with {errno}");
        }
        if flowop.skipped > 0 {
            let _ = writeln!(text, "  {name} found no file {} times", flowop.skipped);
        }
    }
    for requests in measure.requests.iter().filter(|requests| requests.late > 0) {
        let (thread, late) = (&requests.thread, requests.late);
        let _ = writeln!(
            text,
            "  {thread} was busy when {late} of its passes were due"
        );
    }
    text
}

/// Histograms of powers of two, as `enable lathist` asks for them.
pub fn octaves(run: &RunResult) -> String {
    let mut text = String::new();
    for (flowop, name) in run.measure.flowops.iter().zip(names(&run.measure.flowops)) {
        let buckets = merged(&flowop.latency.buckets);
        if buckets.is_empty() {
            continue;
        }
        let _ = writeln!(text, "  latencies of {name}");
        let mut rows = vec![["from".to_owned(), "below".to_owned(), "ops".to_owned()]];
        rows.extend(buckets.iter().map(|&(lower_ns, upper_ns, count)| {
            [
                time(lower_ns as f64),
                time(upper_ns as f64),
                count.to_string(),
            ]
        }));
        text.push_str(&aligned(&rows));
    }
    text
}

/// The names of flowops, with those of process and thread where one alone is not unique.
fn names(flowops: &[FlowopResult]) -> Vec<String> {
    let mut seen = HashSet::new();
    let twice: HashSet<&str> = flowops
        .iter()
        .map(|flowop| flowop.flowop.as_str())
        .filter(|name| !seen.insert(*name))
        .collect();
    flowops
        .iter()
        .map(|flowop| {
            let FlowopResult {
                process,
                thread,
                flowop,
                ..
            } = flowop;
            if twice.contains(flowop.as_str()) {
                format!("{process}/{thread}/{flowop}")
            } else {
                flowop.clone()
            }
        })
        .collect()
}

/// Flowops that are no work stand in parentheses.
fn row(flowop: &FlowopResult, name: &str, duration_s: f64) -> [String; 9] {
    let name = if flowop.counted {
        name.to_owned()
    } else {
        format!("({name})")
    };
    cells(
        name,
        flowop.work_ops,
        flowop.bytes,
        &flowop.latency,
        duration_s,
    )
}

fn cells(name: String, ops: u64, bytes: u64, latency: &Latency, duration_s: f64) -> [String; 9] {
    if ops == 0 {
        let none = || "-".to_owned();
        return [
            name,
            "0".to_owned(),
            none(),
            none(),
            none(),
            none(),
            none(),
            none(),
            none(),
        ];
    }
    let [p50, p99, p999] = QUANTILES.map(|q| {
        let bound = quantile_ns(&latency.buckets, q).unwrap_or(0);
        time(bound.min(latency.max_ns) as f64)
    });
    [
        name,
        ops.to_string(),
        format!("{:.1}", ops as f64 / duration_s),
        format!("{:.1}", bytes as f64 / MIB / duration_s),
        time(latency.sum_ns as f64 / ops as f64),
        p50,
        p99,
        p999,
        time(latency.max_ns as f64),
    ]
}

/// Three digits and a unit.
fn time(ns: f64) -> String {
    const UNITS: [&str; 4] = ["ns", "us", "ms", "s"];
    let mut value = ns;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = match value {
        _ if unit == 0 => 0,
        0.0..9.995 => 2,
        9.995..99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// The first column to the left, the others to the right.
fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..N).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let _ = write!(text, "  {:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_in_every_unit() {
        let shown = [0.0, 7.4, 999.4, 999.6, 12_345.0, 999_600.0, 4.2e8, 7.5e10].map(time);
        let expected = [
            "0 ns", "7 ns", "999 ns", "1.00 us", "12.3 us", "1.00 ms", "420 ms", "75.0 s",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn columns_are_aligned_also_for_names_that_are_not_ascii() {
        let rows = [["é", "1"], ["long", "22"]].map(|row| row.map(str::to_owned));
        assert_eq!(aligned(&rows), "  é      1\n  long  22\n");
    }
}
