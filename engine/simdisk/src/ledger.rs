//! Energy, accounted to the femtojoule: which parts of a device drew how much for how long.

use std::collections::VecDeque;

use crate::time::Ns;

/// One thing that draws power while it goes on: a state of a disk, an operation of a flash chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub name: &'static str,
    pub power_uw: u64,
}

/// How often a part goes on at once since when, and for how long it did before that.
#[derive(Clone, Copy, Debug)]
struct Course {
    level: u32,
    since: Ns,
    before_ns: Ns,
}

impl Course {
    /// For how long until a time; what goes on twice at once takes twice the time.
    fn time_ns(self, to: Ns) -> Ns {
        self.before_ns + (to - self.since) * u64::from(self.level)
    }

    fn change(&mut self, at: Ns, by: i32) {
        let level = self.level.checked_add_signed(by);
        *self = Self {
            level: level.expect("no part ends before it began"),
            since: at,
            before_ns: self.time_ns(at),
        };
    }
}

/// A change of how often a part goes on at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    at: Ns,
    part: usize,
    by: i32,
}

/// The account of a device. Changes that are known beforehand are planned, and can be cut.
///
/// The power of a part is constant and in whole microwatts, so that its energy in femtojoules is its
/// time multiplied, exactly, and the sum over parts is the integral of the total.
#[derive(Clone, Debug)]
pub struct Ledger {
    parts: Vec<Part>,
    courses: Vec<Course>,
    settled: Ns,
    planned: VecDeque<Change>,
    trace: Option<Trace>,
}

/// Changes of the total power, and how many of the newest are kept at least.
#[derive(Clone, Debug)]
struct Trace {
    changes: Vec<(Ns, u64)>,
    least: usize,
}

impl Ledger {
    /// An account in which nothing goes on.
    pub fn new(parts: Vec<Part>, at: Ns) -> Self {
        let course = Course {
            level: 0,
            since: at,
            before_ns: 0,
        };
        Self {
            courses: vec![course; parts.len()],
            parts,
            settled: at,
            planned: VecDeque::new(),
            trace: None,
        }
    }

    /// Keep the changes of the total power from now on, at least so many of the newest, for
    /// [`Ledger::trace`].
    pub fn keep_trace(&mut self, least: usize) {
        let changes = vec![(self.settled, self.power_uw())];
        self.trace = Some(Trace { changes, least });
    }

    /// Times and the total power in microwatts from each of them on; empty unless it is kept.
    pub fn trace(&self) -> &[(Ns, u64)] {
        let changes = self.trace.as_ref().map(|trace| &trace.changes[..]);
        changes.unwrap_or_default()
    }

    /// The same from the power at a time on, at most so many of them; and until when that is all.
    /// None if it is not kept since then.
    pub fn trace_since(&self, since: Ns, most: usize) -> Option<(&[(Ns, u64)], Ns)> {
        let trace = self.trace();
        let begun = trace.partition_point(|&(at, _)| at <= since);
        let left = &trace[begun.checked_sub(1)?..];
        let until = left.get(most).map_or(self.settled, |&(at, _)| at);
        Some((&left[..left.len().min(most)], until))
    }

    /// Plan that a part goes on once more (`by` 1) or once less (-1) from a time on.
    ///
    /// # Panics
    /// If that time is settled already.
    pub fn plan(&mut self, at: Ns, part: usize, by: i32) {
        assert!(at >= self.settled, "the ledger is settled beyond {at} ns");
        let change = Change { at, part, by };
        if self.planned.back().is_none_or(|last| last.at <= at) {
            return self.planned.push_back(change);
        }
        let place = self.planned.partition_point(|change| change.at <= at);
        self.planned.insert(place, change);
    }

    /// Forget every planned change after a time; the caller plans what is instead.
    pub fn cut(&mut self, after: Ns) {
        self.planned.retain(|change| change.at <= after);
    }

    /// Account for everything up to a time.
    pub fn settle(&mut self, to: Ns) {
        while let Some(&change) = self.planned.front().filter(|change| change.at <= to) {
            self.planned.pop_front();
            self.courses[change.part].change(change.at, change.by);
            if self.trace.is_some() {
                self.note(change.at);
            }
        }
        self.settled = self.settled.max(to);
    }

