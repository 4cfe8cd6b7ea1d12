//! Devices in virtual time, without a kernel: deterministic to the bit.

pub mod backlog;
mod columns;
mod crowd;
pub mod device;
pub mod experiment;
pub mod layout;
mod memory;
pub mod nfs;
pub mod readers;
pub mod replay;
pub mod report;
pub mod run;
pub mod server;
mod simulation;
mod stream;
pub mod trace;
pub mod writes;

pub use backlog::Backlog;
pub use experiment::{Experiment, Work};
pub use nfs::Nfs;
pub use readers::Readers;
pub use replay::Replay;
pub use report::Report;
pub use run::{Source, run};
pub use writes::Writes;
