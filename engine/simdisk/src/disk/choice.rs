//! What the media should do next, of all that is wanted of them.

use std::mem;

use crate::device::{Action, Extent};
use crate::disk::Disk;
use crate::disk::media::Media;
use crate::disk::policy::{Candidate, Policy, Target};
use crate::disk::queue::Stage;
use crate::time::Ns;

/// Of what is cached, so many runs are looked at to choose the next: as many as a queue holds.
const DESTAGED_RUNS: usize = 64;

impl Disk {
    /// What the media should serve next.
    pub(super) fn choose(&mut self, at: Ns) -> Option<Target> {
        let mut candidates = mem::take(&mut self.candidates);
        self.wanted_destages(at, &mut candidates);
        if !candidates.is_empty() || !self.queue.waiting().is_empty() {
            self.settle_reading_ahead(at);
            candidates.extend(self.waiting_command(at));
        }
        let chosen = match candidates[..] {
            [] => None,
            [only] => Some(only.target),
            _ => self
                .policy
                .choose(&candidates, &self.mechanics, at, self.heads, self.behind),
        };
        candidates.clear();
        self.candidates = candidates;
        chosen
    }

    /// Of the commands that wait, the one that the policy chooses among all.
    fn waiting_command(&mut self, at: Ns) -> Option<Candidate> {
        let waiting = self.queue.waiting();
        let (nth, since) = match self.policy {
            Policy::Elevator => {
                let nth = waiting
                    .from(self.behind)
                    .next()
                    .or(waiting.from(0).next())?;
                (nth, self.queue.get(nth).submitted)
            }
            Policy::Fifo => {
                let nth = self.queue.oldest_waiting()?;
                (nth, self.queue.get(nth).submitted)
            }
            Policy::Sptf { .. } => {
                let oldest = self.queue.oldest_waiting()?;
                let since = self.queue.get(oldest).submitted;
                self.keep_round(at, oldest, since);
                (self.nearest(at)?, since)
            }
        };
        let pending = self.queue.get(nth);
        Some(Candidate {
            target: Target::Command(nth),
            action: pending.command.action,
            sector: pending.command.extent.sector,
            place: pending.place?,
            order: (nth, 0),
            since,
        })
    }

    /// Close the round behind the last command that came, if the oldest that waits is overdue; end
    /// a round of which none waits any more.
    ///
    /// Overdue commands alone, oldest first, would be served in the order of arrival as soon as
    /// the queue takes longer than the limit: a deeper queue would be slower.
    fn keep_round(&mut self, at: Ns, oldest: u64, since: Ns) {
        if self.round_end.is_some_and(|end| oldest >= end) {
            self.round_end = None;
        }
        if self.round_end.is_none() && self.policy.is_overdue(since, at) {
            self.round_end = Some(self.queue.end());
        }
    }

    /// The waiting command of the round with the shortest positioning time, of several the one that
    /// came first. From the heads outwards, as far as the arm's way alone takes no longer than that time.
    fn nearest(&self, at: Ns) -> Option<u64> {
        let round_end = self.round_end.unwrap_or(u64::MAX);
        let distance = |nth: u64| {
            if nth >= round_end {
                return None;
            }
            let pending = self.queue.get(nth);
            let place = pending.place?;
            let cylinders = place.heads.cylinder.abs_diff(self.heads.cylinder);
            Some((cylinders, nth, place, pending.command.action))
        };
        let waiting = self.queue.waiting();
        let mut inwards = waiting.from(self.over).filter_map(distance).peekable();
        let mut outwards = waiting.before(self.over).filter_map(distance).peekable();
        let mut best: Option<(Ns, u64)> = None;
        loop {
            let next = match (inwards.peek(), outwards.peek()) {
                (Some(inner), Some(outer)) if outer.0 < inner.0 => outwards.next(),
                (Some(_), _) => inwards.next(),
                (None, _) => outwards.next(),
            };
            let Some((cylinders, nth, place, action)) = next else {
                break;
            };
            let arm_ns = self.mechanics.seek().arm_ns(cylinders);
            if best.is_some_and(|(least, _)| arm_ns > least) {
                break;
            }
            let positioning_ns = self
                .mechanics
                .positioning_to_ns(self.heads, at, place, action);
            let found = (positioning_ns, nth);
            best = Some(best.map_or(found, |best| best.min(found)));
        }
        best.map(|(_, nth)| nth)
    }

    /// What must be written, of the cache: for a flush what it waits for, for a write without room
    /// anything, and everything if nobody wants the media.
    fn wanted_destages(&self, at: Ns, candidates: &mut Vec<Candidate>) {
        if self.cache.dirty().is_empty() {
            return;
        }
        let flush = self
            .queue
            .iter()
            .find_map(|(nth, pending)| match pending.stage {
                Stage::Flushing { mark } => Some((mark, nth, pending.submitted)),
                _ => None,
            });
        let without_room = || {
            self.queue.iter().find_map(|(nth, pending)| {
                let held = pending.stage == Stage::Held;
                let command = pending.command;
                let lacks = held
                    && command.action == Action::Write
                    && !self.cache.has_room(command.extent.sectors);
                lacks.then_some((u64::MAX, nth, pending.submitted))
            })
        };
        let reading_ahead = matches!(self.media, Media::ReadingAhead(_));
        let idle = self.queue.waiting().is_empty() && (!reading_ahead || self.standby_wanted);
        let wanted = flush
            .or_else(without_room)
            .or(idle.then_some((u64::MAX, 0, at)));
        let Some((mark, nth, since)) = wanted else {
            return;
        };
        let candidate = |(sector, written)| Candidate {
            target: Target::Destage(sector),
            action: Action::Write,
            sector,
            place: self.mechanics.geometry().place(sector),
            order: (nth, written),
            since,
        };
        // what is about to be replaced waits for what comes
        let is_settled = |&(sector, _): &(u64, u64)| {
            let extent = Extent { sector, sectors: 1 };
            self.queue.first_incoming(extent).is_none()
        };
        let dirty = self.cache.dirty();
        if self.policy == Policy::Fifo {
            candidates.extend(dirty.oldest().filter(is_settled).map(candidate));
        } else {
            let runs = dirty.around(self.behind);
            let wanted = runs.filter(|run| run.1 <= mark && is_settled(run));
            candidates.extend(wanted.take(DESTAGED_RUNS).map(candidate));
        }
    }

    /// What goes to the media in one go from a dirty sector on, but nothing that is being replaced.
    pub(super) fn destaged(&self, sector: u64) -> Extent {
        let joined = self.cache.joined(sector);
        let end = self.queue.first_incoming(joined).unwrap_or(joined.end());
        Extent {
            sector,
            sectors: end - sector,
        }
    }
}
