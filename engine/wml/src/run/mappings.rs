//! Whether a process may have as many mappings as its threads need: beyond, a thread that starts
//! finds no memory, in the midst of the others.

use std::fs;

use crate::failure::Failure;
use crate::model::{Model, Operation, Process};

/// Of a thread: its stack, the one for signals, a guard below each, and its buffer.
const OF_THREAD: u64 = 5;
/// Of a helper of `aiowrite`: the same without a buffer, and a heap.
const OF_HELPERS: u64 = 8 * 5;
/// Of the program.
const OF_PROCESS: u64 = 300;

/// Refuse a process that has too many threads for the kernel's limit.
pub fn check(model: &Model) -> Result<(), Failure> {
    let limit = fs::read_to_string("/proc/sys/vm/max_map_count").ok();
    let Some(limit) = limit.and_then(|text| text.trim().parse().ok()) else {
        return Ok(());
    };
    let mut processes = model.processes.iter();
    let Some(process) = processes.find(|process| needed(process) > limit) else {
        return Ok(());
    };
    let (name, needed) = (&process.name, needed(process));
    let message =
        format!("the threads of '{name}' need {needed} mappings, and {limit} are allowed");
    let next = format!("sysctl vm.max_map_count={needed}, or several processes of fewer threads");
    Err(Failure::new(message, next))
}

fn needed(process: &Process) -> u64 {
    let threads = process.threads.iter().map(|thread| {
        let mut flowops = thread.flowops.iter();
        let has_helpers = flowops.any(|flowop| flowop.operation == Operation::AioWrite);
        let each = OF_THREAD + if has_helpers { OF_HELPERS } else { 0 };
        thread.instances * each
    });
    OF_PROCESS + threads.sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Thread;

    fn process(instances: u64) -> Process {
        let thread = Thread {
            name: "t".into(),
            instances,
            memsize: 0,
            ioprio: None,
            arrivals: None,
            flowops: Vec::new(),
            body: Vec::new(),
        };
        Process {
            name: "p".into(),
            instances: 1,
            nice: 0,
            threads: vec![thread],
        }
    }

    #[test]
    fn a_process_of_more_threads_than_the_kernel_has_mappings_for_is_refused_with_the_limit() {
        let model = |instances| Model {
            processes: vec![process(instances)],
            ..Model::default()
        };
        assert!(check(&model(1000)).is_ok());
        let refused = check(&model(1 << 40)).unwrap_err().to_string();
        assert!(refused.contains("sysctl vm.max_map_count="), "{refused}");
    }
}
