//! A volume that programs see: a FUSE file system over flash, and the branches kept up behind it.
//!
//! `router` takes the kernel's questions to what is, the `tree`, or to the `past`, what the `remote`
//! held. `names`, `opening` and `data` do what is asked of the tree, and write each change down with
//! its identity. `keeper` brings one branch up in the background, `sleeper` the disk when there is a
//! reason, and `quiet` lets that sleep again; `origins` is where comes from what flash has not, and
//! `bound` what it gives up. `standing` is how each stands, and who waits for that. No call of a
//! program waits for a branch that does not answer, but those that look at what was before that is
//! known.

mod answers;
mod attributes;
mod bound;
mod bringing;
mod calendar;
mod control;
mod daemon;
mod data;
mod errors;
mod handles;
mod keeper;
mod log;
mod mapped;
mod names;
mod opening;
mod origins;
mod past;
mod patience;
pub mod place;
mod places;
mod quiet;
mod reads;
mod remote;
mod resting;
mod router;
mod shared;
mod sleeper;
mod spins;
mod standing;
mod tending;
mod tree;
mod turns;
mod uses;
mod writing_out;

pub use control::{ask, ask_stats};
pub use daemon::{Settings, serve};
pub use past::REMOTE;
