//! The Workload Model Language (WML): parser, checker and execution engine.
//!
//! The language and the accounting are those of Filebench 1.5. On purpose, this differs from the
//! original:
//!
//! - `${x}` is `$x`; quoted text is interpolated; sizes may have fractions and K, M, G, T;
//!   `+ - * /` compute; objects see the last value of a variable; there are no reserved words;
//!   composite flowops have local variables; a text may have several runs.
//! - Random numbers are seeded, one independent stream for each thread. An empty slot is filled
//!   with a file that depends on the thread's number only.
//! - `deletefile` passes over files that are open, so that deletes keep pace with creates. What
//!   finds no file is counted as skipped; what fails is counted once, by errno; neither ends a run
//!   of the quit mode `timeout`.
//! - Limiters charge the work of their own thread to one budget of all processes, in the order of
//!   asking.
//! - Appends are atomic, whole-file writes end at the file's size, written data are not zeros.
//! - An `aiowrite` is counted when its write is complete; `aiowait` waits for half of them.
//! - An op counts in the measured interval if it ends there. Latencies enclose system calls only.
//! - A run that ends by itself is timed by its last op; one that is stopped keeps its results.
//!
//! From the bottom: [`clock`], [`failure`], [`stderr`], [`signals`], [`mounts`], [`histogram`],
//! [`random`], [`model`]; [`lang`] makes a model of a text; [`device`] says which devices may be
//! overwritten; [`shared`], [`fileset`], [`record`] are what processes share;
//! [`ops`] is what a thread does, [`run`] a run, [`report`] its results, [`session`] a whole text,
//! [`cli`] the program.

#![cfg_attr(not(test), warn(clippy::print_stderr, clippy::print_stdout))]

/// Name and version of the program.
pub const ENGINE: &str = concat!("fsgreen-wml ", env!("CARGO_PKG_VERSION"));

pub mod cli;
pub mod clock;
pub mod device;
pub mod failure;
pub mod fileset;
pub mod histogram;
pub mod lang;
pub mod model;
pub mod mounts;
pub mod ops;
pub mod random;
pub mod record;
pub mod report;
pub mod run;
pub mod session;
pub mod shared;
pub mod signals;
pub mod stderr;
