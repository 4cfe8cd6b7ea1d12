//! One thread of the workload: what it works on, and what it records.

use super::buffer::{Buffer, buffer_size};
use super::environment::Environment;
use super::helpers::{Helpers, has_helpers};
use super::moments::Moments;
use super::outcome::{Outcome, Undone};
use super::pools::Way;
use super::ring::Ring;
use super::slots::Slots;
use super::tally::Tally;
use super::{sigbus, system};
use crate::failure::Failure;
use crate::fileset::OwnRotors;
use crate::model::{Class, Operation};
use crate::shared::Lease;

/// One thread of the workload with all that it works on.
pub struct Worker<'a> {
    pub(super) env: Environment<'a>,
    pub(super) slots: Slots,
    /// Of each fileset.
    pub(super) rotors: Vec<OwnRotors>,
    pub(super) buffer: Buffer,
    /// Through what it writes.
    pub(super) way: Way,
    /// The path that the next system call takes.
    pub(super) path: Vec<u8>,
    /// The second path of a call that takes two.
    pub(super) new_path: Vec<u8>,
    pub(super) aio: Option<Helpers>,
    pub(super) ring: Option<Ring<'a>>,
    pub(super) tally: Tally,
    /// What limiters have charged so far, of each flowop, as is the next.
    pub(super) charged: Vec<f64>,
    pub(super) moments: Vec<Moments>,
    pub(super) lease: Lease,
    /// When the last op ended.
    pub(super) now_ns: u64,
}

impl<'a> Worker<'a> {
    /// A worker whose memory has been touched. Fails if the kernel refuses what it needs.
    pub fn new(env: Environment<'a>) -> Result<Self, Failure> {
        env.record.touch();
        system::wake_on_time();
        let flowops = &env.thread.flowops;
        let has = |operation| flowops.iter().any(|flowop| flowop.operation == operation);
        if has(Operation::MmapRead) || has(Operation::MmapWrite) {
            sigbus::install();
        }
        let aio = has_helpers(env.thread).then(|| Helpers::new(env.data));
        Ok(Self {
            slots: Slots::default(),
            rotors: env.files.iter().map(|_| OwnRotors::default()).collect(),
            buffer: Buffer::zeroed(buffer_size(env.thread))?,
            way: Way::default(),
            path: Vec::with_capacity(libc::PATH_MAX as usize),
            new_path: Vec::with_capacity(libc::PATH_MAX as usize),
            aio: aio.transpose()?,
            ring: Ring::of(env.thread)?,
            tally: Tally::new(env.thread, env.rate > 0.0),
            charged: vec![0.0; flowops.len()],
            moments: vec![Moments::default(); flowops.len()],
            lease: Lease::default(),
            now_ns: 0,
            env,
        })
    }

    /// Record the outcome of an op, which may have ended some time ago.
    pub(super) fn record(&mut self, nth: usize, class: Class, outcome: Outcome) {
        let (control, record) = (self.env.control, &self.env.record);
        match outcome {
            Ok(done) => {
                self.tally.add(nth, class, done.bytes);
                if let Some(work) = self.env.work {
                    work.add(u64::from(class != Class::Other), done.bytes);
                }
                record.done(control, nth, class, done.start_ns, done.end_ns, done.bytes);
            }
            Err(Undone::Failed(errno)) => record.failed(control, nth, self.now_ns, errno),
            Err(Undone::Skipped | Undone::Exhausted) => record.skipped(control, nth, self.now_ns),
            Err(Undone::Passed | Undone::Finished) => {}
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.slots.clear_all(self.env.files);
    }
}
