//! Devices in virtual time, without a kernel: deterministic to the bit.

pub mod layout;
pub mod readers;
pub mod replay;
pub mod run;
mod stream;
pub mod trace;

pub use readers::Readers;
pub use replay::Replay;
pub use run::{Source, run};
