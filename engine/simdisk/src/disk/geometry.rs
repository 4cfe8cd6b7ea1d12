//! Where the sectors lie: zones, tracks, and the angle at which each sector passes the heads.
//!
//! Addresses go along a track, then to the next head of the cylinder, then to the next cylinder
//! inwards. An angle is a time: that since index passed, within a revolution. A track is divided
//! into as many slots as it has sectors; each bound between two slots is rounded down to a whole
//! nanosecond, so that a track's sectors add up to exactly one revolution. A skew is a number of
//! slots by which a track begins later than the track before it ends.

use crate::device::{Action, Extent, Ns, SECTOR_B};
use crate::disk::seek::Seek;
use crate::profile::disk::GeometryProfile;

/// The track under the heads, of which one at a time reads or writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heads {
    pub cylinder: u32,
    pub head: u32,
}

/// The sectors of a track, those of them that the user has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Track {
    pub extent: Extent,
    pub cylinder: u32,
    pub head: u32,
}

/// Where the heads must be, and when in a revolution, for a sector to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub heads: Heads,
    pub angle_ns: Ns,
}

/// Neighbouring cylinders with equally long tracks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// The sectors of it that the user has.
    pub extent: Extent,
    pub sectors_per_track: u64,
    pub first_cylinder: u32,
    pub(super) revolution_ns: Ns,
    pub(super) heads: u64,
    /// In slots, less than a revolution.
    pub(super) head_skew: u64,
    pub(super) cylinder_skew: u64,
    /// The slot of its first sector.
    pub(super) origin: u64,
}

/// A sector within its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub cylinder: u64,
    pub head: u64,
    /// Sectors of its track that lie before it.
    pub index: u64,
}

impl Zone {
    /// What passes a head that stays on its track, in B/s.
    pub fn media_rate_b_s(&self) -> f64 {
        (self.sectors_per_track * SECTOR_B) as f64 * 1e9 / self.revolution_ns as f64
    }

    pub(super) fn spot(&self, sector: u64) -> Spot {
        let within = sector - self.extent.sector;
        let track = within / self.sectors_per_track;
        Spot {
            cylinder: track / self.heads,
            head: track % self.heads,
            index: within % self.sectors_per_track,
        }
    }

    fn heads_at(&self, spot: Spot) -> Heads {
        Heads {
            cylinder: self.first_cylinder + spot.cylinder as u32,
            head: spot.head as u32,
        }
    }

    /// The slot of a sector, less than a revolution.
    fn slot(&self, spot: Spot) -> u64 {
        let by_cylinder = (self.heads - 1) * self.head_skew + self.cylinder_skew;
        let skew = spot.cylinder * by_cylinder + spot.head * self.head_skew;
        (self.origin + skew + spot.index) % self.sectors_per_track
    }

    /// How long slots take from index on; they may be more than a revolution.
    pub(super) fn slots_ns(&self, slots: u64) -> Ns {
        let turns = slots / self.sectors_per_track;
        let rest = slots % self.sectors_per_track;
        turns * self.revolution_ns + rest * self.revolution_ns / self.sectors_per_track
    }

    /// How many slots have passed whole in a time from index on.
    pub(super) fn slots_within(&self, span_ns: Ns) -> u64 {
        let turns = span_ns / self.revolution_ns;
        let rest_ns = span_ns % self.revolution_ns;
        // bounds are rounded down: the m-th is at most `rest_ns` as long as m * revolution is less
        // than (rest + 1) * slots
        let rest = ((rest_ns + 1) * self.sectors_per_track - 1) / self.revolution_ns;
        turns * self.sectors_per_track + rest
    }

    fn angle_ns(&self, spot: Spot) -> Ns {
        self.slot(spot) * self.revolution_ns / self.sectors_per_track
    }

    /// The angle at which the last sector ends.
    pub(super) fn end_angle_ns(&self) -> Ns {
        let last = self.slot(self.spot(self.extent.end() - 1));
        self.slots_ns(last + 1) % self.revolution_ns
    }
}

/// All zones of a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    zones: Vec<Zone>,
    revolution_ns: Ns,
    cylinders: u32,
}

