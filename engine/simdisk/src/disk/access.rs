//! One access of the media, for a command or the write cache: how it begins and ends.

use crate::device::{Action, Command, Event, Extent, Outcome};
use crate::disk::Disk;
use crate::disk::job::{Job, Work};
use crate::disk::mechanics::Access;
use crate::disk::media::Media;
use crate::disk::power::State;
use crate::disk::queue::Stage;
use crate::disk::service::Service;
use crate::disk::stream::Pass;
use crate::time::Ns;

impl Disk {
    /// Begin to read what the memory has not got.
    pub(super) fn begin_read(&mut self, at: Ns, nth: u64, command: Command) {
        let Command { tag, extent, .. } = command;
        if let Some(sector) = self.unreadable(extent) {
            return self.begin_failing(at, nth, command, sector);
        }
        let job = match self.comes_by(at, extent) {
            Some((ahead, end)) => Job {
                work: Work::Read {
                    nth,
                    pass: ahead.pass,
                    segment: Some(ahead.segment),
                },
                extent,
                transfer_from: at,
                end,
                heads: self.mechanics.geometry().heads(extent.end() - 1),
            },
            None => {
                let access = self.move_to(at, extent, Action::Read);
                let pass = self.mechanics.pass(extent.sector, access.transfer_from);
                let segment = None;
                Job::of(Work::Read { nth, pass, segment }, extent, access)
            }
        };
        self.start(at, Some(tag), job);
    }

    /// Begin a read that ends at a sector that cannot be read.
    fn begin_failing(&mut self, at: Ns, nth: u64, command: Command, sector: u64) {
        let Command { tag, extent, .. } = command;
        let extent = Extent {
            sectors: sector + 1 - extent.sector,
            ..extent
        };
        let access = self.move_to(at, extent, Action::Read);
        self.account.then(access.end, Some(State::Rotate));
        let mut job = Job::of(Work::Fail { nth, sector }, extent, access);
        job.end += self.retry_ns;
        self.start(at, Some(tag), job);
    }

    /// The first sector of an extent that cannot be read and is not cached.
    fn unreadable(&self, extent: Extent) -> Option<u64> {
        let end = extent.end();
        let mut from = extent.sector;
        loop {
            let rest = Extent {
                sector: from,
                sectors: end - from,
            };
            let found = self.faults.unreadable.first_in(rest)?;
            match self.cache.dirty().end_at(found) {
                Some(cached) if cached < end => from = cached,
                Some(_) => return None,
                None => return Some(found),
            }
        }
    }

    pub(super) fn begin_write(&mut self, at: Ns, tag: Option<u64>, extent: Extent) {
        let access = self.move_to(at, extent, Action::Write);
        self.start(at, tag, Job::of(Work::Write, extent, access));
    }

    /// What an access would take now.
    pub(super) fn access(&self, at: Ns, extent: Extent, action: Action) -> Access {
        self.mechanics.access(self.heads, at, extent, action)
    }

    /// Move to an extent; account for it, and for the transfer until something else begins.
    fn move_to(&mut self, at: Ns, extent: Extent, action: Action) -> Access {
        let access = self.access(at, extent, action);
        if access.seek_end > at {
            self.counters.seeks += 1;
            self.account.then(at, Some(State::Seek));
        }
        if access.transfer_from > access.seek_end {
            self.account.then(access.seek_end, Some(State::Rotate));
        }
        self.account
            .then(access.transfer_from, Some(State::Transfer));
        access
    }

    fn start(&mut self, at: Ns, tag: Option<u64>, job: Job) {
        if let Some(log) = &mut self.log {
            log.push(Service {
                tag,
                action: job.work.action(),
                extent: job.extent,
                from: at,
                transfer_from: job.transfer_from,
                end: job.end,
            });
        }
        self.media = Media::Busy(job);
    }

    /// What the media did has come to its end.
    pub(super) fn end(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>) {
        match self.media {
            Media::Busy(job) => {
                self.behind = job.extent.end();
                self.over = self.behind - 1;
                self.heads = job.heads;
                match job.work {
                    Work::Read { nth, pass, segment } => {
                        self.end_read(at, job, nth, pass, segment);
                    }
                    Work::Fail { nth, sector } => {
                        self.counters.unreadable += 1;
                        self.rest(at);
                        self.complete(at, nth, Outcome::Unreadable(sector), events);
                    }
                    Work::Write => {
                        self.rest(at);
                        self.store(at, job.extent, events);
                        self.complete_stored(at, events);
                    }
                }
            }
            Media::ReadingAhead(ahead) => self.end_reading_ahead(at, ahead),
            Media::Turning { transition, .. } => self.turned(at, transition),
            Media::Idle { .. } | Media::Unloaded { .. } | Media::Standby | Media::Off => {}
        }
    }

    fn end_read(&mut self, at: Ns, job: Job, nth: u64, pass: Pass, segment: Option<usize>) {
        let extent = job.extent;
        let read_before = segment.map_or(extent.sector, |segment| self.segments.get(segment).end());
        self.counters.media_read_sectors += extent.end() - read_before;
        let segment = segment.unwrap_or_else(|| self.segments.begin(extent.sector));
        self.segments.fill(segment, extent.end());

        let first = job.transfer_from.max(self.has_read(pass, extent.sector));
        self.interface.carry(nth, extent.sectors, first, at);
        self.queue.set(nth, Stage::Outgoing);

        // a disk that hung has lost its place
        if at == job.end {
            self.read_ahead(at, pass, segment);
        } else {
            self.rest(at);
        }
    }

    /// The media hold an extent now, as the cache had it.
    fn store(&mut self, at: Ns, extent: Extent, events: &mut Vec<(Ns, Event)>) {
        self.cache.clean(extent);
        self.faults.unreadable.remove(extent);
        self.counters.media_writes += 1;
        self.counters.media_written_sectors += extent.sectors;
        events.push((at, Event::Stored { extent }));
    }

    /// If the media are writing, keep what has passed under the head whole.
    pub(super) fn end_write_early(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>) {
        let Media::Busy(job) = self.media else { return };
        if job.work != Work::Write || at < job.transfer_from {
            return;
        }
        let extent = job.extent;
        let reached = self.mechanics.reached(extent.sector, job.transfer_from, at);
        let sectors = reached.min(extent.end()) - extent.sector;
        if sectors > 0 {
            self.store(at, Extent { sectors, ..extent }, events);
        }
    }
}
