//! Asynchronous writes: a few helper threads per thread that has an `aiowrite`.
//!
//! Helpers rather than Linux AIO or io_uring: the first is synchronous on buffered files, the
//! second is switched off in many containers. An op begins at its submission, ends when its write
//! is complete, and is recorded when the thread next reaps.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

use super::data::write_all_at;
use super::system::Fd;
use super::{Outcome, Worker, timed};
use crate::clock::now_ns;
use crate::model::{Class, Flowop};

/// Writes of one thread that are under way at the same time.
const HELPERS: usize = 8;
/// Submissions that wait for a helper; a thread that never reaps waits here.
const MAX_OUTSTANDING: usize = 128;
const STACK_B: usize = 64 * 1024;

struct Job {
    flowop: usize,
    fd: Fd,
    data: &'static [u8],
    offset: u64,
    start_ns: u64,
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

    fn serve(&self) {
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
            let outcome = match write_all_at(job.fd, job.data, job.offset) {
                Ok(bytes) => Outcome::Done {
                    start_ns: job.start_ns,
                    end_ns: now_ns(),
                    bytes,
                },
                Err(errno) => Outcome::Failed(errno),
            };
            queue = self.lock();
            queue.completions.push(Completion {
                flowop: job.flowop,
                outcome,
            });
            self.completed.notify_one();
        }
    }
}

pub struct Aio {
    exchange: Arc<Exchange>,
    outstanding: usize,
    helpers: Vec<JoinHandle<()>>,
}

impl Aio {
    pub fn new() -> Self {
        let exchange = Arc::new(Exchange::default());
        let helpers = (0..HELPERS).map(|_| {
            let exchange = Arc::clone(&exchange);
            let helper = std::thread::Builder::new().stack_size(STACK_B);
            helper
                .spawn(move || exchange.serve())
                .expect("a helper thread can be started")
        });
        Self {
            helpers: helpers.collect(),
            exchange,
            outstanding: 0,
        }
    }

    fn submit(&mut self, job: Job) {
        self.exchange.lock().jobs.push_back(job);
        self.exchange.submitted.notify_one();
        self.outstanding += 1;
    }

    /// Wait until at least `n` are complete, and take all that are.
    fn reap(&mut self, n: usize) -> Vec<Completion> {
        let mut queue = self.exchange.lock();
        while queue.completions.len() < n {
            queue = self
                .exchange
                .completed
                .wait(queue)
                .expect("helpers do not panic");
        }
        let completions = std::mem::take(&mut queue.completions);
        self.outstanding -= completions.len();
        completions
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
        let file = match self.file(flowop) {
            Ok(file) => file,
            Err(outcome) => return outcome,
        };
        let iosize = flowop.iosize.draw(&mut self.env.stream);
        let offset = self.random_offset(flowop, iosize, file.size_b);
        let data = self.some_data(iosize);
        let aio = self.aio.as_mut().expect("made with the worker");
        aio.submit(Job {
            flowop: nth,
            fd: file.fd,
            data,
            offset,
            start_ns: now_ns(),
        });
        if aio.outstanding >= MAX_OUTSTANDING {
            self.settle_aio(1);
        }
        Outcome::Passed
    }

    /// Wait for half of the outstanding writes.
    pub(super) fn aio_wait(&mut self) -> Outcome {
        let half = self
            .aio
            .as_ref()
            .map_or(0, |aio| aio.outstanding.div_ceil(2));
        timed(|| {
            self.settle_aio(half);
            Ok(0)
        })
    }

    /// Wait for all outstanding writes.
    pub(super) fn finish_aio(&mut self) {
        let all = self.aio.as_ref().map_or(0, |aio| aio.outstanding);
        if all > 0 {
            self.settle_aio(all);
        }
    }

    fn settle_aio(&mut self, n: usize) {
        let completions = self.aio.as_mut().map_or_else(Vec::new, |aio| aio.reap(n));
        for Completion { flowop, outcome } in completions {
            self.account(flowop, Class::Writes, &outcome);
        }
    }
}
