//! Flowops that pace a thread, idle, burn time, or end it.

use super::{Outcome, Progress, Worker, timed};
use crate::clock::{from_seconds, now_ns};
use crate::model::{Flowop, Operation};

/// Bytes of one event of `bwlimit`.
const EVENT_B: f64 = 1048576.0;

impl Worker<'_> {
    /// Take events of the common budget, waiting for them. Without a rate this is no op.
    pub(super) fn limit(&mut self, events: f64) -> Outcome {
        if self.env.rate <= 0.0 {
            return Outcome::Passed;
        }
        timed(|| {
            let slot_ns = self.env.budget.take(events, self.env.rate, now_ns());
            self.env.control.sleep_until(slot_ns);
            Ok(0)
        })
    }

    /// What this thread, or its flowops that are the target, have done since the start.
    fn work_of(&self, flowop: &Flowop) -> Progress {
        if flowop.targets.is_empty() {
            return self.total;
        }
        flowop
            .targets
            .iter()
            .fold(Progress::default(), |sum, target| {
                let own = self.progress[target.flowop];
                Progress {
                    work_ops: sum.work_ops + own.work_ops,
                    io_ops: sum.io_ops + own.io_ops,
                    bytes: sum.bytes + own.bytes,
                }
            })
    }

    /// Charge what was done since this limiter's last call. The budget is common to all threads,
    /// so that its rate limits their sum although each charges only its own work.
    pub(super) fn limit_work(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let work = self.work_of(flowop);
        let events = match flowop.operation {
            Operation::IopsLimit => work.io_ops as f64,
            Operation::BwLimit => work.bytes as f64 / EVENT_B,
            _ => work.work_ops as f64,
        };
        let since = events - std::mem::replace(&mut self.charged[nth], events);
        self.limit(since)
    }

    pub(super) fn finish_on(&mut self, flowop: &Flowop) -> Outcome {
        let work = self.work_of(flowop);
        let goal = flowop.value.draw(&mut self.env.stream);
        let reached = match flowop.operation {
            Operation::FinishOnBytes => work.bytes > goal,
            _ => work.work_ops >= goal,
        };
        if reached {
            Outcome::Finish
        } else {
            Outcome::Passed
        }
    }

    /// Store `value` single bytes into the thread's buffer.
    pub(super) fn hog(&mut self, flowop: &Flowop) -> Outcome {
        let stores = flowop.value.draw(&mut self.env.stream);
        let buffer = self.buffer.bytes_mut();
        let mask = (1usize << buffer.len().ilog2()) - 1;
        let first = buffer.as_mut_ptr();
        timed(|| {
            for at in 0..stores as usize {
                // SAFETY: the offset is masked to the buffer; volatile, so that the store happens.
                unsafe { first.add(at & mask).write_volatile(at as u8) };
            }
            Ok(0)
        })
    }

    /// Sleep `value` seconds; fractions are kept.
    pub(super) fn delay(&mut self, flowop: &Flowop) -> Outcome {
        let seconds = flowop.value.draw_exact(&mut self.env.stream);
        timed(|| {
            self.env
                .control
                .sleep_until(now_ns() + from_seconds(seconds));
            Ok(0)
        })
    }
}
