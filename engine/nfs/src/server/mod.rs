//! A server: daemons that take requests from TCP and UDP, as those of a kernel do.

mod connection;
mod daemon;
mod datagrams;
mod start;

pub use start::{Server, Settings};
