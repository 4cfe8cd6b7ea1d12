//! What people should know of a run beside its numbers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::errno::errno_name;
use super::results::{FlowopResult, RunResult};
use crate::run::{Arena, MaxErrors, ProcessRecord};

/// What is shorter may be a slow operation.
const LEAST_STANDSTILL_S: f64 = 1.0;
/// Flowops that are named of those that mostly failed.
const MOST_NAMED: usize = 8;

/// What went otherwise than the text asks.
pub fn notes(arena: &Arena, result: &RunResult) -> Vec<String> {
    let mut notes = Vec::new();
    let refused = |part: fn(&ProcessRecord) -> &AtomicU32| {
        let mut errnos = arena
            .processes
            .iter()
            .map(|record| part(record).load(Relaxed));
        errnos
            .find(|&errno| errno != 0)
            .map(|errno| errno_name(errno as i32))
    };
    if let Some(errno) = refused(|record| &record.nice_errno) {
        notes.push(format!("'nice' was refused with {errno}"));
    }
    if let Some(errno) = refused(|record| &record.ioprio_errno) {
        notes.push(format!("'ioprio' was refused with {errno}"));
    }
    let measure = &result.measure;
    if measure.duration_s == 0.0 {
        notes.push("it ended within its warm-up, so that nothing was measured".to_owned());
    }
    let covered_s = measure.series.interval_s * measure.series.work_ops.len() as f64;
    // Both are whole nanoseconds, and the product of their quotients is not exact.
    if covered_s + 1e-9 < measure.duration_s {
        notes.push(format!("the series ends after {covered_s} s"));
    }
    notes.extend(standstill(result));
    notes
}

/// Whether nothing more was done long before a run was over.
fn standstill(result: &RunResult) -> Option<String> {
    let measure = &result.measure;
    let is_work = measure.flowops.iter().any(|flowop| flowop.counted);
    let ends = result.last_ops.iter().flat_map(|last| &last.ended_s);
    let last_s = ends.flatten().copied().fold(0.0, f64::max);
    let idle_s = measure.duration_s - last_s;
    let is_long = idle_s > measure.duration_s / 2.0 && idle_s > LEAST_STANDSTILL_S;
    let duration_s = measure.duration_s;
    (is_work && is_long && idle(result).is_none()).then(|| match measure.work_ops {
        0 => format!("nothing was done in {duration_s:.1} s"),
        _ => format!("nothing was done after {last_s:.1} s of {duration_s:.1} s"),
    })
}

/// What to say of a run in which nothing was done although something was to be, and nothing failed
/// either.
pub fn idle(result: &RunResult) -> Option<String> {
    let flowops = result.measure.flowops.iter();
    let work: Vec<_> = flowops.filter(|flowop| flowop.counted).collect();
    let skipped: u64 = work.iter().map(|flowop| flowop.skipped).sum();
    let duration_s = result.measure.duration_s;
    let is_idle = Failures::of(work.iter().copied()).operations == 0;
    (is_idle && !work.is_empty() && duration_s > 0.0).then(|| match skipped {
        0 => format!("nothing was done in {duration_s:.3} s"),
        _ => format!("nothing was done in {duration_s:.3} s: {skipped} operations found no file"),
    })
}

/// What to say of a run of which more operations failed than may: of all of them together where a
/// number may, of each flowop where a share may. One that always fails hides among those that do not.
pub fn failing(result: &RunResult, most: MaxErrors) -> Vec<String> {
    let flowops = result.measure.flowops.iter();
    let flowops = flowops.filter(|flowop| flowop.counted);
    match most {
        MaxErrors::Count(_) => Failures::of(flowops).beyond(most).into_iter().collect(),
        MaxErrors::Share(_) => {
            let failing = flowops.filter_map(|flowop| {
                let failures = Failures::of([flowop]).beyond(most)?;
                let (name, thread, process) = (&flowop.flowop, &flowop.thread, &flowop.process);
                Some(format!(
                    "'{name}' of thread '{thread}' of '{process}': {failures}"
                ))
            });
            abridged(failing.collect())
        }
    }
}

/// The operations of some flowops, and what became of those that failed.
struct Failures<'a> {
    operations: u64,
    by_errno: BTreeMap<&'a str, u64>,
}

impl<'a> Failures<'a> {
    fn of(flowops: impl IntoIterator<Item = &'a FlowopResult>) -> Self {
        let mut all = Self {
            operations: 0,
            by_errno: BTreeMap::new(),
        };
        for flowop in flowops {
            all.operations += flowop.work_ops + flowop.errors.values().sum::<u64>();
            for (errno, count) in &flowop.errors {
                *all.by_errno.entry(errno).or_default() += count;
            }
        }
        all
    }

    /// What to say of them if more failed than may.
    fn beyond(&self, most: MaxErrors) -> Option<String> {
        let (errors, operations) = (self.by_errno.values().sum(), self.operations);
        let (errno, _) = self.by_errno.iter().max_by_key(|(_, count)| **count)?;
        most.is_exceeded(errors, operations).then(|| {
            format!(
                "{errors} of {operations} operations failed, mostly with {errno}: more than \
                 --max-errors allows"
            )
        })
    }
}

/// The first few of many notes, and how many more there are.
fn abridged(mut notes: Vec<String>) -> Vec<String> {
    let left = notes.len().saturating_sub(MOST_NAMED);
    if left > 0 {
        notes.truncate(MOST_NAMED);
        notes.push(format!("the same holds for {left} more flowops"));
    }
    notes
}
