//! What every scheduler of requests is.

use crate::device::Command;
use crate::time::Ns;

/// A command, and who wants it since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub command: Command,
    /// The process, for schedulers that are fair to processes.
    pub stream: u32,
    pub issued: Ns,
}

/// What a scheduler wants the device to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Send(Request),
    /// Nothing until this later time, unless something is added or completed before.
    Wait(Ns),
    Nothing,
}

/// Puts requests in an order. It sees reads and writes only.
pub trait Scheduler: Send {
    fn add(&mut self, at: Ns, request: Request);

    /// Take the request that the device, which has room, gets now.
    fn take(&mut self, at: Ns) -> Choice;

    /// Hear that the device has completed a request.
    fn completed(&mut self, at: Ns, request: &Request);

    /// Requests that it holds.
    fn waiting(&self) -> usize;
}
