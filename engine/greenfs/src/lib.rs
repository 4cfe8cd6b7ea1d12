//! GreenFS, as far as it is built: a volume on flash, and branches that are brought up to it.
//!
//! `protocol` is what the branches hold and lack, as values; `journal` is how flash keeps that;
//! `cache` is which bytes of files flash leaves to the others; `branch` is a tree of plain files and what
//! is done to one, `net` one that a server keeps, `pool` where that may have its data; `volume` drives
//! them; `crypt` has the kernel encrypt flash, `power` puts a disk to sleep. docs/greenfs.md says what is
//! promised, and what is not there yet.

pub mod branch;
pub mod cache;
pub mod cli;
pub mod clock;
mod crypt;
pub mod days;
pub mod fault;
pub mod journal;
pub mod key;
pub mod mount;
pub mod net;
pub mod pool;
pub mod power;
pub mod protocol;
pub mod ranges;
mod report;
pub mod spin;
mod sys;
mod text;
pub mod volume;
