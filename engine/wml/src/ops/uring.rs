//! uringread, uringwrite, uringwait: reads and writes through an io_uring.
//!
//! An op begins when it is submitted and ends when the thread has its completion, and is counted
//! then. A flowop waits until fewer than its `value` are in flight, so that the default of 1 makes
//! it wait for its own op.

use super::Worker;
use super::data::stream_offset;
use super::outcome::{Done, Outcome, Undone, timed};
use super::ring::{Completion, Ring, Transfer};
use crate::clock::now_ns;
use crate::model::{Class, Flowop};

impl Worker<'_> {
    pub(super) fn uring_transfer(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let file = self.file(nth, flowop)?;
        let slot = self.slots.of(flowop);
        let class = flowop.operation.class();
        let length = flowop.iosize.draw(&mut self.env.stream);
        let depth = flowop.value.draw(&mut self.env.stream);
        let offset = if flowop.random {
            self.random_offset(flowop, length, file.size_b)
        } else if flowop.streams > 1 {
            let ring = self.ring.as_ref().expect("made with the worker");
            let turn = self.tally.of(nth).io_ops + ring.in_flight_of(nth);
            stream_offset(turn, flowop.streams, length, file.size_b)
        } else {
            // Where the file ends, its first empty read shows.
            self.slots.next_offset(slot, length, u64::MAX)
        };
        let data = match class {
            Class::Writes => self.some_data(file.fileset, length),
            _ => &[],
        };
        let ring = self.ring.as_mut().expect("made with the worker");
        let others = (depth.clamp(1, ring.depth()) - 1) as usize;
        self.reap(others);
        let ring = self.ring.as_mut().expect("made with the worker");
        ring.queue(Transfer {
            flowop: nth,
            class,
            slot,
            fd: file.fd,
            offset,
            length,
            done: 0,
            data,
            start_ns: now_ns(),
        });
        self.reap(others);
        Err(Undone::Passed)
    }

    /// Wait for everything that is in flight.
    pub(super) fn uring_wait(&mut self) -> Outcome {
        timed(|| {
            self.finish_uring();
            Ok(0)
        })
    }

    pub(super) fn finish_uring(&mut self) {
        if self.ring.is_some() {
            self.reap(0);
        }
    }

    /// Submit what is queued, wait until at most so many are in flight, and record what is
    /// complete.
    fn reap(&mut self, most: usize) {
        loop {
            let ring = self.ring.as_mut().expect("made with the worker");
            let excess = ring.in_flight().saturating_sub(most);
            if excess == 0 && !ring.has_unsubmitted() {
                return;
            }
            ring.enter(excess);
            self.now_ns = now_ns();
            while let Some(completion) = self.ring.as_mut().and_then(Ring::completed) {
                self.record_completion(completion);
            }
        }
    }

    fn record_completion(&mut self, completion: Completion) {
        let (transfer, outcome) = match completion {
            Completion::Again => return,
            Completion::Failed(transfer, errno) => (transfer, Err(Undone::Failed(errno))),
            Completion::Whole(transfer) => {
                let done = Done {
                    start_ns: transfer.start_ns,
                    end_ns: self.now_ns,
                    bytes: transfer.done,
                };
                (transfer, Ok(done))
            }
        };
        let met_end = transfer.class == Class::Reads && transfer.done == 0;
        if met_end && outcome.is_ok() && transfer.length > 0 {
            self.slots.rewind(transfer.slot);
        }
        self.record(transfer.flowop, transfer.class, outcome);
    }
}
