//! Asynchronous writes: a few helper threads per thread that has an `aiowrite`.
//!
//! Helpers rather than Linux AIO or io_uring: the first is synchronous on buffered files, the
//! second is switched off in many containers. An op begins at its submission, ends when its write
//! is complete, and is recorded when the thread next reaps.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

use super::Worker;
use super::buffer::Buffer;
use super::data::write_pieces;
use super::outcome::{Done, Outcome, Undone, timed};
use super::pools::{self, Piece, Pools};
use super::system::{self, Fd};
use crate::clock::now_ns;
use crate::failure::Failure;
use crate::model::{Class, Flowop};

/// Writes of one thread that are under way at the same time.
const HELPERS: usize = 8;
/// Submissions that wait for a helper; a thread that never reaps waits here.
const MAX_OUTSTANDING: usize = 128;
const STACK_B: usize = 64 * 1024;

struct Job {
    flowop: usize,
    fd: Fd,
    data: Piece,
    offset: u64,
    length: u64,
    start_ns: u64,
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

struct Completion {
    flowop: usize,
    outcome: Outcome,
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

pub struct Aio {
    exchange: Arc<Exchange>,
    outstanding: usize,
    helpers: Vec<JoinHandle<()>>,
    /// Taken from the queue and about to be recorded; kept, so that nothing is allocated per op.
    reaped: Vec<Completion>,
}

impl Aio {
    /// Fails if a helper cannot be started.
    pub fn new(data: &Pools) -> Result<Self, Failure> {
        let mut aio = Self {
            exchange: Arc::new(Exchange::default()),
            outstanding: 0,
            helpers: Vec::new(),
            reaped: Vec::new(),
        };
        for _ in 0..HELPERS {
            let (exchange, buffers) = (Arc::clone(&aio.exchange), data.buffers());
            let helper = std::thread::Builder::new()
                .stack_size(STACK_B)
                .spawn(move || exchange.serve(&buffers))
                .map_err(|error| Failure::io("cannot start a helper thread of aiowrite", &error))?;
            aio.helpers.push(helper);
        }
        Ok(aio)
    }

    fn submit(&mut self, job: Job) {
        self.exchange.lock().jobs.push_back(job);
        self.exchange.submitted.notify_one();
        self.outstanding += 1;
    }

    /// Wait until at least `n` are complete, and take all that are.
    fn reap(&mut self, n: usize) {
        let mut queue = self.exchange.lock();
        while queue.completions.len() < n {
            queue = self
                .exchange
                .completed
                .wait(queue)
                .expect("helpers do not panic");
        }
        std::mem::swap(&mut queue.completions, &mut self.reaped);
        self.outstanding -= self.reaped.len();
    }
}

impl Drop for Aio {
    fn drop(&mut self) {
        self.exchange.lock().closed = true;
        self.exchange.submitted.notify_all();
        for helper in self.helpers.drain(..) {
            let _ = helper.join();
        }
    }
}

impl Worker<'_> {
    pub(super) fn aio_write(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let file = self.file(nth, flowop)?;
        let iosize = flowop.iosize.draw(&mut self.env.stream);
        let offset = self.random_offset(flowop, iosize, file.size_b);
        let data = self.some_piece(file.fileset, iosize);
        self.now_ns = now_ns();
        let aio = self.aio.as_mut().expect("made with the worker");
        aio.submit(Job {
            flowop: nth,
            fd: file.fd,
            data,
            offset,
            length: iosize,
            start_ns: self.now_ns,
        });
        if aio.outstanding >= MAX_OUTSTANDING {
            self.settle_aio(1);
        }
        Err(Undone::Passed)
    }

    /// Wait for half of the outstanding writes.
    pub(super) fn aio_wait(&mut self) -> Outcome {
        let outstanding = self.aio.as_ref().map_or(0, |aio| aio.outstanding);
        timed(|| {
            self.settle_aio(outstanding.div_ceil(2));
            Ok(0)
        })
    }

    /// Wait for all outstanding writes.
    pub(super) fn finish_aio(&mut self) {
        let outstanding = self.aio.as_ref().map_or(0, |aio| aio.outstanding);
        if outstanding > 0 {
            self.settle_aio(outstanding);
        }
    }

    fn settle_aio(&mut self, n: usize) {
        let Some(aio) = self.aio.as_mut() else { return };
        aio.reap(n);
        let mut reaped = std::mem::take(&mut aio.reaped);
        self.now_ns = now_ns();
        for Completion { flowop, outcome } in reaped.drain(..) {
            self.record(flowop, Class::Writes, outcome);
        }
        if let Some(aio) = self.aio.as_mut() {
            aio.reaped = reaped;
        }
    }
}
