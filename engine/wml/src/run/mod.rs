//! Running a model: real processes and threads, a common start, an exact end.

mod arena;
mod child;
mod children;
mod gates;
mod places;
mod process;
mod supervisor;

pub use arena::Arena;
pub use places::Place;
pub use process::ProcessRecord;
pub use supervisor::{Ending, Watch, supervise};

use crate::clock::{SECOND_NS, from_seconds};
use crate::failure::Failure;
use crate::model::{Quit, Run};

/// Of a run that is ended by its time, if nothing says how long.
const DEFAULT_DURATION_NS: u64 = 60 * SECOND_NS;

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
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            prepared: false,
            warmup_s: None,
            duration_s: None,
            interval_ns: SECOND_NS,
        }
    }
}

/// The phases of one run.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    pub warmup_ns: u64,
    /// None lasts until the threads have reached their goals.
    pub duration_ns: Option<u64>,
}

impl Timing {
    pub fn new(run: &Run, options: &Options) -> Self {
        let asked = options.duration_s.or(run.duration_s).map(from_seconds);
        let default = (run.model.quit == Quit::Timeout).then_some(DEFAULT_DURATION_NS);
        Self {
            warmup_ns: from_seconds(options.warmup_s.unwrap_or(run.warmup_s)),
            duration_ns: asked.or(default),
        }
    }
}

/// What ends a text before its end.
#[derive(Debug)]
pub enum Halt {
    /// A signal, or a process that was lost: the reason of partial results.
    Cut(String),
    Failed(Failure),
}

impl Halt {
    pub fn by_signal(name: &str) -> Self {
        Halt::Cut(stopped_by(name))
    }
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Halt::Failed(failure)
    }
}

/// The reason of partial results.
fn stopped_by(signal: &str) -> String {
    format!("stopped by {signal}")
}

/// Have the kernel kill this process when the one that started it ends, however it ends.
pub fn die_with_parent() -> Result<(), Failure> {
    // SAFETY: touches no memory.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } == 0 {
        return Ok(());
    }
    Err(Failure::io(
        "cannot tie this process to its caller",
        &std::io::Error::last_os_error(),
    ))
}
