//! Reading ahead: after a read the heads read on, as long as nothing is wanted of them.
//!
//! It makes no events of its own. How far it has come follows from when the pass over the media
//! began, so that nothing is ever in memory before it has passed under a head.

use crate::device::{Action, Extent};
use crate::disk::Disk;
use crate::disk::ahead::Ahead;
use crate::disk::media::Media;
use crate::disk::stream::Pass;
use crate::time::Ns;

impl Disk {
    /// Go on reading behind a segment, which a pass has just filled to its end.
    pub(super) fn read_ahead(&mut self, at: Ns, pass: Pass, segment: usize) {
        let end = self.segments.get(segment).end();
        let limit = self.ahead_of(end);
        if limit == end {
            return self.rest(at);
        }
        self.media = Media::ReadingAhead(Ahead {
            pass,
            segment,
            limit,
            until: self.passed(pass, limit - 1),
            noted: at,
        });
    }

    /// The host has got an extent from memory: if that is being filled, there is more to read.
    pub(super) fn read_further_ahead(&mut self, extent: Extent) {
        let limit = self.ahead_of(extent.end());
        let Media::ReadingAhead(ahead) = self.media else {
            return;
        };
        let held = self.segments.get(ahead.segment);
        if held.contains(extent.end() - 1) && limit > ahead.limit {
            self.media = Media::ReadingAhead(Ahead { limit, ..ahead });
        }
    }

    /// Stop reading ahead, unless the limit has been moved on.
    pub(super) fn end_reading_ahead(&mut self, at: Ns, ahead: Ahead) {
        let until = self.passed(ahead.pass, ahead.limit - 1);
        if until > at {
            self.media = Media::ReadingAhead(Ahead { until, ..ahead });
        } else {
            self.stop_reading_ahead(at);
        }
    }

    /// How far is read, if a host has got everything before a sector.
    fn ahead_of(&self, sector: u64) -> u64 {
        let last = self.mechanics.geometry().sectors();
        let sectors = self.read_ahead_sectors.min(last - sector);
        let ahead = Extent { sector, sectors };
        let unreadable = self.faults.unreadable.first_in(ahead);
        unreadable.unwrap_or(ahead.end())
    }

    /// Note how far reading ahead has come.
    pub(super) fn settle_reading_ahead(&mut self, at: Ns) {
        let Media::ReadingAhead(ahead) = &mut self.media else {
            return;
        };
        if ahead.noted == at {
            return;
        }
        ahead.noted = at;
        let Ahead {
            pass,
            segment,
            limit,
            ..
        } = *ahead;
        let before = self.segments.get(segment).end();
        let reached = self.mechanics.reached_in(pass, at).min(limit);
        if reached > before {
            self.counters.media_read_sectors += reached - before;
            self.counters.read_ahead_sectors += reached - before;
            self.segments.fill(segment, reached);
            self.over = reached - 1;
            self.heads = self.mechanics.geometry().heads(self.over);
        }
    }

    /// Read no further ahead.
    pub(super) fn stop_reading_ahead(&mut self, at: Ns) {
        self.settle_reading_ahead(at);
        if matches!(self.media, Media::ReadingAhead(_)) {
            self.rest(at);
        }
    }

    /// Reading ahead and when it has read an extent, if that is as soon as by any other way.
    pub(super) fn comes_by(&self, at: Ns, extent: Extent) -> Option<(Ahead, Ns)> {
        let Media::ReadingAhead(ahead) = self.media else {
            return None;
        };
        let held = self.segments.get(ahead.segment);
        if !(held.sector..=ahead.limit).contains(&extent.sector) {
            return None;
        }
        let end = self.passed(ahead.pass, extent.end() - 1);
        // where it is, it need not go
        let soonest =
            extent.sector <= held.end() || end <= self.access(at, extent, Action::Read).end;
        soonest.then_some((ahead, end))
    }

    /// When a pass has read a sector.
    pub(super) fn passed(&self, pass: Pass, sector: u64) -> Ns {
        self.mechanics.passes_in(pass, sector)
    }

    /// The same; that of a sector which memory had before is when the pass began.
    pub(super) fn has_read(&self, pass: Pass, sector: u64) -> Ns {
        if sector < pass.sector {
            pass.began
        } else {
            self.passed(pass, sector)
        }
    }
}
