//! Flowops that pace a thread, idle, burn time, or end it.

use super::Worker;
use super::outcome::{Done, Outcome, Undone, timed_call};
use super::tally::Progress;
use crate::clock::{from_seconds, now_ns};
use crate::model::{Flowop, Node, Operation, Thread};

/// Bytes of one event of `bwlimit`.
const EVENT_B: f64 = 1048576.0;

impl<'a> Worker<'a> {
    /// Take one event before the work that follows.
    pub(super) fn limit_events(&mut self) -> Outcome {
        let outcome = self.have(1.0);
        if outcome.is_ok() {
            self.lease.spend(1.0);
        }
        outcome
    }

    /// Charge what was done since this limiter's last call, and wait until as much may be done
    /// again. The budget is common to all threads, so that its rate limits their sum although each
    /// charges only its own work.
    pub(super) fn limit_work(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        if !self.is_limited() {
            return Err(Undone::Passed);
        }
        let work = self.work_of(flowop);
        let events = match flowop.operation {
            Operation::IopsLimit => work.io_ops as f64,
            Operation::BwLimit => work.bytes as f64 / EVENT_B,
            _ => work.work_ops as f64,
        };
        let since = events - std::mem::replace(&mut self.charged[nth], events);
        self.lease.spend(since);
        self.have(since)
    }

    /// Wait until the first pass may begin: what its limiters will charge is taken in advance, so
    /// that all threads together keep to the rate from the first moment on.
    pub(super) fn await_first_pass(&mut self) {
        let thread = self.env.thread;
        let limiters = thread.flowops.iter().filter(|flowop| {
            use Operation as O;
            matches!(flowop.operation, O::OpsLimit | O::IopsLimit | O::BwLimit)
        });
        let first: f64 = limiters.map(|limiter| self.usual_charge(limiter)).sum();
        if first > 0.0 {
            if let Ok(done) = self.have(first) {
                self.now_ns = done.end_ns;
            }
        }
    }

    /// What a limiter charges in the mean.
    fn usual_charge(&self, limiter: &Flowop) -> f64 {
        let thread = self.env.thread;
        let is_charged = |nth: usize| {
            let mut targets = limiter.targets.iter();
            limiter.targets.is_empty() || targets.any(|target| target.flowop == nth)
        };
        let charge = |nth: usize| {
            let flowop = &thread.flowops[nth];
            let transfers = flowop.operation.transfers();
            match limiter.operation {
                _ if !is_charged(nth) => 0.0,
                Operation::BwLimit if transfers => self.usual_bytes(flowop) / EVENT_B,
                Operation::IopsLimit if transfers => 1.0,
                Operation::OpsLimit if flowop.operation.is_counted() => 1.0,
                _ => 0.0,
            }
        };
        let calls = |nth: usize| f64::from(std::ptr::eq(&thread.flowops[nth], limiter));
        sum_of_pass(thread, &thread.body, &charge)
            / sum_of_pass(thread, &thread.body, &calls).max(1.0)
    }

    fn usual_bytes(&self, flowop: &Flowop) -> f64 {
        match (flowop.iosize.mean(), flowop.fileset) {
            (0.0, Some(fileset)) => self.files(fileset).fileset.size.mean(),
            (iosize, _) => iosize,
        }
    }

    /// Whether limiters do anything.
    fn is_limited(&self) -> bool {
        self.env.rate > 0.0
    }

    /// Have events of the common budget to spend, waiting for them. Without a rate this is no op.
    fn have(&mut self, events: f64) -> Outcome {
        if !self.is_limited() {
            return Err(Undone::Passed);
        }
        if self.lease.has(events) {
            return Ok(Done {
                start_ns: self.now_ns,
                end_ns: self.now_ns,
                bytes: 0,
            });
        }
        let lease = &mut self.lease;
        timed_call(|| {
            let until = lease.refill(self.env.budget, events, self.env.rate, now_ns());
            self.env.control.sleep_until(until);
            Ok(())
        })
    }

    /// What this thread, or its flowops that are the target, have done since the start.
    fn work_of(&self, flowop: &Flowop) -> Progress {
        if flowop.targets.is_empty() {
            return self.tally.total();
        }
        let targets = flowop.targets.iter();
        targets.fold(Progress::default(), |mut sum, target| {
            sum.add(self.tally.of(target.flowop));
            sum
        })
    }

    /// End this thread if its target, or without one its whole process, has done enough.
    pub(super) fn finish_on(&mut self, flowop: &Flowop) -> Outcome {
        let goal = flowop.value.draw(&mut self.env.stream);
        let (work_ops, bytes) = match self.env.work {
            Some(work) if flowop.targets.is_empty() => (work.work_ops(), work.bytes()),
            _ => {
                let work = self.work_of(flowop);
                (work.work_ops, work.bytes)
            }
        };
        let is_reached = match flowop.operation {
            Operation::FinishOnBytes => bytes > goal,
            _ => work_ops >= goal,
        };
        Err(if is_reached {
            Undone::Finished
        } else {
            Undone::Passed
        })
    }

    /// Store `value` single bytes into the thread's buffer.
    pub(super) fn hog(&mut self, flowop: &Flowop) -> Outcome {
        let stores = flowop.value.draw(&mut self.env.stream);
        timed_call(|| {
            self.buffer.store_bytes(stores as usize);
            Ok(())
        })
    }

    /// Sleep `value` seconds; fractions are kept.
    pub(super) fn delay(&mut self, flowop: &Flowop) -> Outcome {
        let seconds = flowop.value.draw_exact(&mut self.env.stream);
        timed_call(|| {
            let until = now_ns() + from_seconds(seconds);
            self.env.control.sleep_until(until);
            Ok(())
        })
    }
}

/// The sum of a value of each flowop over one pass, in the mean.
fn sum_of_pass(thread: &Thread, body: &[Node], value: &impl Fn(usize) -> f64) -> f64 {
    let sums = body.iter().map(|node| match node {
        Node::Flowop(nth) => thread.flowops[*nth].iters.mean() * value(*nth),
        Node::Composite { iters, body } => iters.mean() * sum_of_pass(thread, body, value),
    });
    sums.sum()
}
