//! Running a model: real processes and threads, a common start, an exact end.

mod arena;
mod child;
mod signals;
mod supervisor;

pub use arena::{Arena, CostRecord};
pub use supervisor::{Ending, supervise};

use crate::failure::Failure;
use crate::fileset::{Files, Prepared, prepare, verify};
use crate::model::Model;

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    pub seed: u64,
    pub warmup_ns: u64,
    pub duration_ns: u64,
}

/// Lay out the filesets of a model.
pub fn lay_out(model: &Model, seed: u64) -> Result<Vec<Files>, Failure> {
    model
        .filesets
        .iter()
        .map(|fileset| Files::new(fileset.clone(), seed))
        .collect()
}

/// Create all trees.
pub fn prepare_all(files: &[Files], seed: u64) -> Result<Vec<Prepared>, Failure> {
    files.iter().map(|files| prepare(files, seed)).collect()
}

/// Check that all trees are as [`prepare_all`] left them.
pub fn verify_all(files: &[Files]) -> Result<(), Failure> {
    files.iter().try_for_each(verify)
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
