//! What people should know of a run beside its numbers.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::errno::errno_name;
use super::results::RunResult;
use crate::run::{Arena, ProcessRecord};

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
    notes
}
