//! One run's processes and threads, with the filesets that they share.

use serde::Serialize;

use super::fileset::Fileset;
use super::flowop::{Flowop, FlowopId, Node};

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

#[derive(Clone, Debug, Serialize)]
pub struct Process {
    pub name: String,
    pub instances: u64,
    pub nice: i32,
    pub threads: Vec<Thread>,
}

/// Processes and threads that the kernel has numbers for (PID_MAX_LIMIT).
pub const MAX_TASKS: u64 = 1 << 22;

impl Process {
    pub fn thread_count(&self) -> u64 {
        self.instances * self.threads.iter().map(|t| t.instances).sum::<u64>()
    }

    /// Whether a thread ends when all of them together have done so much: a goal without target.
    pub fn has_common_goal(&self) -> bool {
        let mut flowops = self.threads.iter().flat_map(|thread| &thread.flowops);
        flowops.any(|flowop| flowop.operation.is_goal() && flowop.targets.is_empty())
    }
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
        self.processes.iter().map(Process::thread_count).sum()
    }
}
