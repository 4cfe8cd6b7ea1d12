//! The schedule of an open loop: when passes are meant to start, whether or not the one before has
//! ended.

use crate::clock::SECOND_NS;
use crate::model::{ArrivalProcess, Arrivals};
use crate::random::Stream;

/// The intended starts of one instance of a thread, which has an equal share of the rate.
pub struct Schedule {
    process: ArrivalProcess,
    /// Mean time between two starts of this instance.
    gap_ns: f64,
    next_ns: f64,
    stream: Stream,
}

impl Schedule {
    /// The schedule of the instance of this number among `instances`. Constant arrivals of all
    /// instances together are evenly spaced.
    pub fn new(arrivals: Arrivals, instance: u64, instances: u64, stream: Stream) -> Self {
        let gap_ns = instances as f64 * SECOND_NS as f64 / arrivals.rate;
        let mut schedule = Self {
            process: arrivals.process,
            gap_ns,
            next_ns: gap_ns * instance as f64 / instances as f64,
            stream,
        };
        if arrivals.process == ArrivalProcess::Poisson {
            schedule.next_ns = schedule.gap();
        }
        schedule
    }

    fn gap(&mut self) -> f64 {
        match self.process {
            ArrivalProcess::Constant => self.gap_ns,
            ArrivalProcess::Poisson => self.stream.exponential() * self.gap_ns,
        }
    }

    /// The next start, as time since the start of the run.
    pub fn next_ns(&mut self) -> u64 {
        let next = self.next_ns;
        self.next_ns += self.gap();
        next as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(process: ArrivalProcess, instance: u64, instances: u64, n: usize) -> Vec<u64> {
        let arrivals = Arrivals {
            rate: 1000.0,
            process,
        };
        let stream = Stream::new(3, &["arrivals", &instance.to_string()]);
        let mut schedule = Schedule::new(arrivals, instance, instances, stream);
        (0..n).map(|_| schedule.next_ns()).collect()
    }

    #[test]
    fn constant_arrivals_of_all_instances_are_evenly_spaced() {
        let mut all: Vec<u64> = (0..4)
            .flat_map(|instance| starts(ArrivalProcess::Constant, instance, 4, 100))
            .collect();
        all.sort_unstable();
        let expected: Vec<u64> = (0..400).map(|nth| nth * 1_000_000).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_exponential_gaps() {
        let n = 100_000;
        let starts = starts(ArrivalProcess::Poisson, 1, 4, n);
        let mean = *starts.last().unwrap() as f64 / n as f64;
        assert!((mean / 4e6 - 1.0).abs() < 0.01, "{mean}");
        let gaps = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64);
        // Of an exponential distribution, exp(-1) exceeds its mean and exp(-3) three times that.
        for multiple in [1.0, 3.0] {
            let above = gaps.clone().filter(|&gap| gap > multiple * 4e6).count();
            let share = above as f64 / (n - 1) as f64;
            assert!((share / f64::exp(-multiple) - 1.0).abs() < 0.05, "{share}");
        }
    }

    #[test]
    fn schedules_repeat_with_their_stream_and_differ_between_instances() {
        let first = |instance| starts(ArrivalProcess::Poisson, instance, 2, 100);
        assert_eq!(first(0), first(0));
        assert_ne!(first(0), first(1));
    }
}
