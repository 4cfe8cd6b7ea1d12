//! An SSD: dies behind channels, a translation layer that maps pages, and a volatile write cache.
//!
//! A page of the user's belongs to one die, by its number, so that neighbours lie on different
//! channels; within the die it goes wherever the next erased page is (the allocation pool of one
//! element of Agrawal and others, "Design tradeoffs for SSD performance", USENIX 2008). Space is
//! won back by collecting the block with the fewest valid pages. Not modelled: wear, bad blocks,
//! the storage of the map itself, a start-up time.
//!
//! From the bottom: [`victims`], [`pages`] (what lies where on a die; knows no time), [`cache`],
//! [`times`], [`account`], [`die`], [`device`] and what commands do there; [`precondition`] ages a
//! drive.

pub mod account;
pub mod cache;
pub mod device;
pub mod die;
pub mod pages;
pub mod precondition;
pub mod times;
pub mod victims;

pub use device::Ssd;
