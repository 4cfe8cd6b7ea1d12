//! What a checked text describes, with every value resolved.

mod operation;
mod program;
mod value;

use serde::Serialize;

use crate::random::{Amount, Distribution};

pub use operation::{Class, Operation};
pub use program::{Multi, Program, Run, Statistics, Step};
pub use value::Value;

/// Descriptors that a thread can hold, numbered from 0.
pub const SLOTS: usize = 129;

/// Files and leaf directories of a fileset: their names are numbers of eight digits.
pub const MAX_ENTRIES: u64 = 99_999_999;

/// Requests that one thread may have in flight; the kernel allows some more.
pub const MAX_IN_FLIGHT: u64 = 4096;

/// Events that a `semblock` can hold; those posted beyond are lost.
pub const MAX_EVENTS: u32 = u32::MAX >> 1;

/// What one `run` does.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Model {
    /// In the order of their definitions, which is the same for every run of a program.
    pub filesets: Vec<Fileset>,
    pub processes: Vec<Process>,
    /// Events per second of `eventgen`; 0 is no limit.
    pub rate: f64,
    pub quit: Quit,
}

/// What ends a run, beside its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Quit {
    #[default]
    Timeout,
    /// The first thread that has reached its goal or finds no file any more.
    FirstDone,
    AllDone,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Fileset {
    pub name: String,
    pub path: String,
    pub size: Amount,
    pub entries: u64,
    /// Empty directories beside those that hold files.
    pub leafdirs: u64,
    pub dirwidth: Amount,
    /// Gamma shape of width and depth; 0 makes both fixed.
    pub dirgamma: f64,
    /// What the depth is drawn from, instead of `dirgamma`; its mean is the computed one.
    pub dirdepth: Option<Distribution>,
    /// Share of the files and of the empty directories that exist at the start.
    pub prealloc_percent: f64,
    /// Create files with several threads.
    pub paralloc: bool,
    /// Keep what an existing tree has, and mend the rest.
    pub reuse: bool,
    /// Keep an existing tree without a look at its sizes.
    pub trusttree: bool,
    /// How far the data of its files compress.
    pub compress_percent: f64,
    pub readonly: bool,
    pub writeonly: bool,
}

impl Fileset {
    /// Bytes of all its files in the mean, existing at the start or not.
    pub fn mean_size_b(&self) -> f64 {
        self.entries as f64 * self.size.mean()
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Process {
    pub name: String,
    pub instances: u64,
    pub nice: i32,
    pub threads: Vec<Thread>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Thread {
    pub name: String,
    pub instances: u64,
    /// Bytes of the thread's buffer; it is never smaller than its flowops need.
    pub memsize: u64,
    /// Best-effort I/O priority, 0 (first) to 7.
    pub ioprio: Option<u8>,
    /// Passes start on a schedule rather than as soon as the last one has ended.
    pub arrivals: Option<Arrivals>,
    /// All flowops, those of composites too, in the order of the text.
    pub flowops: Vec<Flowop>,
    /// One pass.
    pub body: Vec<Node>,
}

/// The schedule of an open loop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Arrivals {
    /// Passes per second of all instances of the thread together.
    pub rate: f64,
    pub process: ArrivalProcess,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalProcess {
    Poisson,
    Constant,
}

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
    pub select: Select,
    /// The number of the file, instead of `select`.
    pub indexed: Option<Amount>,
    pub value: Amount,
    pub targets: Vec<FlowopId>,
    pub blocking: bool,
    pub highwater: u32,
}

impl Flowop {
    /// Whether it works on the file of its slot, if there is one, rather than on one that it picks.
    pub fn means_slot(&self) -> bool {
        self.fd > 0 || self.opennext || self.fileset.is_none()
    }
}

impl Model {
    /// Every flowop with its place.
    pub fn flowops(&self) -> impl Iterator<Item = (FlowopId, &Flowop)> {
        self.processes.iter().enumerate().flat_map(|(process, p)| {
            p.threads.iter().enumerate().flat_map(move |(thread, t)| {
                t.flowops.iter().enumerate().map(move |(flowop, f)| {
                    (
                        FlowopId {
                            process,
                            thread,
                            flowop,
                        },
                        f,
                    )
                })
            })
        })
    }

    pub fn flowop(&self, id: FlowopId) -> &Flowop {
        &self.processes[id.process].threads[id.thread].flowops[id.flowop]
    }

    /// Whether it creates, deletes or renames files.
    pub fn claims_files(&self) -> bool {
        self.flowops()
            .any(|(_, flowop)| flowop.operation.claims_files())
    }

    pub fn process_count(&self) -> u64 {
        self.processes.iter().map(|p| p.instances).sum()
    }

    pub fn thread_count(&self) -> u64 {
        self.processes
            .iter()
            .map(|p| p.instances * p.threads.iter().map(|t| t.instances).sum::<u64>())
            .sum()
    }
}
