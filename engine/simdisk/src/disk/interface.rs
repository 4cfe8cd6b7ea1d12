//! Between the host and the disk's memory: electronics that read one command after the other, and
//! a bus that carries one transfer after the other.

use std::collections::VecDeque;

use crate::device::SECTOR_B;
use crate::profile::Interface as Profile;
use crate::time::{Ns, sooner};

/// Both work beside the media. What they have begun ends in the order in which it was begun.
/// Commands go by their numbers in the queue.
#[derive(Clone, Debug)]
pub struct Interface {
    command_ns: Ns,
    /// Picoseconds, for whole nanoseconds are too coarse for one sector.
    sector_ps: u64,
    electronics_free: Ns,
    bus_free: Ns,
    commands: VecDeque<(Ns, u64)>,
    transfers: VecDeque<(Ns, u64)>,
}

impl Interface {
    pub fn new(profile: &Profile) -> Self {
        Self {
            command_ns: (profile.command_ms * 1e6).round() as Ns,
            sector_ps: (SECTOR_B as f64 * 1e6 / profile.bandwidth_mb_s).round() as u64,
            electronics_free: 0,
            bus_free: 0,
            commands: VecDeque::new(),
            transfers: VecDeque::new(),
        }
    }

    /// Read a command that has come.
    pub fn read(&mut self, at: Ns, nth: u64) {
        self.electronics_free = at.max(self.electronics_free) + self.command_ns;
        self.commands.push_back((self.electronics_free, nth));
    }

    /// Pass a command on unread.
    pub fn pass(&mut self, at: Ns, nth: u64) {
        self.commands.push_back((at, nth));
    }

    /// Carry data of which the first sector is there at `first` and the last at `last`. Writes are
    /// there at once; what is read from the media goes over the bus as it comes.
    pub fn carry(&mut self, nth: u64, sectors: u64, first: Ns, last: Ns) {
        let in_one = first.max(self.bus_free) + self.span_ns(sectors);
        self.bus_free = in_one.max(last + self.span_ns(1));
        self.transfers.push_back((self.bus_free, nth));
    }

    fn span_ns(&self, sectors: u64) -> Ns {
        (sectors * self.sector_ps).div_ceil(1000)
    }

    /// When something ends next.
    pub fn next(&self) -> Option<Ns> {
        let command = self.commands.front().map(|end| end.0);
        let transfer = self.transfers.front().map(|end| end.0);
        sooner(command, transfer)
    }

    /// The next command that has been read.
    pub fn command(&mut self, at: Ns) -> Option<u64> {
        ended(&mut self.commands, at)
    }

    /// The next transfer that has ended.
    pub fn transfer(&mut self, at: Ns) -> Option<u64> {
        ended(&mut self.transfers, at)
    }

    /// Forget everything, and read nothing until a time.
    pub fn restart(&mut self, at: Ns) {
        self.commands.clear();
        self.transfers.clear();
        self.electronics_free = at;
        self.bus_free = at;
    }
}

fn ended(going_on: &mut VecDeque<(Ns, u64)>, at: Ns) -> Option<u64> {
    let &(end, nth) = going_on.front()?;
    (end <= at).then(|| {
        going_on.pop_front();
        nth
    })
}
