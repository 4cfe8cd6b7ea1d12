//! How long a run takes, and what else it is told beside its model.

use crate::clock::{SECOND_NS, from_seconds};
use crate::device::Confirmation;
use crate::model::{Quit, Run};

/// Of a run that is ended by its time, if nothing says how long.
const DEFAULT_DURATION_NS: u64 = 60 * SECOND_NS;

/// How many of the operations of a run may fail, or which share of those of each flowop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MaxErrors {
    Count(u64),
    Share(f64),
}

impl MaxErrors {
    /// Whether so many errors are more than may be.
    pub fn is_exceeded(self, errors: u64, operations: u64) -> bool {
        match self {
            MaxErrors::Count(most) => errors > most,
            MaxErrors::Share(most) => errors as f64 > most * operations as f64,
        }
    }
}

/// How to run, whatever the text says.
#[derive(Clone, Debug)]
pub struct Options {
    pub seed: u64,
    /// The trees have been created before.
    pub prepared: bool,
    pub warmup_s: Option<f64>,
    pub duration_s: Option<f64>,
    /// Of the series.
    pub interval_ns: u64,
    pub max_errors: MaxErrors,
    /// Devices that may be overwritten.
    pub overwrite: Vec<Confirmation>,
    /// The work is done in turns whose lengths come on the standard input.
    pub turns: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            prepared: false,
            warmup_s: None,
            duration_s: None,
            interval_ns: SECOND_NS,
            max_errors: MaxErrors::Share(0.5),
            overwrite: Vec::new(),
            turns: false,
        }
    }
}

/// The phases of one run.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    pub warmup_ns: u64,
    /// None lasts until the threads have reached their goals.
    pub duration_ns: Option<u64>,
    pub turns: bool,
}

impl Timing {
    pub fn new(run: &Run, options: &Options) -> Self {
        let asked = options.duration_s.or(run.duration_s).map(from_seconds);
        let by_time = run.model.quit == Quit::Timeout && !options.turns;
        let default = by_time.then_some(DEFAULT_DURATION_NS);
        Self {
            warmup_ns: from_seconds(options.warmup_s.unwrap_or(run.warmup_s)),
            duration_ns: asked.or(default),
            turns: options.turns,
        }
    }
}
