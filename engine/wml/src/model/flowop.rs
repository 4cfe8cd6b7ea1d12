//! What a thread does: flowops, and the order of one pass.

use serde::Serialize;

use super::operation::Operation;
use crate::random::Amount;

/// Descriptors that a thread can hold, numbered from 0.
pub const SLOTS: usize = 129;

/// Requests that one thread may have in flight; the kernel allows some more.
pub const MAX_IN_FLIGHT: u64 = 4096;

/// Events that a `semblock` can hold; those posted beyond are lost.
pub const MAX_EVENTS: u32 = u32::MAX >> 1;

/// A step of a pass.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Node {
    /// A flowop, by its place in the thread.
    Flowop(usize),
    /// The inside of a composite flowop, repeated.
    Composite { iters: Amount, body: Vec<Node> },
}

/// Where a flowop stands in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct FlowopId {
    pub process: usize,
    pub thread: usize,
    pub flowop: usize,
}

/// How a file or directory is picked from a fileset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Select {
    /// The next one, of all threads together.
    #[default]
    Rotor,
    /// The next one of this thread.
    Sequential,
    Uniform,
    /// Popularity falls with this power of the rank.
    Zipf(f64),
}

#[derive(Clone, Debug, Serialize)]
pub struct Flowop {
    /// With the names of the composites that it stands in, joined by dots.
    pub name: String,
    pub operation: Operation,
    pub fileset: Option<usize>,
    pub fd: usize,
    pub srcfd: Option<usize>,
    pub iosize: Amount,
    /// Bytes of the file that random I/O stays within; 0 is the whole file.
    pub workingset: Amount,
    pub iters: Amount,
    pub random: bool,
    pub dsync: bool,
    pub directio: bool,
    pub noreadahead: bool,
    /// Equally spaced places of the file that sequential reads go on from in turn.
    pub streams: u64,
    /// Rotate over the descriptor slots.
    pub opennext: bool,
    /// With `opennext`: take the next slot itself, rather than the one that was opened last.
    pub advances: bool,
    pub select: Select,
    /// The number of the file, instead of `select`.
    pub indexed: Option<Amount>,
    pub value: Amount,
    pub targets: Vec<FlowopId>,
    pub blocking: bool,
    pub highwater: u32,
}

impl Flowop {
    /// Whether a semblock makes room for posts before it waits: with less room than it waits for,
    /// it would wait for ever.
    pub fn gives_back_first(&self) -> bool {
        f64::from(self.highwater) < self.value.usual_maximum()
    }

    /// Whether it works on the file of its slot, if there is one, rather than on one that it picks.
    pub fn means_slot(&self) -> bool {
        self.fd > 0 || self.opennext || self.fileset.is_none()
    }
}
