//! An NFSv3 server in user space, read-only, that reads ahead by a heuristic of nfstricks03; a client
//! whose workers ask out of order; and a proxy that loses and delays what goes between them.
//!
//! The protocol stands here, and not in a crate of others: those that there are make room for as much
//! as a message says it holds, before they have read it, and speak no UDP.
//! Imports go one way: fault, lock, sys, protocol < export < server; protocol < client; all < cli.

pub mod cli;
pub mod client;
pub mod export;
pub mod fault;
mod lock;
pub mod protocol;
pub mod proxy;
pub mod server;
mod sys;
