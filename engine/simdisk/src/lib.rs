//! A disk in software that behaves like a hard disk or an SSD and accounts for its energy.
//!
//! The model ([`device`]) knows no clock of its own: who drives it says what time it is. `serve`
//! drives it in real time, behind a file that the kernel uses as a disk; `simulate` drives it in
//! virtual time, without a kernel. Imports go one way: time < ledger < device < profile <
//! disk, ssd < host < simulate, serve < cli.

pub mod cli;
pub mod device;
pub mod disk;
pub mod host;
pub mod ledger;
pub mod profile;
pub mod serve;
pub mod simulate;
pub mod ssd;
pub mod time;
