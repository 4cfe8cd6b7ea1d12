//! The host's side of a device: a scheduler that decides which request the device gets next.

pub mod fifo;
pub mod scheduler;
pub mod station;

pub use scheduler::{Choice, Request, Scheduler};
pub use station::Station;
