//! The core workloads of the Yahoo! Cloud Serving Benchmark on RocksDB.
//!
//! What a workload does is that of Cooper et al., "Benchmarking cloud serving systems with YCSB"
//! (SoCC 2010), table 2 and section 5, with the parameters of the files that YCSB ships for it.
//! RocksDB is not linked: its library is loaded when the program runs, by its C interface.
//!
//! From the bottom: [`requests`] says which record is next, [`mix`] what is done with it, [`rocksdb`]
//! does it; [`table`] is what threads share, [`cost`] what they take, [`run`] a run, [`report`] its results, [`cli`] the
//! program.

pub mod cli;
pub mod cost;
pub mod mix;
pub mod report;
pub mod requests;
pub mod rocksdb;
pub mod run;
pub mod table;

/// Name and version of the program.
pub const ENGINE: &str = concat!("fsgreen-ycsb ", env!("CARGO_PKG_VERSION"));
