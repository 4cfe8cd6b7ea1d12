//! What people see while a run goes on: progress on a terminal, and the statistics of `psrun`.

use std::io::IsTerminal;

use crate::clock::{FOREVER_NS, SECOND_NS, from_seconds, now_ns, to_seconds};
use crate::model::Statistics;
use crate::record::Totals;
use crate::report::{Measure, Series, statistics};
use crate::run::{Arena, Halt, Timing, Watch};
use crate::signals;
use crate::stderr::show;

/// What is shorter needs no progress.
const QUIET_NS: u64 = 5 * SECOND_NS;
const CLEAR: &str = "\r\x1b[K";

/// Progress is for those who look at it.
fn shows(duration_ns: u64) -> bool {
    duration_ns > QUIET_NS && std::io::stderr().is_terminal()
}

/// Do nothing for a while, or until a signal.
pub fn sleep(duration_ns: u64) -> Result<(), Halt> {
    let shows = shows(duration_ns);
    let deadline_ns = now_ns() + duration_ns;
    loop {
        let left_ns = deadline_ns.saturating_sub(now_ns());
        if shows {
            show!("{CLEAR}sleep: {} s left", left_ns.div_ceil(SECOND_NS));
        }
        if left_ns == 0 {
            break;
        }
        let step_ns = if shows {
            left_ns.min(SECOND_NS)
        } else {
            left_ns
        };
        signals::sleep_until(now_ns() + step_ns).map_err(Halt::by_signal)?;
    }
    if shows {
        show!("{CLEAR}");
    }
    Ok(())
}

/// What is shown of one run.
pub struct Console<'a> {
    name: &'a str,
    arena: &'a Arena<'a>,
    duration_ns: Option<u64>,
    progress: bool,
    /// Lines of progress so far, one a second from the start.
    shown: u64,
    period: Option<Period>,
}

/// The statistics of `psrun`.
struct Period {
    length_ns: u64,
    reset: bool,
    /// Prints so far.
    printed: u64,
    /// What the next print counts from.
    earlier: Option<(u64, Totals)>,
}

impl<'a> Console<'a> {
    pub fn new(
        name: &'a str,
        arena: &'a Arena<'a>,
        period: Option<Statistics>,
        timing: &Timing,
    ) -> Self {
        let planned_ns = timing.duration_ns.map(|ns| ns + timing.warmup_ns);
        Self {
            name,
            arena,
            duration_ns: timing.duration_ns,
            progress: shows(planned_ns.unwrap_or(FOREVER_NS)),
            shown: 0,
            period: period.map(|period| Period {
                length_ns: from_seconds(period.period_s).max(SECOND_NS / 1000),
                reset: period.reset,
                printed: 0,
                earlier: None,
            }),
        }
    }

    /// Make room for what follows.
    pub fn clear(&self) {
        if self.progress {
            show!("{CLEAR}");
        }
    }

    fn next_progress_ns(&self) -> u64 {
        if self.progress {
            self.arena.control().start_ns() + (self.shown + 1) * SECOND_NS
        } else {
            FOREVER_NS
        }
    }

    fn next_print_ns(&self) -> u64 {
        let measure_ns = self.arena.control().measure_ns();
        let next = |period: &Period| measure_ns + (period.printed + 1) * period.length_ns;
        self.period.as_ref().map_or(FOREVER_NS, next)
    }

    fn show(&self, now_ns: u64) {
        let control = self.arena.control();
        let Some(since_ns) = now_ns.checked_sub(control.measure_ns()) else {
            let left_s = (control.measure_ns() - now_ns).div_ceil(SECOND_NS);
            show!("{CLEAR}{}: warm-up, {left_s} s left", self.name);
            return;
        };
        let seconds = since_ns / SECOND_NS;
        show!("{CLEAR}{}: {seconds} s", self.name);
        let interval_ns = self.arena.records.interval_ns();
        if let Some(last) = (since_ns / interval_ns).checked_sub(1) {
            let ops = self.arena.records.work_ops_in(last as usize) as f64;
            show!(", {:.0} ops/s", ops / to_seconds(interval_ns));
        }
        if let Some(duration_ns) = self.duration_ns {
            let left_s = duration_ns.saturating_sub(since_ns).div_ceil(SECOND_NS);
            show!(", {left_s} s left");
        }
    }

    fn print(&mut self, now_ns: u64) {
        self.clear();
        let begin_ns = self.arena.control().measure_ns();
        let Some(period) = &mut self.period else {
            return;
        };
        let totals = self.arena.totals();
        let (from_ns, since) = match &period.earlier {
            Some((from_ns, earlier)) => (*from_ns, totals.since(earlier)),
            None => (begin_ns, totals.clone()),
        };
        let model = self.arena.model;
        let measure = Measure::new(model, &since, now_ns - from_ns, Series::default());
        let (from_s, to_s) = (
            to_seconds(from_ns - begin_ns),
            to_seconds(now_ns - begin_ns),
        );
        let name = format!("{}, {from_s:.1} to {to_s:.1} s", self.name);
        show!("{}", statistics(&name, &measure));
        if period.reset {
            period.earlier = Some((now_ns, totals));
        }
        // A print that took longer than the period leaves some out.
        period.printed = (now_ns - begin_ns) / period.length_ns;
    }
}

impl Watch for Console<'_> {
    fn next_ns(&self) -> u64 {
        self.next_progress_ns().min(self.next_print_ns())
    }

    fn look(&mut self, now_ns: u64) {
        if now_ns >= self.next_print_ns() {
            self.print(now_ns);
        }
        if now_ns >= self.next_progress_ns() {
            self.show(now_ns);
            self.shown = (now_ns - self.arena.control().start_ns()) / SECOND_NS;
        }
    }
}
