//! What a checked text describes, with every value resolved.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::random::Amount;

/// Descriptors that a thread can hold, numbered from 0.
pub const SLOTS: usize = 129;

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub filesets: Vec<Fileset>,
    pub processes: Vec<Process>,
    /// Events per second of `eventgen`; 0 is no limit.
    pub rate: f64,
    /// What `run` asks for.
    pub duration_s: Option<f64>,
    pub messages: Vec<String>,
    pub variables: BTreeMap<String, crate::lang::Value>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Fileset {
    pub name: String,
    pub path: String,
    pub size: Amount,
    pub entries: u64,
    pub dirwidth: Amount,
    /// Gamma shape of width and depth; 0 makes both fixed.
    pub dirgamma: f64,
    /// Share of the files that exist at the start.
    pub prealloc_percent: f64,
    /// Create files with several threads.
    pub paralloc: bool,
    pub readonly: bool,
    pub writeonly: bool,
}

impl Fileset {
    /// Bytes of all its files in the mean, existing at the start or not.
    pub fn mean_size_b(&self) -> f64 {
        self.entries as f64 * self.size.mean()
    }
}

#[derive(Clone, Debug)]
pub struct Process {
    pub name: String,
    pub instances: u64,
    pub nice: i32,
    pub threads: Vec<Thread>,
}

#[derive(Clone, Debug)]
pub struct Thread {
    pub name: String,
    pub instances: u64,
    /// Bytes of the thread's buffer; it is never smaller than its flowops need.
    pub memsize: u64,
    pub flowops: Vec<Flowop>,
}

/// Where a flowop stands in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowopId {
    pub process: usize,
    pub thread: usize,
    pub flowop: usize,
}

#[derive(Clone, Debug)]
pub struct Flowop {
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
    pub value: Amount,
    pub targets: Vec<FlowopId>,
    pub blocking: bool,
    pub highwater: u32,
}

macro_rules! operations {
    ($($variant:ident $name:literal $class:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Operation { $($variant),* }

        impl Operation {
            pub const ALL: &'static [Operation] = &[$(Operation::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $(Operation::$variant => $name),* }
            }

            pub fn class(self) -> Class {
                match self { $(Operation::$variant => Class::$class),* }
            }
        }
    };
}

/// How a flowop is accounted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// I/O that moves no data.
    Metadata,
    Reads,
    Writes,
    /// Synchronisation, limits and idling: measured, but no work.
    Other,
}

operations! {
    OpenFile "openfile" Metadata,
    CreateFile "createfile" Metadata,
    CloseFile "closefile" Metadata,
    DeleteFile "deletefile" Metadata,
    StatFile "statfile" Metadata,
    Read "read" Reads,
    Write "write" Writes,
    ReadWholeFile "readwholefile" Reads,
    WriteWholeFile "writewholefile" Writes,
    AppendFile "appendfile" Writes,
    AppendFileRand "appendfilerand" Writes,
    Fsync "fsync" Metadata,
    AioWrite "aiowrite" Writes,
    AioWait "aiowait" Metadata,
    Block "block" Other,
    Wakeup "wakeup" Other,
    SemBlock "semblock" Other,
    SemPost "sempost" Other,
    Hog "hog" Other,
    Delay "delay" Other,
    EventLimit "eventlimit" Other,
    OpsLimit "opslimit" Other,
    IopsLimit "iopslimit" Other,
    BwLimit "bwlimit" Other,
    FinishOnCount "finishoncount" Other,
    FinishOnBytes "finishonbytes" Other,
}

impl Operation {
    /// Whether its ops are work: those of the kinds IO and AIO.
    pub fn is_counted(self) -> bool {
        self.class() != Class::Other
    }

    /// Opens a file by itself if its slot is empty and it names a fileset.
    pub fn transfers(self) -> bool {
        matches!(self.class(), Class::Reads | Class::Writes)
    }

    /// Blocks until another flowop targets it.
    pub fn is_gate(self) -> bool {
        matches!(self, Operation::Block | Operation::SemBlock)
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