    fn note(&mut self, at: Ns) {
        let power = self.power_uw();
        let Some(trace) = &mut self.trace else {
            return;
        };
        match trace.changes.last_mut() {
            Some(last) if last.0 == at => last.1 = power,
            Some(last) if last.1 == power => {}
            _ => trace.changes.push((at, power)),
        }
        // twice as many, so that what stays is moved once in a while only
        if trace.changes.len() >= trace.least.saturating_mul(2) {
            let old = trace.changes.len() - trace.least;
            trace.changes.drain(..old);
        }
    }

    /// The power drawn at the time up to which it is settled.
    pub fn power_uw(&self) -> u64 {
        let drawn = self.parts.iter().zip(&self.courses);
        drawn
            .map(|(part, course)| part.power_uw * u64::from(course.level))
            .sum()
    }

    /// How often a part goes on at once.
    pub fn level(&self, part: usize) -> u32 {
        self.courses[part].level
    }

    /// The time up to which it is settled.
    pub fn settled(&self) -> Ns {
        self.settled
    }

    /// Name, energy and time of each part; a part that goes on twice at once takes twice the time.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, u128, Ns)> + '_ {
        let all = self.parts.iter().zip(&self.courses);
        all.map(|(part, course)| {
            let time_ns = course.time_ns(self.settled);
            let energy_fj = u128::from(time_ns) * u128::from(part.power_uw);
            (part.name, energy_fj, time_ns)
        })
    }

    /// The energy of all parts.
    pub fn energy_fj(&self) -> u128 {
        self.parts().map(|(_, energy_fj, _)| energy_fj).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: usize = 0;
    const WORK: usize = 1;

    fn ledger() -> Ledger {
        let part = |name, power_uw| Part { name, power_uw };
        Ledger::new(vec![part("rest", 1_000_000), part("work", 5_000_000)], 0)
    }

    /// A joule too many or too few in any state would be one in every figure.
    #[test]
    fn parts_add_up_to_the_integral_of_the_trace() {
        let mut ledger = ledger();
        ledger.keep_trace(usize::MAX);
        ledger.plan(0, REST, 1);
        ledger.plan(10, WORK, 1);
        ledger.plan(30, WORK, 1);
        ledger.plan(40, WORK, -2);
        ledger.settle(100);
        let ends = ledger
            .trace()
            .iter()
            .skip(1)
            .map(|&(at, _)| at)
            .chain([100]);
        let integral: u128 = ledger
            .trace()
            .iter()
            .zip(ends)
            .map(|(&(at, power), end)| u128::from(end - at) * u128::from(power))
            .sum();
        assert_eq!(ledger.energy_fj(), integral);
        assert_eq!(integral, (100 + 5 * (20 + 2 * 10)) * 1_000_000);
    }

    /// A command that ends early would be charged for work that it never did.
    #[test]
    fn what_is_cut_costs_nothing() {
        let mut ledger = ledger();
        ledger.plan(10, WORK, 1);
        ledger.plan(90, WORK, -1);
        ledger.settle(20);
        ledger.cut(20);
        ledger.plan(20, WORK, -1);
        ledger.settle(100);
        assert_eq!(ledger.energy_fj(), 10 * 5_000_000);
        assert_eq!(ledger.parts().nth(WORK), Some(("work", 50_000_000, 10)));
    }

    /// A meter that asks in time must get every change once, and one that asks too late be told.
    #[test]
    fn a_trace_is_told_in_pieces_and_forgets_the_oldest() {
        const LEAST: usize = 4;
        let mut ledger = ledger();
        ledger.keep_trace(LEAST);
        for at in 1..=20 {
            ledger.plan(10 * at, WORK, if at % 2 == 1 { 1 } else { -1 });
            ledger.settle(10 * at + 5);
            let (told, until) = ledger.trace_since(10 * at - 1, 9).expect("it is kept");
            let times: Vec<Ns> = told.iter().map(|&(at, _)| at).collect();
            assert_eq!((times, until), (vec![10 * at - 10, 10 * at], 10 * at + 5));
            assert!(ledger.trace().len() < 2 * LEAST);
        }
        let [before, on, off] = [(160, 0), (170, 5_000_000), (180, 0)];
        assert_eq!(ledger.trace_since(165, 2), Some((&[before, on][..], off.0)));
        assert_eq!(ledger.trace_since(300, 2), Some((&[(200, 0)][..], 205)));
        assert_eq!(ledger.trace_since(20, 2), None);
    }
}
