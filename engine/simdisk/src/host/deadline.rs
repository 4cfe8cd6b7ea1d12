//! A model of Linux' deadline scheduler.

use crate::device::Action;
use crate::host::sorted::{Aged, Key};
use crate::host::{Choice, Request, Scheduler};
use crate::time::Ns;

/// A read is due so long after it came, a write so. Nanoseconds; `read_expire`, `write_expire`.
pub const READ_EXPIRE_NS: Ns = 500_000_000;
pub const WRITE_EXPIRE_NS: Ns = 5_000_000_000;
/// Requests that go out by place before the ages are looked at again; `fifo_batch`.
pub const FIFO_BATCH: u32 = 16;
/// Batches of reads that may pass waiting writes; `writes_starved`.
pub const WRITES_STARVED: u32 = 2;

/// Sends batches of reads or of writes by rising place. A batch begins with the oldest request if
/// that is overdue, else where the last batch of its kind ended.
///
/// Models `block/mq-deadline.c` of Linux 6 with its defaults. Left out: merging of neighbours,
/// priority classes and their ageing, zoned devices, the limit of asynchronous requests.
#[derive(Debug)]
pub struct Deadline {
    reads: Kind,
    writes: Kind,
    /// The kind of the batch that goes on, and how much of it is sent.
    writing: bool,
    batched: u32,
    starved: u32,
}

/// The requests of one kind.
#[derive(Debug)]
struct Kind {
    requests: Aged,
    expire_ns: Ns,
    /// Where its last request began.
    sector: u64,
}

impl Kind {
    fn new(expire_ns: Ns) -> Self {
        Self {
            requests: Aged::default(),
            expire_ns,
            sector: 0,
        }
    }

    fn is_empty(&self) -> bool {
        self.requests.sorted.is_empty()
    }

    fn onward(&self) -> Option<Key> {
        self.requests.sorted.from(self.sector)
    }

    /// What a batch begins with.
    fn begin(&mut self, at: Ns) -> Option<Key> {
        let overdue = self.requests.expired(at, self.expire_ns);
        overdue
            .or_else(|| self.onward())
            .or_else(|| self.requests.oldest().map(|(_, key)| key))
    }

    fn send(&mut self, key: Key) -> Choice {
        self.sector = key.0;
        let request = self.requests.sorted.remove(key);
        request.map_or(Choice::Nothing, Choice::Send)
    }
}

impl Default for Deadline {
    fn default() -> Self {
        Self {
            reads: Kind::new(READ_EXPIRE_NS),
            writes: Kind::new(WRITE_EXPIRE_NS),
            writing: false,
            batched: FIFO_BATCH,
            starved: 0,
        }
    }
}

impl Deadline {
    fn kind(&mut self) -> &mut Kind {
        if self.writing {
            &mut self.writes
        } else {
            &mut self.reads
        }
    }

    /// Decide whether the next batch is of writes.
    fn turn_to_writes(&mut self) -> bool {
        if self.reads.is_empty() {
            self.starved = 0;
            return true;
        }
        if self.writes.is_empty() {
            return false;
        }
        let are_starved = self.starved >= WRITES_STARVED;
        self.starved = if are_starved { 0 } else { self.starved + 1 };
        are_starved
    }
}

impl Scheduler for Deadline {
    fn add(&mut self, at: Ns, request: Request) {
        let kind = match request.command.action {
            Action::Write => &mut self.writes,
            _ => &mut self.reads,
        };
        kind.requests.add(at, request);
    }

    fn take(&mut self, at: Ns) -> Choice {
        if self.waiting() == 0 {
            return Choice::Nothing;
        }
        if self.batched < FIFO_BATCH {
            if let Some(key) = self.kind().onward() {
                self.batched += 1;
                return self.kind().send(key);
            }
        }
        self.writing = self.turn_to_writes();
        self.batched = 1;
        let kind = self.kind();
        kind.begin(at).map_or(Choice::Nothing, |key| kind.send(key))
    }

    fn completed(&mut self, _: Ns, _: &Request) {}

    fn waiting(&self) -> usize {
        self.reads.requests.sorted.len() + self.writes.requests.sorted.len()
    }
}
