//! The commands that the disk has taken and not yet answered.

use crate::device::{Action, Command, Ns};
use crate::disk::geometry::Place;

/// How far a command has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The electronics read it.
    Read,
    /// It waits for one before it that overlaps, or for room in the write cache.
    Held,
    /// Its data come in over the bus.
    Incoming,
    /// It wants the media: a read, or a write whose data are in.
    Waiting,
    /// The media are at it.
    Served,
    /// A flush waits until all that came in up to this mark is on the media.
    Flushing { mark: u64 },
    /// Its data go out over the bus.
    Outgoing,
}

#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub command: Command,
    pub submitted: Ns,
    /// Where it begins; none of a flush.
    pub place: Option<Place>,
    pub stage: Stage,
}

/// Commands in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Queue(Vec<Pending>);

impl Queue {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn push(&mut self, pending: Pending) {
        self.0.push(pending);
    }

    pub fn get(&self, index: usize) -> &Pending {
        &self.0[index]
    }

    pub fn set(&mut self, index: usize, stage: Stage) {
        self.0[index].stage = stage;
    }

    pub fn remove(&mut self, index: usize) -> Pending {
        self.0.remove(index)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Pending> {
        self.0.iter()
    }

    /// Where the command of a tag stands.
    ///
    /// # Panics
    /// If it does not wait any more.
    pub fn find(&self, tag: u64) -> usize {
        self.0
            .iter()
            .position(|pending| pending.command.tag == tag)
            .expect("a command that is at work waits for its answer")
    }

    /// Whether one that came before overlaps: they are carried out in their order. A write also
    /// waits behind writes that are held, so that none waits for room for ever.
    pub fn holds(&self, index: usize) -> bool {
        let command = self.0[index].command;
        self.0[..index].iter().any(|before| {
            let writes = before.command.action == Action::Write && command.action == Action::Write;
            before.command.extent.overlaps(command.extent)
                || (writes && before.stage == Stage::Held)
        })
    }

    /// The first at this stage or behind it in the queue.
    pub fn next_at(&self, stage: Stage, from: usize) -> Option<usize> {
        let behind = self.0.iter().skip(from);
        let found = behind.take_while(|pending| pending.stage != stage).count() + from;
        (found < self.0.len()).then_some(found)
    }

    /// Forget all; they are never answered.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
