//! A report for people.

use std::fmt::Write;

use crate::simulate::Report;
use crate::simulate::server::NfsReport;
use crate::time::Ns;

/// The whole report as JSON, or what people look for in it.
pub fn of(report: &Report, as_json: bool) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = if as_json {
        let json = serde_json::to_string(report).expect("a report is plain data");
        writeln!(text, "{json}")
    } else {
        write(&mut text, report)
    };
    text
}

fn write(text: &mut String, report: &Report) -> std::fmt::Result {
    let (device, asked) = (&report.device, &report.experiment);
    writeln!(
        text,
        "{}, depth {}, scheduler {} (simulated)",
        device.model, device.depth, asked.scheduler
    )?;
    let elapsed_s = seconds(report.end_ns - report.start_ns);
    writeln!(
        text,
        "{} requests in {elapsed_s:.3} s, {:.1} MB/s; half answered within {:.2} ms, all within {:.2} ms",
        report.requests_count,
        report.throughput_mb_s,
        seconds(report.response_ns.p50) * 1e3,
        seconds(report.response_ns.max) * 1e3,
    )?;
    if report.failed_count > 0 {
        writeln!(text, "{} requests failed", report.failed_count)?;
    }
    for (order, by) in [
        (report.host_order, "the scheduler"),
        (report.device_order, "the device"),
    ] {
        writeln!(
            text,
            "{} requests overtaken in {by}, by {} places at most",
            order.overtaken_count, order.latest_places
        )?;
    }
    if !report.readers.is_empty() {
        let mut times: Vec<_> = report
            .readers
            .iter()
            .map(|reader| reader.done_ns - reader.start_ns)
            .collect();
        times.sort_unstable();
        let shown: Vec<_> = times
            .iter()
            .map(|&time| format!("{:.3}", seconds(time)))
            .collect();
        let spread = seconds(times[times.len() - 1]) / seconds(times[0].max(1));
        writeln!(text, "readers done after {} s", shown.join(" "))?;
        writeln!(text, "the last took {spread:.2} times as long as the first")?;
    }
    if let Some(nfs) = &report.nfs {
        write_nfs(text, nfs)?;
    }
    let counted = |name| report.counters.get(name).filter(|&&count| count > 0);
    if let (Some(&flash_b), Some(&host_b)) =
        (counted("flash_programmed_b"), counted("host_written_b"))
    {
        let amplification = flash_b as f64 / host_b as f64;
        writeln!(text, "write amplification {amplification:.2}")?;
    }
    for part in report.energy.parts.iter().filter(|part| part.time_ns > 0) {
        writeln!(
            text,
            "{:>12.3} J in {:>10.3} s  {}",
            part.energy_fj as f64 / 1e15,
            seconds(part.time_ns),
            part.name
        )?;
    }
    writeln!(
        text,
        "{:>12.3} J in all",
        report.energy.total_fj as f64 / 1e15
    )
}

fn write_nfs(text: &mut String, nfs: &NfsReport) -> std::fmt::Result {
    let mib = |bytes: u64| bytes as f64 / 1024.0 / 1024.0;
    writeln!(
        text,
        "{} reads answered, {:.1} MB/s to the clients; mean sequential count {:.1}",
        nfs.requests_count, nfs.delivered_mb_s, nfs.sequential_count
    )?;
    writeln!(
        text,
        "{:.1} of {:.1} MiB read ahead; the table forgot a file {} times",
        mib(nfs.ahead_b),
        mib(nfs.delivered_b),
        nfs.evicted_count
    )
}

fn seconds(time: Ns) -> f64 {
    time as f64 / 1e9
}
