//! The times that are listed of those at which something is known: days, and what no day begins with.

use crate::branch::identity::Span;
use crate::clock;

const DAY_US: i64 = 86_400_000_000;

/// Of very many days, the last ones are listed.
const DAYS_MOST: i64 = 1000;

/// The first time, the beginnings of the days since, and the last change if it is not over.
pub fn times(span: Span) -> Vec<String> {
    let now_us = clock::now_us();
    let mut times = vec![clock::local(span.since_us)];
    let mut at_us = span.since_us.max(now_us - DAYS_MOST * DAY_US);
    while at_us <= now_us {
        add(&mut times, span, at_us);
        // Some days have 23 hours.
        at_us += DAY_US / 2;
    }
    add(&mut times, span, now_us);
    if span.last_us > now_us {
        times.push(clock::local(span.last_us));
    }
    times
}

fn add(times: &mut Vec<String>, span: Span, at_us: i64) {
    let day = clock::day(at_us);
    let is_known = clock::read(&day).is_some_and(|begins_us| begins_us >= span.since_us);
    if is_known && times.last() != Some(&day) {
        times.push(day);
    }
}
