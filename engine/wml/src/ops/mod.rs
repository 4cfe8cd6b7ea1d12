//! The flowops: what one thread does, one operation at a time.
//!
//! An op's latency encloses its system calls only: picking a file, building its path and making
//! ready what the calls need come before. Nothing on the way of an op is locked against all other
//! threads, and nothing is allocated.

mod aio;
mod arrivals;
mod attributes;
mod buffer;
mod copy;
mod data;
mod devices;
mod directories;
mod dispatch;
mod gates;
mod limits;
mod mapped;
mod metadata;
mod names;
mod opening;
mod outcome;
mod pools;
mod ring;
mod say;
mod sigbus;
mod slots;
mod sync;
mod system;
mod uring;
mod worker;

pub use arrivals::Schedule;
pub use gates::{GatePair, Gates};
pub use pools::Pools;
pub use worker::Worker;

use crate::failure::Failure;
use crate::fileset::Files;
use crate::model::{Model, Quit, Thread};
use crate::random::Stream;
use crate::record::ThreadRecord;
use crate::shared::{Budget, Control};

/// What a thread of the workload is given.
pub struct Environment<'a> {
    pub thread: &'a Thread,
    pub files: &'a [Files],
    pub control: &'a Control,
    pub budget: &'a Budget,
    /// Events per second of all limiters together; 0 is no limit.
    pub rate: f64,
    pub quit: Quit,
    pub record: ThreadRecord<'a>,
    pub gates: Gates<'a>,
    pub stream: Stream,
    /// When the passes of an open loop start.
    pub schedule: Option<Schedule>,
    /// Its place among all threads of the run.
    pub number: u64,
    /// What it writes.
    pub data: &'a Pools,
}

/// Refuse a model that this machine cannot run as it says, before anything is started.
pub fn check(model: &Model, files: &[Files]) -> Result<(), Failure> {
    ring::check_kernel(model)?;
    devices::check(model, files)
}
