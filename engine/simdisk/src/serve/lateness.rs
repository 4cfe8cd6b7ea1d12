//! How exactly answers came at their planned times.

use serde::Serialize;

use crate::time::Ns;

/// An answer is on time if it ended within this share of its service time after the plan. Percent.
const TOLERANCE_PERCENT: u64 = 2;

/// Buckets to each doubling of the lateness.
const STEPS: usize = 16;
const BUCKETS: usize = 64 * STEPS;

/// When an answer was due, and when it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moments {
    /// When the device was given the command.
    pub sent: Ns,
    /// When the model completed it.
    pub planned: Ns,
    /// When the kernel had taken the answer.
    pub done: Ns,
}

impl Moments {
    fn is_on_time(self) -> bool {
        self.is_within((self.planned - self.sent) * TOLERANCE_PERCENT / 100)
    }

    /// It came no later than this after the plan, and not before.
    fn is_within(self, late: Ns) -> bool {
        (self.planned..=self.planned + late).contains(&self.done)
    }
}

/// Counts of answers and of how late they were.
#[derive(Debug)]
pub struct Lateness {
    requests: u64,
    on_time: u64,
    in_floor: u64,
    early: u64,
    most_ns: u64,
    floor_ns: Ns,
    /// By lateness, on a scale of [`STEPS`] to a doubling; those that came early are in the first.
    counts: Box<[u64; BUCKETS]>,
}

/// What [`Lateness`] says. Percentiles are upper bounds, less than 1/16 too high.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timing {
    pub requests: u64,
    pub on_time: u64,
    /// Those on time among all; 1 of none.
    pub share: f64,
    /// Later than that by no more than this machine takes for a read of 4 KiB without a model: it
    /// can be no more exact, and 2 % of an answer out of the disk's cache are a few microseconds.
    pub in_floor: u64,
    /// Answered before the model allows it: not on time.
    pub early: u64,
    pub late_ns: Percentiles,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Percentiles {
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub max: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Self {
            requests: 0,
            on_time: 0,
            in_floor: 0,
            early: 0,
            most_ns: 0,
            floor_ns: 0,
            counts: Box::new([0; BUCKETS]),
        }
    }
}

impl Lateness {
    /// Of a machine that takes so long for a read of 4 KiB without a model.
    pub fn above(floor_ns: Ns) -> Self {
        Self {
            floor_ns,
            ..Self::default()
        }
    }

    pub fn begin_anew(&mut self) {
        *self = Self::above(self.floor_ns);
    }

    pub fn note(&mut self, moments: Moments) {
        let late_ns = moments.done.saturating_sub(moments.planned);
        let is_on_time = moments.is_on_time();
        self.requests += 1;
        self.on_time += u64::from(is_on_time);
        self.in_floor += u64::from(!is_on_time && moments.is_within(self.floor_ns));
        self.early += u64::from(moments.done < moments.planned);
        self.most_ns = self.most_ns.max(late_ns);
        self.counts[bucket(late_ns)] += 1;
    }

    pub fn timing(&self) -> Timing {
        Timing {
            requests: self.requests,
            on_time: self.on_time,
            share: match self.requests {
                0 => 1.0,
                requests => self.on_time as f64 / requests as f64,
            },
            in_floor: self.in_floor,
            early: self.early,
            late_ns: Percentiles {
                p50: self.percentile(50),
                p90: self.percentile(90),
                p99: self.percentile(99),
                max: self.most_ns,
            },
        }
    }

    fn percentile(&self, percent: u64) -> u64 {
        let rank = (self.requests * percent).div_ceil(100);
        let mut below = 0;
        let found = self.counts.iter().position(|count| {
            below += count;
            below >= rank.max(1)
        });
        found.map_or(0, |index| upper(index).min(self.most_ns))
    }
}

fn bucket(late_ns: u64) -> usize {
    if late_ns < STEPS as u64 {
        return late_ns as usize;
    }
    let doubling = late_ns.ilog2() - STEPS.ilog2();
    (doubling as usize) * STEPS + (late_ns >> doubling) as usize
}

/// The greatest lateness in a bucket.
fn upper(bucket: usize) -> u64 {
    if bucket < 2 * STEPS {
        return bucket as u64;
    }
    let doubling = bucket / STEPS - 1;
    let place = (bucket % STEPS + STEPS) as u64;
    ((place + 1) << doubling).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(done: Ns) -> Moments {
        Moments {
            sent: 1_000,
            planned: 101_000,
            done,
        }
    }

    /// A disk that is faster than its model would pass for one that is on time.
    #[test]
    fn on_time_is_not_before_the_plan_and_not_long_after() {
        let mut lateness = Lateness::default();
        for done in [100_999, 101_000, 103_000, 103_001] {
            lateness.note(moments(done));
        }
        let timing = lateness.timing();
        assert_eq!((timing.requests, timing.on_time, timing.early), (4, 2, 1));
        assert_eq!(timing.share, 0.5);
    }

    /// Answers out of a disk's cache would be called late on any machine.
    #[test]
    fn what_is_late_within_the_floor_is_told_apart() {
        let mut lateness = Lateness::above(5_000);
        for done in [100_999, 103_000, 103_001, 106_000, 106_001] {
            lateness.note(moments(done));
        }
        let counts = |timing: Timing| (timing.on_time, timing.in_floor, timing.early);
        assert_eq!(counts(lateness.timing()), (1, 2, 1));
        lateness.begin_anew();
        lateness.note(moments(106_000));
        assert_eq!(counts(lateness.timing()), (0, 1, 0));
    }

    /// A trial is judged by these numbers.
    #[test]
    fn percentiles_are_close_bounds() {
        let mut lateness = Lateness::default();
        for late in 1..=1000 {
            lateness.note(moments(101_000 + late));
        }
        let late_ns = lateness.timing().late_ns;
        for (found, exact) in [(late_ns.p50, 500), (late_ns.p90, 900), (late_ns.p99, 990)] {
            assert!(
                (exact..=exact + exact / 16).contains(&found),
                "{found} for {exact}"
            );
        }
        assert_eq!(late_ns.max, 1000);
    }

    #[test]
    fn every_lateness_has_a_bucket_that_holds_it() {
        for late_ns in (0..70_000).chain([u64::MAX / 2, u64::MAX]) {
            let index = bucket(late_ns);
            assert!(late_ns <= upper(index));
            assert!(index == 0 || upper(index - 1) < late_ns);
        }
    }
}
