//! A client: one link to a server, workers that ask over it side by side, and readers that they
//! work for.

mod link;
mod readers;
mod session;

pub use link::{Protocol, Tally};
pub use readers::{Load, Progress, Report, run};
pub use session::{Place, Session};
