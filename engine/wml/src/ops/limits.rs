//! Flowops that pace a thread, idle, burn time, or end it.

use super::Worker;
use super::outcome::{Done, Outcome, Undone, timed_call};
use super::worker::Progress;
use crate::clock::{from_seconds, now_ns};
use crate::model::{Flowop, Operation};

/// Bytes of one event of `bwlimit`.
const EVENT_B: f64 = 1048576.0;

impl Worker<'_> {
    /// Take one event before the work that follows.
    pub(super) fn limit_events(&mut self) -> Outcome {
        self.limit(1.0, |(begin, _)| begin)
    }

    /// Charge what was done since this limiter's last call, and wait until it is paid for. The
    /// budget is common to all threads, so that its rate limits their sum although each charges
    /// only its own work.
    pub(super) fn limit_work(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let work = self.work_of(flowop);
        let events = match flowop.operation {
            Operation::IopsLimit => work.io_ops as f64,
            Operation::BwLimit => work.bytes as f64 / EVENT_B,
            _ => work.work_ops as f64,
        };
        let since = events - std::mem::replace(&mut self.charged[nth], events);
        self.limit(since, |(_, end)| end)
    }

    /// Use events of the common budget and wait for one end of their time. Without a rate this is
    /// no op.
    fn limit(&mut self, events: f64, until: impl Fn((u64, u64)) -> u64) -> Outcome {
        let rate = self.env.rate;
        if rate <= 0.0 {
            return Err(Undone::Passed);
        }
        if self.lease.covers(events) {
            return Ok(Done {
                start_ns: self.now_ns,
                end_ns: self.now_ns,
                bytes: 0,
            });
        }
        let lease = &mut self.lease;
        timed_call(|| {
            let time = lease.renew(self.env.budget, events, rate, now_ns());
            self.env.control.sleep_until(until(time));
            Ok(())
        })
    }

    /// What this thread, or its flowops that are the target, have done since the start.
    fn work_of(&self, flowop: &Flowop) -> Progress {
        if flowop.targets.is_empty() {
            return self.total;
        }
        let targets = flowop.targets.iter();
        targets.fold(Progress::default(), |mut sum, target| {
            let own = self.progress[target.flowop];
            sum.work_ops += own.work_ops;
            sum.io_ops += own.io_ops;
            sum.bytes += own.bytes;
            sum
        })
    }

    pub(super) fn finish_on(&mut self, flowop: &Flowop) -> Outcome {
        let work = self.work_of(flowop);
        let goal = flowop.value.draw(&mut self.env.stream);
        let is_reached = match flowop.operation {
            Operation::FinishOnBytes => work.bytes > goal,
            _ => work.work_ops >= goal,
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
        let buffer = self.buffer.bytes_mut();
        let mask = (1usize << buffer.len().ilog2()) - 1;
        let first = buffer.as_mut_ptr();
        timed_call(|| {
            for at in 0..stores as usize {
                // SAFETY: the offset is masked to the buffer; volatile, so that the store happens.
                unsafe { first.add(at & mask).write_volatile(at as u8) };
            }
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
