//! Reading or writing on and on, in the order of addresses: when each sector passes.

use crate::disk::geometry::{Geometry, Zone};
use crate::disk::seek::Seek;
use crate::time::Ns;

/// The timeline of one pass over the whole disk, which begins with the first sector at 0. Every
/// stretch of addresses that is read or written without a break passes as it does there.
#[derive(Clone, Debug)]
pub struct Stream {
    runs: Vec<Run>,
}

/// A part of that timeline, moved: reading or writing on and on since the start of a sector came
/// under the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    pub sector: u64,
    pub began: Ns,
    /// When the timeline would have begun: perhaps before 0, so that it is one modulo 2^64.
    origin: Ns,
}

/// The pass over one zone, of which every track takes as long as every other.
#[derive(Clone, Debug)]
struct Run {
    start_ns: Ns,
    /// From the start of a track to that of the next, and of a cylinder to that of the next.
    track_ns: Ns,
    cylinder_ns: Ns,
}

impl Stream {
    pub fn new(geometry: &Geometry, seek: &Seek) -> Self {
        let next_head_ns = seek.next_head_ns();
        let next_cylinder_ns = seek.next_cylinder_ns();
        let mut runs = Vec::with_capacity(geometry.zones().len());
        let mut ready_ns = 0;
        for zone in geometry.zones() {
            let track_ns = zone.revolution_ns + gap_ns(geometry, zone.head_skew_ns, next_head_ns);
            let last_track_ns =
                zone.revolution_ns + gap_ns(geometry, zone.cylinder_skew_ns, next_cylinder_ns);
            let run = Run {
                start_ns: ready_ns + geometry.rotation_ns(ready_ns, zone.origin_ns),
                track_ns,
                cylinder_ns: (zone.heads - 1) * track_ns + last_track_ns,
            };
            ready_ns = run.end_ns(zone, zone.extent.end() - 1) + next_cylinder_ns;
            runs.push(run);
        }
        Self { runs }
    }

    /// The pass in which the start of a sector came under the head at a time.
    pub fn pass(&self, geometry: &Geometry, sector: u64, began: Ns) -> Pass {
        let zone = geometry.zone_of(sector);
        let begin_ns = self.runs[zone].passed_ns(&geometry.zones()[zone], sector, 0);
        Pass {
            sector,
            began,
            origin: began.wrapping_sub(begin_ns),
        }
    }

    /// When the end of `target` passes.
    pub fn passes(&self, geometry: &Geometry, pass: Pass, target: u64) -> Ns {
        let zone = geometry.zone_of(target);
        let end_ns = self.runs[zone].end_ns(&geometry.zones()[zone], target);
        pass.origin.wrapping_add(end_ns)
    }

    /// The first sector that has not passed whole at a time.
    pub fn reached(&self, geometry: &Geometry, pass: Pass, at: Ns) -> u64 {
        let goal_ns = at.max(pass.began).wrapping_sub(pass.origin);
        let zone = self.runs.partition_point(|run| run.start_ns <= goal_ns) - 1;
        self.runs[zone].reached(&geometry.zones()[zone], goal_ns)
    }
}

impl Run {
    fn end_ns(&self, zone: &Zone, sector: u64) -> Ns {
        self.passed_ns(zone, sector, 1)
    }

    /// When so many sectors have passed on its track from a sector on.
    fn passed_ns(&self, zone: &Zone, sector: u64, sectors: u64) -> Ns {
        let spot = zone.spot(sector);
        let track_ns = spot.cylinder * self.cylinder_ns + spot.head * self.track_ns;
        self.start_ns + track_ns + zone.sectors_ns(spot.index + sectors)
    }

    fn reached(&self, zone: &Zone, at: Ns) -> u64 {
        let since_ns = at - self.start_ns;
        let cylinder = since_ns / self.cylinder_ns;
        let since_ns = since_ns % self.cylinder_ns;
        let head = (since_ns / self.track_ns).min(zone.heads - 1);
        let index = zone.passed(since_ns - head * self.track_ns);
        let passed = (cylinder * zone.heads + head) * zone.sectors_per_track + index;
        zone.extent.sector + passed.min(zone.extent.sectors)
    }
}

/// From the end of a track to the start of the next: the skew, and whole revolutions as long as the
/// heads are not there.
fn gap_ns(geometry: &Geometry, skew_ns: Ns, move_ns: Ns) -> Ns {
    move_ns + geometry.rotation_ns(move_ns, skew_ns % geometry.revolution_ns())
}
