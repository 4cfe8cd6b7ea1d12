//! One process of the workload: starts its threads, accounts for what they cost.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;

use super::arena::Arena;
use super::places::{Instance, Place};
use super::process::Usage;
use crate::failure::errno;
use crate::ops::Worker;
use crate::stderr::say;

/// Threads of the workload are many and shallow.
const STACK_B: usize = 256 * 1024;

/// Run a process of the workload to its end; false if a part of it failed.
pub fn run(arena: &Arena, nth: usize) -> bool {
    let instance = &arena.places.instances[nth];
    let record = &arena.processes[nth];
    let nice = arena.model.processes[instance.process].nice;
    // SAFETY: touches no memory.
    if nice != 0 && unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) } != 0 {
        record.nice_errno.store(errno() as u32, Relaxed);
    }
    std::thread::scope(|scope| {
        let mut handles = Vec::new();
        for place in places(arena, instance) {
            let builder = std::thread::Builder::new().stack_size(STACK_B);
            let body = AssertUnwindSafe(move || thread(arena, nth, place));
            let guarded = move || catch_unwind(body).unwrap_or_else(|_| fail(arena));
            match builder.spawn_scoped(scope, guarded) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    let errno = error.raw_os_error().unwrap_or(libc::EAGAIN);
                    record.thread_errno.store(errno as u32, Relaxed);
                    return fail(arena);
                }
            }
        }
        if arena.control().wait_for_measure() {
            let before = Usage::now();
            arena.control().sleep_until(arena.control().end_ns());
            if let (Some(before), Some(after)) = (before, Usage::now()) {
                record.note_cost(&before, &after);
            }
        }
        let mut ended = handles.into_iter().map(|handle| handle.join());
        ended.all(|whole| whole.unwrap_or(false))
    })
}

fn places<'a>(arena: &'a Arena, instance: &Instance) -> impl Iterator<Item = &'a Place> {
    arena.places.places[instance.places.clone()].iter()
}

/// One thread from its start to its end; false if it could not work.
fn thread(arena: &Arena, nth: usize, place: &Place) -> bool {
    let spec = &arena.model.processes[place.process].threads[place.thread];
    if let Some(Err(error)) = spec.ioprio.map(set_ioprio) {
        let errno = error.raw_os_error().unwrap_or(0);
        arena.processes[nth]
            .ioprio_errno
            .store(errno as u32, Relaxed);
    }
    let mut worker = match Worker::new(arena.environment(place)) {
        Ok(worker) => worker,
        Err(failure) => {
            say!("fsgreen-wml: {failure}");
            return fail(arena);
        }
    };
    if arena.control().wait_for_start() {
        worker.work();
        arena.end_thread(place);
    }
    true
}

/// Without one of its threads the run is not what was asked for.
fn fail(arena: &Arena) -> bool {
    arena.stop();
    false
}

/// Give the calling thread a level of the best-effort class.
fn set_ioprio(level: u8) -> io::Result<()> {
    // From linux/ioprio.h.
    const WHO_PROCESS: libc::c_int = 1;
    const CLASS_BEST_EFFORT: libc::c_int = 2;
    const CLASS_SHIFT: libc::c_int = 13;
    let priority = (CLASS_BEST_EFFORT << CLASS_SHIFT) | libc::c_int::from(level);
    // SAFETY: touches no memory; 0 is the calling thread.
    match unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, priority) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
