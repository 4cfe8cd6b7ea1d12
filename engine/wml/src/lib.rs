//! The Workload Model Language (WML): parser, checker and execution engine.
//!
//! The language and the accounting are those of Filebench 1.5, so far as four server workloads
//! need them. On purpose, this differs from the original:
//!
//! - `${x}` is `$x`; quoted text is interpolated; sizes may have fractions and K, M, G, T;
//!   `+ - * /` compute; objects see the last value of a variable; there are no reserved words.
//! - Random numbers are seeded, one independent stream for each thread. An empty slot is filled
//!   with a file that depends on the thread's number only.
//! - `deletefile` passes over files that are open, so that deletes keep pace with creates. What
//!   finds no file is counted as skipped; what fails is counted once, by errno; neither ends a run.
//! - Limiters charge the work of their own thread to one budget of all processes, in the order of
//!   asking. `finishoncount` and `finishonbytes` look at their own thread, too.
//! - Appends are atomic, whole-file writes end at the file's size, written data do not compress.
//! - An `aiowrite` is counted when its write is complete; `aiowait` waits for half of them.
//! - An op counts in the measured interval if it ends there. Latencies enclose system calls only.

pub mod cli;
pub mod clock;
pub mod failure;
pub mod fileset;
pub mod histogram;
pub mod lang;
pub mod model;
pub mod ops;
pub mod random;
pub mod record;
pub mod report;
pub mod run;
pub mod shared;
