//! The disk below a folder: which it is, whether it turns, how often it was started, and its stop.
//!
//! `machine` is what is asked, files of the kernel and programs; `below` finds the disks that a folder
//! lies on, and `beside` what else lies there; `ways` stop one; `account` reads what it says of
//! itself, and `simulated` asks a disk in software. `disk` is all of that for one folder.

mod account;
mod below;
mod beside;
mod disk;
mod machine;
mod simulated;
mod ways;

pub use account::{Starts, State};
pub use disk::{Disk, Power};
pub use machine::Machine;
