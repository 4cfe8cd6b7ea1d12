//! print and testrandvar: numbers for people, on standard error.

use super::Worker;
use super::outcome::{Outcome, Undone, timed_call};
use crate::model::{Flowop, Operation};
use crate::stderr::say;

/// What testrandvar has seen: count, mean and squared deviations by Welford's method (1962).
#[derive(Clone, Copy)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
    least: f64,
    largest: f64,
}

impl Default for Moments {
    fn default() -> Self {
        Self {
            count: 0,
            mean: 0.0,
            squares: 0.0,
            least: f64::INFINITY,
            largest: f64::NEG_INFINITY,
        }
    }
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1;
        let deviation = value - self.mean;
        self.mean += deviation / self.count as f64;
        self.squares += deviation * (value - self.mean);
        self.least = self.least.min(value);
        self.largest = self.largest.max(value);
    }

    fn deviation(&self) -> f64 {
        (self.squares / self.count.saturating_sub(1).max(1) as f64).sqrt()
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_values() {
        let mut moments = Moments::default();
        [2.0, 4.0, 4.0, 5.0, 10.0]
            .into_iter()
            .for_each(|value| moments.add(value));
        assert_eq!((moments.count, moments.mean), (5, 5.0));
        // The squared deviations sum to 36, over 4.
        assert_eq!(moments.deviation(), 3.0);
        assert_eq!((moments.least, moments.largest), (2.0, 10.0));
    }
}
