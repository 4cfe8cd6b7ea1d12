//! One thread of the workload: its passes, what it records, and what ends it.

use std::convert::Infallible;
use std::ops::ControlFlow::{self, Break, Continue};

use super::aio::Aio;
use super::arrivals::Schedule;
use super::buffer::{Buffer, buffer_size};
use super::outcome::{Outcome, Undone};
use super::ring::Ring;
use super::say::Moments;
use super::slots::Slots;
use super::{Environment, sigbus, system};
use crate::clock::now_ns;
use crate::failure::Failure;
use crate::fileset::{OwnRotors, Selector};
use crate::model::{Class, Node, Operation, Quit};
use crate::shared::Lease;

/// What a flowop has done since the start, for limiters and goals.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    pub work_ops: u64,
    pub io_ops: u64,
    pub bytes: u64,
}

impl Progress {
    fn add(&mut self, class: Class, bytes: u64) {
        self.work_ops += u64::from(class != Class::Other);
        self.io_ops += u64::from(matches!(class, Class::Reads | Class::Writes));
        self.bytes += bytes;
    }
}

/// One thread of the workload with all that it works on.
pub struct Worker<'a> {
    pub(super) env: Environment<'a>,
    pub(super) slots: Slots,
    /// Of each flowop with a fileset.
    pub(super) selectors: Vec<Option<Selector>>,
    /// Of each fileset.
    pub(super) rotors: Vec<OwnRotors>,
    pub(super) buffer: Buffer,
    /// The path that the next system call takes.
    pub(super) path: Vec<u8>,
    /// The second path of a call that takes two.
    pub(super) new_path: Vec<u8>,
    pub(super) aio: Option<Aio>,
    pub(super) ring: Option<Ring<'a>>,
    /// Of each flowop, as are the next two.
    pub(super) progress: Vec<Progress>,
    /// What limiters have charged so far.
    pub(super) charged: Vec<f64>,
    pub(super) moments: Vec<Moments>,
    pub(super) total: Progress,
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
        let aio = has(Operation::AioWrite).then(|| Aio::new(env.data));
        let selectors = flowops.iter().map(|flowop| {
            let fileset = flowop.fileset?;
            Some(Selector::new(flowop, &env.files[fileset]))
        });
        Ok(Self {
            slots: Slots::default(),
            selectors: selectors.collect(),
            rotors: env.files.iter().map(|_| OwnRotors::default()).collect(),
            buffer: Buffer::zeroed(buffer_size(env.thread))?,
            path: Vec::with_capacity(libc::PATH_MAX as usize),
            new_path: Vec::with_capacity(libc::PATH_MAX as usize),
            aio: aio.transpose()?,
            ring: Ring::of(env.thread)?,
            progress: vec![Progress::default(); flowops.len()],
            charged: vec![0.0; flowops.len()],
            moments: vec![Moments::default(); flowops.len()],
            total: Progress::default(),
            lease: Lease::default(),
            now_ns: 0,
            env,
        })
    }

    /// Do passes until the run is over or this thread has reached its goal.
    pub fn work(&mut self) {
        self.now_ns = now_ns();
        self.await_first_pass();
        let Break(()) = match self.env.schedule.take() {
            Some(schedule) => self.open_loop(schedule),
            None => self.closed_loop(),
        };
        self.finish_asynchronous();
        self.env.control.note_end(now_ns());
        self.say_moments();
    }

    /// Each pass starts when the one before has ended.
    fn closed_loop(&mut self) -> ControlFlow<(), Infallible> {
        loop {
            self.pass(&self.env.thread.body)?;
        }
    }

    /// Each pass starts at its intended time, or at once if that is over.
    fn open_loop(&mut self, mut schedule: Schedule) -> ControlFlow<(), Infallible> {
        let control = self.env.control;
        loop {
            let intended_ns = control.start_ns().saturating_add(schedule.next_ns());
            if self.now_ns < intended_ns {
                control.sleep_until(intended_ns.min(control.end_ns()));
                self.now_ns = now_ns();
            }
            self.pass(&self.env.thread.body)?;
            self.env.record.request(control, intended_ns, self.now_ns);
        }
    }

    /// Go through a body once; breaks if the thread has to end.
    fn pass(&mut self, body: &'a [Node]) -> ControlFlow<()> {
        // Also where nothing below asks.
        self.go_on()?;
        let thread = self.env.thread;
        for node in body {
            match node {
                Node::Flowop(nth) => {
                    let flowop = &thread.flowops[*nth];
                    for _ in 0..flowop.iters.draw(&mut self.env.stream) {
                        let outcome = self.execute(*nth, flowop);
                        self.account(*nth, flowop.operation.class(), outcome)?;
                    }
                }
                Node::Composite { iters, body } => {
                    for _ in 0..iters.draw(&mut self.env.stream) {
                        self.pass(body)?;
                    }
                }
            }
        }
        Continue(())
    }

    /// Breaks if the run was over when the last op ended.
    fn go_on(&self) -> ControlFlow<()> {
        let control = self.env.control;
        if self.now_ns < control.end_ns() && !control.stopped() {
            Continue(())
        } else {
            Break(())
        }
    }

    /// Record an outcome; breaks if the thread has to end.
    fn account(&mut self, nth: usize, class: Class, outcome: Outcome) -> ControlFlow<()> {
        match outcome {
            Ok(done) => self.now_ns = done.end_ns,
            Err(Undone::Passed | Undone::Finished) => {}
            Err(_) => self.now_ns = now_ns(),
        }
        self.record(nth, class, outcome);
        match outcome {
            Err(Undone::Finished) => return Break(()),
            Err(Undone::Exhausted) if self.env.quit != Quit::Timeout => return Break(()),
            // Whoever holds the files should get on.
            Err(Undone::Skipped | Undone::Exhausted) => std::thread::yield_now(),
            _ => {}
        }
        self.go_on()
    }

    /// Record the outcome of an op, which may have ended some time ago.
    pub(super) fn record(&mut self, nth: usize, class: Class, outcome: Outcome) {
        let (control, record) = (self.env.control, &self.env.record);
        match outcome {
            Ok(done) => {
                self.progress[nth].add(class, done.bytes);
                self.total.add(class, done.bytes);
                record.done(control, nth, class, done.start_ns, done.end_ns, done.bytes);
            }
            Err(Undone::Failed(errno)) => record.failed(control, nth, self.now_ns, errno),
            Err(Undone::Skipped | Undone::Exhausted) => record.skipped(control, nth, self.now_ns),
            Err(Undone::Passed | Undone::Finished) => {}
        }
    }

    /// Wait for everything that is under way.
    pub(super) fn finish_asynchronous(&mut self) {
        self.finish_aio();
        self.finish_uring();
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.slots.clear_all(self.env.files);
    }
}
