//! What every device under test is: it takes commands, and tells what happens when.

use std::collections::BTreeMap;

use crate::ledger::Ledger;
use crate::time::Ns;

/// Bytes of a sector, the unit of all addresses.
pub const SECTOR_B: u64 = 512;

/// What a command asks for. A flush and a discard of a disk have no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Read,
    Write,
    Flush,
    Discard,
}

impl Action {
    const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Flush, Self::Discard];

    /// The word for it in traces and logs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Discard => "discard",
        }
    }

    /// The action of a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.word() == word)
    }
}

/// The columns of a log, of a server in real time as of a simulation.
pub const LOG_HEAD: &str = "stream,action,sector,sectors,issued_ns,sent_ns,planned_ns,done_ns";

/// Neighbouring sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    pub sector: u64,
    pub sectors: u64,
}

impl Extent {
    /// The first sector behind.
    pub fn end(self) -> u64 {
        self.sector + self.sectors
    }

    pub fn overlaps(self, other: Self) -> bool {
        self.sector < other.end() && other.sector < self.end()
    }

    pub fn contains(self, sector: u64) -> bool {
        (self.sector..self.end()).contains(&sector)
    }
}

/// One command. `tag` is the host's name for it, never used twice. The extent of a flush is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub tag: u64,
    pub action: Action,
    pub extent: Extent,
    /// Of a write: complete only once the media hold it.
    pub through: bool,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// This sector could not be read.
    Unreadable(u64),
    /// The device does not answer any more.
    Gone,
}

/// What happens in a device. It moves no data: who drives it does, as these events say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The data of this write are in the device's volatile memory: from now on it reads so.
    Cached { tag: u64 },
    /// The media hold what the volatile memory holds of these sectors: a power cut leaves it so.
    Stored { extent: Extent },
    /// The media hold nothing here any more; reads give zeros.
    Dropped { extent: Extent },
    /// The answer to a command. The data of a read are those of this moment.
    Completed { tag: u64, outcome: Outcome },
}

/// A device, as a state machine in time.
///
/// Times never go back, and `advance` to a time comes before `submit` at that time. Commands that
/// overlap are carried out in the order in which they came.
pub trait Device: Send {
    /// The capacity.
    fn sectors(&self) -> u64;

    /// Commands that it takes at once.
    fn depth(&self) -> usize;

    /// Commands that it has taken and not completed.
    fn waiting(&self) -> usize;

    /// Take a command. The caller has seen that there is room, and that it ends within the device.
    fn submit(&mut self, at: Ns, command: Command);

    /// When something happens next without a further command, if anything does.
    fn next(&self) -> Option<Ns>;

    /// Go on to this time; append what happens until then and then, in the order of time.
    fn advance(&mut self, to: Ns, events: &mut Vec<(Ns, Event)>);

    /// Lose power: append what the media got until now, forget all that is volatile and all
    /// commands, which are never completed. Nothing may be submitted until `restore_power`.
    fn cut_power(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>);

    /// Begin to start up; commands wait until the device is ready.
    fn restore_power(&mut self, at: Ns);

    /// Be as if ready since long: nothing waits or is cached, the heads stand at the first track.
    /// Only called when nothing waits and everything is stored. Counters and energy go on.
    fn reset(&mut self, at: Ns);

    /// What it has drawn, settled to the time of the last call.
    fn ledger(&self) -> &Ledger;

    /// What it has counted since it was made, by name with unit: `seeks_count`, `media_read_b`,
    /// `start_stops_count` and so on.
    fn counters(&self) -> BTreeMap<&'static str, u64>;
}
