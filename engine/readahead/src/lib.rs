//! How far a file server reads ahead, and why: the heuristics of nfstricks03 (sections 6 and 7).
//!
//! Nothing here reads anything or knows a time. A server asks [`Decide`] at each request, and does
//! what the [`Decision`] says; the same requests in the same order give the same decisions.
//! Imports go one way: random, request < cursor < heuristic < table < decide; reads.

pub mod cursor;
pub mod decide;
pub mod heuristic;
pub mod random;
pub mod reads;
pub mod request;
pub mod table;

pub use decide::{Count, Decide, Decision, Own, ReadAhead, Settings};
pub use heuristic::Heuristic;
pub use reads::{Order, Reads};
pub use request::Request;
