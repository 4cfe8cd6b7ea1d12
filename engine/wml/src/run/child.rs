//! One process of the workload: starts its threads, accounts for what they cost.

use std::sync::atomic::Ordering::Relaxed;

use super::arena::{Arena, Instance};
use crate::clock::SECOND_NS;
use crate::ops::Worker;

/// Threads of the workload are many and shallow.
const STACK_B: usize = 256 * 1024;

/// Run a process of the workload to its end; returns its exit status.
pub fn run(arena: &Arena, nth: usize) -> i32 {
    let instance = arena.instances[nth];
    let nice = arena.model.processes[instance.process].nice;
    if nice != 0 {
        // SAFETY: touches no memory. A refusal leaves the priority as it is.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) };
    }
    if threads(arena, instance, nth) { 0 } else { 1 }
}

fn threads(arena: &Arena, instance: Instance, nth: usize) -> bool {
    std::thread::scope(|scope| {
        let mut handles = Vec::new();
        for place in arena.places(instance) {
            let builder = std::thread::Builder::new().stack_size(STACK_B);
            let started = builder.spawn_scoped(scope, move || {
                let mut worker = Worker::new(arena.environment(place));
                if arena.control.wait_for_start() {
                    worker.work();
                }
            });
            match started {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    eprintln!("fsgreen-wml: cannot start a thread: {error}");
                    arena.stop();
                    return false;
                }
            }
        }
        let before = if arena.control.wait_for_measure() {
            usage()
        } else {
            None
        };
        let whole = handles.into_iter().all(|handle| handle.join().is_ok());
        if let (Some(before), Some(after)) = (before, usage()) {
            let cost = &arena.costs[nth];
            cost.user_ns.store(after[0] - before[0], Relaxed);
            cost.system_ns.store(after[1] - before[1], Relaxed);
            cost.voluntary_switches.store(after[2] - before[2], Relaxed);
            cost.involuntary_switches
                .store(after[3] - before[3], Relaxed);
        }
        whole
    })
}

/// User and system time in nanoseconds, voluntary and involuntary context switches so far.
fn usage() -> Option<[u64; 4]> {
    // SAFETY: zeros are a valid rusage, which the call fills in.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        if libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) != 0 {
            return None;
        }
        let ns = |time: libc::timeval| time.tv_sec as u64 * SECOND_NS + time.tv_usec as u64 * 1000;
        Some([
            ns(usage.ru_utime),
            ns(usage.ru_stime),
            usage.ru_nvcsw as u64,
            usage.ru_nivcsw as u64,
        ])
    }
}
