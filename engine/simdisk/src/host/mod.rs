//! The host's side of a device: a scheduler that decides which request the device gets next.

mod bfq;
mod cfq;
mod deadline;
mod elevator;
mod fifo;
mod ncscan;
mod process;
pub mod request_queue;
pub mod scheduler;
mod sorted;
mod sstf;

pub use bfq::Bfq;
pub use cfq::Cfq;
pub use deadline::Deadline;
pub use elevator::Elevator;
pub use fifo::Fifo;
pub use ncscan::NCscan;
pub use request_queue::{RequestQueue, Sent, Served};
pub use scheduler::{Choice, Request, Scheduler};
pub use sstf::Sstf;

use crate::profile::Fault;

/// The names of all schedulers.
pub const SCHEDULERS: [&str; 7] = [
    "fifo", "elevator", "n-cscan", "sstf", "deadline", "cfq", "bfq",
];

/// A new scheduler by its name, one of [`SCHEDULERS`].
///
/// # Errors
/// If there is no scheduler of this name.
pub fn scheduler_by_name(name: &str) -> Result<Box<dyn Scheduler>, Fault> {
    Ok(match name {
        "fifo" => Box::new(Fifo::default()),
        "elevator" => Box::new(Elevator::default()),
        "n-cscan" => Box::new(NCscan::default()),
        "sstf" => Box::new(Sstf::default()),
        "deadline" => Box::new(Deadline::default()),
        "cfq" => Box::new(Cfq::default()),
        "bfq" => Box::new(Bfq::default()),
        _ => {
            return Err(Fault::new(
                format!("there is no scheduler '{name}'"),
                "scheduler",
                format!("take one of {}", SCHEDULERS.join(", ")),
            ));
        }
    })
}
