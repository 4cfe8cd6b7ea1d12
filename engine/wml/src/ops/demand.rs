//! How much memory the buffers of a model may take.

use super::buffer::buffer_size;
use super::{pools, ring};
use crate::model::{Model, Process, Thread};

/// The most that the buffers of all processes take, with what they write from.
pub fn buffers_b(model: &Model) -> u64 {
    let processes = model.processes.iter().map(of_process);
    processes.fold(pools::size_b(model), u64::saturating_add)
}

fn of_process(process: &Process) -> u64 {
    let threads = process.threads.iter().map(of_threads);
    let all_b = threads.fold(0, u64::saturating_add);
    process.instances.saturating_mul(all_b)
}

/// Of all instances of a thread in a process.
fn of_threads(thread: &Thread) -> u64 {
    let each_b = (buffer_size(thread) as u64).saturating_add(ring::buffers_b(thread));
    thread.instances.saturating_mul(each_b)
}
