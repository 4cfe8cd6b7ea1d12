//! Threads that write for a thread that has an `aiowrite`, while it goes on.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

use super::buffer::Buffer;
use super::outcome::{Done, Outcome, Undone};
use super::pieces::write_pieces;
use super::pools::{self, Piece, Pools};
use super::system::{self, Fd};
use crate::clock::now_ns;
use crate::failure::Failure;
use crate::model::{Operation, Thread};

/// Writes of one thread that are under way at the same time.
pub const HELPERS: usize = 8;
const STACK_B: usize = 64 * 1024;

/// Whether a thread has helpers.
pub fn has_helpers(thread: &Thread) -> bool {
    let mut flowops = thread.flowops.iter();
    flowops.any(|flowop| flowop.operation == Operation::AioWrite)
}

pub struct Job {
    pub flowop: usize,
    pub fd: Fd,
    pub data: Piece,
    pub offset: u64,
    pub length: u64,
    pub start_ns: u64,
}

impl Job {
    fn write(&self, buffers: &[Buffer]) -> Completion {
        let data = pools::bytes(buffers, self.data);
        let written = write_pieces(data, self.length, |piece, done| {
            system::write_at(self.fd, piece, self.offset + done)
        });
        let done = |bytes| Done {
            start_ns: self.start_ns,
            end_ns: now_ns(),
            bytes,
        };
        Completion {
            flowop: self.flowop,
            outcome: written.map(done).map_err(Undone::Failed),
        }
    }
}

pub struct Completion {
    pub flowop: usize,
    pub outcome: Outcome,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    completions: Vec<Completion>,
    closed: bool,
}

#[derive(Default)]
struct Exchange {
    queue: Mutex<Queue>,
    submitted: Condvar,
    completed: Condvar,
}

impl Exchange {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("helpers do not panic")
    }

    fn serve(&self, buffers: &[Buffer]) {
        let mut queue = self.lock();
        loop {
            let Some(job) = queue.jobs.pop_front() else {
                if queue.closed {
                    return;
                }
                queue = self.submitted.wait(queue).expect("helpers do not panic");
                continue;
            };
            drop(queue);
            let completion = job.write(buffers);
            queue = self.lock();
            queue.completions.push(completion);
            self.completed.notify_one();
        }
    }
}

pub struct Helpers {
    exchange: Arc<Exchange>,
    buffers: Arc<[Buffer]>,
    pub outstanding: usize,
    /// Submitted, and no helper has been told.
    unseen: usize,
    threads: Vec<JoinHandle<()>>,
    /// Taken from the queue and about to be recorded; kept, so that nothing is allocated per op.
    pub reaped: Vec<Completion>,
}

impl Helpers {
    /// Fails if a helper cannot be started.
    pub fn new(data: &Pools) -> Result<Self, Failure> {
        let mut made = Self {
            exchange: Arc::new(Exchange::default()),
            buffers: data.buffers(),
            outstanding: 0,
            unseen: 0,
            threads: Vec::new(),
            reaped: Vec::new(),
        };
        for _ in 0..HELPERS {
            let (exchange, buffers) = (Arc::clone(&made.exchange), data.buffers());
            let helper = std::thread::Builder::new()
                .stack_size(STACK_B)
                .spawn(move || exchange.serve(&buffers))
                .map_err(|error| Failure::io("cannot start a helper thread of aiowrite", &error))?;
            made.threads.push(helper);
        }
        Ok(made)
    }

    /// Put a job into the queue; until [`Self::wake`] no helper takes it.
    pub fn submit(&mut self, job: Job) {
        self.exchange.lock().jobs.push_back(job);
        self.unseen += 1;
        self.outstanding += 1;
    }

    /// Have helpers take what was submitted, before this thread does anything but wait for it.
    pub fn wake(&mut self) {
        for _ in 0..std::mem::take(&mut self.unseen) {
            self.exchange.submitted.notify_one();
        }
    }

    /// Wait until at least `n` are complete, and take all that are. Meanwhile this thread does what
    /// no helper has taken: to wake one takes longer than most writes.
    pub fn reap(&mut self, n: usize) {
        if self.unseen > 1 {
            self.wake();
        }
        self.unseen = 0;
        let mut queue = self.exchange.lock();
        while queue.completions.len() < n {
            let Some(job) = queue.jobs.pop_front() else {
                queue = self
                    .exchange
                    .completed
                    .wait(queue)
                    .expect("helpers do not panic");
                continue;
            };
            drop(queue);
            let completion = job.write(&self.buffers);
            queue = self.exchange.lock();
            queue.completions.push(completion);
        }
        // What is left in the queue is for the helpers.
        let left = queue.jobs.len();
        std::mem::swap(&mut queue.completions, &mut self.reaped);
        drop(queue);
        self.unseen = left;
        self.outstanding -= self.reaped.len();
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        self.exchange.lock().closed = true;
        self.exchange.submitted.notify_all();
        for helper in self.threads.drain(..) {
            let _ = helper.join();
        }
    }
}
