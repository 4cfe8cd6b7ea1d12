//! Whether this machine has room for the processes, threads and buffers of a text, before it makes
//! any files. Beyond a limit of the kernel a thread that starts is refused in the midst of others.

use std::fs;

use crate::failure::Failure;
use crate::model::{Model, Process, Program, Thread};
use crate::ops::{self, HELPERS};

/// Mappings of a thread: its stack, the one for signals, a guard below each, and its buffer.
const OF_THREAD: u64 = 5;
/// Of a helper of `aiowrite`: the same without a buffer, and a heap.
const OF_HELPER: u64 = 5;
/// Of the program.
const OF_PROCESS: u64 = 300;

const GIB: f64 = (1 << 30) as f64;

/// Refuse a text with a run that has too many processes and threads for this machine.
pub fn check_room(program: &Program) -> Result<(), Failure> {
    program.runs().try_for_each(|run| {
        check_tasks(&run.model, &task_limits())?;
        check_mappings(&run.model)
    })
}

/// What to say of the runs whose buffers may take more memory than this machine has.
pub fn memory_doubts(program: &Program) -> Vec<String> {
    let memory_b = memory_b();
    let models = program.runs().map(|run| &run.model);
    models.filter_map(|model| doubt(model, memory_b)).collect()
}

fn doubt(model: &Model, memory_b: u64) -> Option<String> {
    let needed_b = ops::buffers_b(model);
    (needed_b > memory_b).then(|| {
        format!(
            "the buffers of its {} threads take up to {:.1} GiB, and this machine has {:.1} GiB of \
             memory: a smaller iosize or memsize, or fewer instances, take less",
            model.thread_count(),
            needed_b as f64 / GIB,
            memory_b as f64 / GIB,
        )
    })
}

/// Physical memory.
fn memory_b() -> u64 {
    // SAFETY: touches no memory.
    let (pages, page_b) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    (pages as u64).saturating_mul(page_b as u64)
}

/// How many processes and threads there may be, by the words that change it.
fn task_limits() -> Vec<(&'static str, u64)> {
    let kernel = ["threads-max", "pid_max"].map(|name| number(&format!("kernel/{name}")));
    let names = ["sysctl kernel.threads-max", "sysctl kernel.pid_max"];
    let limits = names.into_iter().zip(kernel);
    limits
        .filter_map(|(name, most)| Some((name, most?)))
        .collect()
}

fn check_tasks(model: &Model, limits: &[(&str, u64)]) -> Result<(), Failure> {
    let threads = model.processes.iter().map(|process| {
        let each = process.threads.iter();
        let threads = each.map(|thread| thread.instances * (1 + helpers(thread)));
        process.instances * (1 + threads.sum::<u64>())
    });
    let needed: u64 = threads.sum();
    let Some((name, most)) = limits.iter().find(|(_, most)| needed > *most) else {
        return Ok(());
    };
    let message =
        format!("{needed} processes and threads are asked for, and {most} are allowed ({name})");
    Err(Failure::new(
        message,
        format!("{name}={needed}, or fewer instances"),
    ))
}

/// Helpers of a thread that has an `aiowrite`.
fn helpers(thread: &Thread) -> u64 {
    match ops::has_helpers(thread) {
        true => HELPERS as u64,
        false => 0,
    }
}

/// Refuse a process that has too many threads for the kernel's limit.
fn check_mappings(model: &Model) -> Result<(), Failure> {
    let Some(limit) = number("vm/max_map_count") else {
        return Ok(());
    };
    let mut processes = model.processes.iter();
    let Some(process) = processes.find(|process| mappings(process) > limit) else {
        return Ok(());
    };
    let (name, needed) = (&process.name, mappings(process));
    let message =
        format!("the threads of '{name}' need {needed} mappings, and {limit} are allowed");
    let next = format!("sysctl vm.max_map_count={needed}, or several processes of fewer threads");
    Err(Failure::new(message, next))
}

fn mappings(process: &Process) -> u64 {
    let threads = process.threads.iter();
    let of_all = threads.map(|thread| thread.instances * (OF_THREAD + OF_HELPER * helpers(thread)));
    OF_PROCESS + of_all.sum::<u64>()
}

/// A number of the kernel's, below /proc/sys.
fn number(name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/sys/{name}")).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process of so many threads, each with a buffer of a mebibyte.
    fn model(instances: u64) -> Model {
        let thread = Thread {
            name: "t".into(),
            instances,
            memsize: 1 << 20,
            ioprio: None,
            arrivals: None,
            flowops: Vec::new(),
            body: Vec::new(),
        };
        let process = Process {
            name: "p".into(),
            instances: 1,
            nice: 0,
            threads: vec![thread],
        };
        Model {
            processes: vec![process],
            ..Model::default()
        }
    }

    #[test]
    fn a_process_of_more_threads_than_the_kernel_has_mappings_for_is_refused_with_the_limit() {
        assert!(check_mappings(&model(1000)).is_ok());
        let refused = check_mappings(&model(1 << 40)).unwrap_err().to_string();
        assert!(refused.contains("sysctl vm.max_map_count="), "{refused}");
    }

    #[test]
    fn more_processes_and_threads_than_there_may_be_are_refused_with_both_numbers() {
        let limits = [("many", 1 << 30), ("few", 1001)];
        assert!(check_tasks(&model(1000), &limits).is_ok());
        let refused = check_tasks(&model(1001), &limits).unwrap_err().to_string();
        assert!(refused.contains("1002 processes and threads"), "{refused}");
        assert!(refused.contains("1001 are allowed (few)"), "{refused}");
        assert!(!task_limits().is_empty(), "Linux has them");
    }

    #[test]
    fn buffers_beyond_the_memory_of_the_machine_are_doubted_with_both_numbers() {
        assert_eq!(doubt(&model(1024), 2 << 30), None);
        let doubted = doubt(&model(4096), 2 << 30).unwrap();
        assert!(
            doubted.contains("its 4096 threads take up to 4.0 GiB"),
            "{doubted}"
        );
        assert!(doubted.contains("has 2.0 GiB"), "{doubted}");
        assert!(memory_b() > 1 << 20);
    }
}
