//! The flowops: what one thread does, one operation at a time.
//!
//! An op's latency encloses its system calls only: picking a file, building its path and making
//! ready what the calls need come before. Nothing on the way of an op is locked against all other
//! threads, and nothing is allocated.
//!
//! From the bottom: `system`, `outcome`, and what a worker owns (`slots`, `view`, `pools`, `ring`,
//! `helpers`, `gates`, `moments`, `tally`); `worker`; the flowops, each a method of it; `dispatch`,
//! `passes`.

mod aio;
mod arrivals;
mod attributes;
mod buffer;
mod copy;
mod data;
mod demand;
mod devices;
mod directories;
mod dispatch;
mod environment;
mod gates;
mod helpers;
mod limits;
mod mapped;
mod metadata;
mod moments;
mod names;
mod opening;
mod outcome;
mod outstanding;
mod passes;
mod pieces;
mod pools;
mod ring;
mod say;
mod semaphores;
mod sigbus;
mod slots;
mod sync;
mod system;
mod tally;
mod uring;
mod view;
mod worker;

pub use arrivals::Schedule;
pub use demand::buffers_b;
pub use devices::hold as hold_devices;
pub use environment::Environment;
pub use gates::{GatePair, Gates};
pub use helpers::{HELPERS, has_helpers};
pub use pools::Pools;
pub use worker::Worker;

use crate::failure::Failure;
use crate::fileset::Files;
use crate::model::Model;

/// Refuse a model that this machine cannot run as it says, before anything is started.
pub fn check(model: &Model, files: &[Files]) -> Result<(), Failure> {
    ring::check_kernel(model)?;
    devices::check(model, files)
}