impl Geometry {
    /// The layout of a profile that has been checked. A skew that it does not give is what the
    /// heads take to the next track before a write, so that neither reads nor writes in the order
    /// of addresses lose a revolution; every skew is rounded up to whole sectors of its zone.
    pub fn new(profile: &GeometryProfile, seek: &Seek) -> Self {
        let revolution_ns = (60e9 / f64::from(profile.rpm)).round() as Ns;
        let heads = u64::from(profile.heads);
        let given_ns = |skew_us: Option<f64>| skew_us.map(|us| (us * 1e3).round() as Ns);
        let head_skew_ns =
            given_ns(profile.head_skew_us).unwrap_or_else(|| seek.next_head_ns(Action::Write));
        let cylinder_skew_ns = given_ns(profile.cylinder_skew_us)
            .unwrap_or_else(|| seek.next_cylinder_ns(Action::Write));

        let mut geometry = Self {
            zones: Vec::with_capacity(profile.zones.len()),
            revolution_ns,
            cylinders: 0,
        };
        let mut left = profile.sectors.unwrap_or(u64::MAX);
        for zone in &profile.zones {
            let sectors_per_track = u64::from(zone.sectors_per_track);
            let per_cylinder = heads * sectors_per_track;
            let sectors = left.min(u64::from(zone.cylinders) * per_cylinder);
            if sectors == 0 {
                break;
            }
            let slots = |span_ns: Ns| {
                (span_ns * sectors_per_track).div_ceil(revolution_ns) % sectors_per_track
            };
            let before = geometry.zones.last();
            geometry.zones.push(Zone {
                extent: Extent {
                    sector: geometry.sectors(),
                    sectors,
                },
                sectors_per_track,
                first_cylinder: geometry.cylinders,
                revolution_ns,
                heads,
                head_skew: slots(head_skew_ns),
                cylinder_skew: slots(cylinder_skew_ns),
                origin: before.map_or(0, |zone| slots(zone.end_angle_ns() + cylinder_skew_ns)),
            });
            geometry.cylinders += sectors.div_ceil(per_cylinder) as u32;
            left -= sectors;
        }
        geometry
    }

    /// The user's sectors.
    pub fn sectors(&self) -> u64 {
        self.zones.last().map_or(0, |zone| zone.extent.end())
    }

    /// Cylinders that hold them.
    pub fn cylinders(&self) -> u32 {
        self.cylinders
    }

    pub fn revolution_ns(&self) -> Ns {
        self.revolution_ns
    }

    /// Outermost first.
    pub fn zones(&self) -> &[Zone] {
        &self.zones
    }

    /// The number of the zone that holds a sector.
    pub fn zone_of(&self, sector: u64) -> usize {
        self.zones
            .partition_point(|zone| zone.extent.end() <= sector)
    }

    /// The track that holds a sector.
    ///
    /// # Panics
    /// Like all that follow, if the disk has no such sector.
    pub fn track(&self, sector: u64) -> Track {
        let zone = &self.zones[self.zone_of(sector)];
        let spot = zone.spot(sector);
        let Heads { cylinder, head } = zone.heads_at(spot);
        let first = sector - spot.index;
        let end = zone.extent.end().min(first + zone.sectors_per_track);
        Track {
            extent: Extent {
                sector: first,
                sectors: end - first,
            },
            cylinder,
            head,
        }
    }

    pub fn place(&self, sector: u64) -> Place {
        let zone = &self.zones[self.zone_of(sector)];
        let spot = zone.spot(sector);
        Place {
            heads: zone.heads_at(spot),
            angle_ns: zone.angle_ns(spot),
        }
    }

    /// When in a revolution the start of a sector passes the head, skew included.
    pub fn angle_ns(&self, sector: u64) -> Ns {
        self.place(sector).angle_ns
    }

    /// How long a sector takes to pass.
    pub fn sector_ns(&self, sector: u64) -> Ns {
        let zone = &self.zones[self.zone_of(sector)];
        let slot = zone.slot(zone.spot(sector));
        zone.slots_ns(slot + 1) - zone.slots_ns(slot)
    }
}
