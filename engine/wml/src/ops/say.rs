//! print and testrandvar: numbers for people, on standard error.

use super::Worker;
use super::outcome::{Outcome, Undone, timed_call};
use crate::model::{Flowop, Operation};
use crate::stderr::say;

impl Worker<'_> {
    pub(super) fn print(&mut self, flowop: &Flowop) -> Outcome {
        let value = flowop.value.draw_exact(&mut self.env.stream);
        let who = self.who(flowop);
        timed_call(|| {
            say!("{who}: {value}");
            Ok(())
        })
    }

    /// Draw a value; what the draws were like is said when the thread ends.
    pub(super) fn test_randvar(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let value = flowop.value.draw_exact(&mut self.env.stream);
        self.moments[nth].add(value);
        Err(Undone::Passed)
    }

    pub(super) fn say_moments(&self) {
        for (flowop, moments) in self.env.thread.flowops.iter().zip(&self.moments) {
            if flowop.operation == Operation::TestRandvar && moments.count > 0 {
                say!(
                    "{}: {} values, mean {}, standard deviation {}, from {} to {}",
                    self.who(flowop),
                    moments.count,
                    moments.mean,
                    moments.deviation(),
                    moments.least,
                    moments.largest,
                );
            }
        }
    }

    fn who(&self, flowop: &Flowop) -> String {
        let (thread, number) = (&self.env.thread.name, self.env.number);
        format!("{} of {thread} (thread {number})", flowop.name)
    }
}
