//! Reading or writing on and on, in the order of addresses: when each sector passes.

use crate::device::{Action, Ns};
use crate::disk::geometry::{Geometry, Zone};
use crate::disk::seek::Seek;

/// The timeline of one pass over the whole disk, which begins with the first sector at 0. Every
/// stretch of addresses that is read or written without a break passes as it does there.
#[derive(Clone, Debug)]
pub struct Stream {
    runs: Vec<Run>,
}

/// The pass over one zone. Within it the time is counted in slots, so that any sector's is known
/// without going through those before it.
#[derive(Clone, Debug)]
struct Run {
    /// When its first sector begins.
    start_ns: Ns,
    /// The index before that: the time from which its slots are counted.
    index_ns: Ns,
    /// From the start of a track to that of the next, and of a cylinder to that of the next.
    track_slots: u64,
    cylinder_slots: u64,
}

impl Stream {
    pub fn new(geometry: &Geometry, seek: &Seek, action: Action) -> Self {
        let revolution_ns = geometry.revolution_ns();
        let mut runs = Vec::with_capacity(geometry.zones().len());
        let mut ready_ns = 0;
        for zone in geometry.zones() {
            // the first index after which the zone's first sector is not missed
            let origin_ns = zone.slots_ns(zone.origin);
            let index_ns = ready_ns
                .max(origin_ns)
                .abs_diff(origin_ns)
                .div_ceil(revolution_ns)
                * revolution_ns;
            let step = |skew, move_ns| zone.sectors_per_track + gap_slots(zone, skew, move_ns);
            let track_slots = step(zone.head_skew, seek.next_head_ns(action));
            let last_track_slots = step(zone.cylinder_skew, seek.next_cylinder_ns(action));
            let run = Run {
                start_ns: index_ns + origin_ns,
                index_ns,
                track_slots,
                cylinder_slots: (zone.heads - 1) * track_slots + last_track_slots,
            };
            let last = zone.extent.end() - 1;
            ready_ns = run.end_ns(zone, last) + seek.next_cylinder_ns(action);
            runs.push(run);
        }
        Self { runs }
    }

    /// When the end of `target` passes, if the start of `sector` passed at `began`.
    pub fn passes(&self, geometry: &Geometry, sector: u64, began: Ns, target: u64) -> Ns {
        let zone = geometry.zone_of(target);
        let end_ns = self.runs[zone].end_ns(&geometry.zones()[zone], target);
        began + (end_ns - self.begin_ns(geometry, sector))
    }

    /// The first sector that has not passed whole at a time.
    pub fn reached(&self, geometry: &Geometry, sector: u64, began: Ns, at: Ns) -> u64 {
        let goal_ns = self.begin_ns(geometry, sector) + at.saturating_sub(began);
        let zone = self.runs.partition_point(|run| run.start_ns <= goal_ns) - 1;
        self.runs[zone].reached(&geometry.zones()[zone], goal_ns)
    }

    fn begin_ns(&self, geometry: &Geometry, sector: u64) -> Ns {
        let zone = geometry.zone_of(sector);
        let run = &self.runs[zone];
        let zone = &geometry.zones()[zone];
        run.index_ns + zone.slots_ns(run.slots(zone, sector))
    }
}

impl Run {
    /// Slots from index to the start of a sector.
    fn slots(&self, zone: &Zone, sector: u64) -> u64 {
        let spot = zone.spot(sector);
        let tracks = spot.cylinder * self.cylinder_slots + spot.head * self.track_slots;
        zone.origin + tracks + spot.index
    }

    fn end_ns(&self, zone: &Zone, sector: u64) -> Ns {
        self.index_ns + zone.slots_ns(self.slots(zone, sector) + 1)
    }

    fn reached(&self, zone: &Zone, at: Ns) -> u64 {
        let slots = zone.slots_within(at - self.index_ns) - zone.origin;
        let cylinder = slots / self.cylinder_slots;
        let slots = slots % self.cylinder_slots;
        let head = (slots / self.track_slots).min(zone.heads - 1);
        let index = (slots - head * self.track_slots).min(zone.sectors_per_track);
        let track = cylinder * zone.heads + head;
        let passed = track * zone.sectors_per_track + index;
        zone.extent.sector + passed.min(zone.extent.sectors)
    }
}

/// Slots from the end of a track to the start of the next: its skew, and whole revolutions as long
/// as the heads are not there.
fn gap_slots(zone: &Zone, skew: u64, move_ns: Ns) -> u64 {
    let needed = move_ns * zone.sectors_per_track;
    let given = skew * zone.revolution_ns;
    let revolution = zone.revolution_ns * zone.sectors_per_track;
    skew + needed.saturating_sub(given).div_ceil(revolution) * zone.sectors_per_track
}
