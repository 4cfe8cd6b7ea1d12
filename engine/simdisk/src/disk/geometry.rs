//! Where the sectors lie: zones, tracks, and the angle at which each sector passes the heads.
//!
//! Addresses go along a track, then to the next head of the cylinder, then to the next cylinder
//! inwards. An angle is a time: that since index passed, within a revolution. Sectors begin whole
//! nanoseconds after their track does, rounded down, so that those of a track add up to exactly one
//! revolution; a track begins a skew after the end of the track before it.

use crate::device::{Extent, SECTOR_B};
use crate::disk::heads::Heads;
use crate::disk::seek::Seek;
use crate::profile::disk::GeometryProfile;
use crate::time::Ns;

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
    pub(super) head_skew_ns: Ns,
    pub(super) cylinder_skew_ns: Ns,
    /// The angle at which its first sector begins.
    pub(super) origin_ns: Ns,
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

    /// From the start of a track until so many of its sectors have passed.
    pub(super) fn sectors_ns(&self, sectors: u64) -> Ns {
        sectors * self.revolution_ns / self.sectors_per_track
    }

    /// How many sectors of a track have passed whole so long after its start.
    pub(super) fn passed(&self, since_ns: Ns) -> u64 {
        // the most for which `sectors_ns`, which rounds down, is not more than `since_ns`
        let passed = ((since_ns + 1) * self.sectors_per_track - 1) / self.revolution_ns;
        passed.min(self.sectors_per_track)
    }

    /// When a track begins, after any whole revolutions.
    fn track_ns(&self, spot: Spot) -> Ns {
        let cylinder_ns = (self.heads - 1) * self.head_skew_ns + self.cylinder_skew_ns;
        self.origin_ns + spot.cylinder * cylinder_ns + spot.head * self.head_skew_ns
    }

    /// When its end has passed, if so many sectors from a spot on lie on one track and the first
    /// of them began at a time.
    pub(super) fn on_track(&self, spot: Spot, began: Ns, sectors: u64) -> Option<Ns> {
        let end = spot.index + sectors;
        let is_one = end <= self.sectors_per_track;
        is_one.then(|| began + self.sectors_ns(end) - self.sectors_ns(spot.index))
    }

    pub(super) fn place(&self, spot: Spot) -> Place {
        Place {
            heads: self.heads_at(spot),
            angle_ns: self.angle_ns(spot),
        }
    }

    fn angle_ns(&self, spot: Spot) -> Ns {
        (self.track_ns(spot) + self.sectors_ns(spot.index)) % self.revolution_ns
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
    /// The layout of a profile that has been checked. A skew that it does not give is the time to
    /// the next track, so that no revolution is lost in the order of addresses; every skew is
    /// rounded up to whole sectors of its zone.
    pub fn new(profile: &GeometryProfile, seek: &Seek) -> Self {
        let revolution_ns = (60e9 / f64::from(profile.rpm)).round() as Ns;
        let heads = u64::from(profile.heads);
        let given_ns = |skew_us: Option<f64>| skew_us.map(|us| (us * 1e3).round() as Ns);
        let head_skew_ns = given_ns(profile.head_skew_us).unwrap_or(seek.next_head_ns());
        let cylinder_skew_ns =
            given_ns(profile.cylinder_skew_us).unwrap_or(seek.next_cylinder_ns());

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
            let whole_ns = |skew_ns: Ns| {
                let sectors = (skew_ns * sectors_per_track).div_ceil(revolution_ns);
                sectors * revolution_ns / sectors_per_track
            };
            let cylinder_skew_ns = whole_ns(cylinder_skew_ns);
            let after = |zone: &Zone| {
                let last = zone.spot(zone.extent.end() - 1);
                (zone.track_ns(last) + cylinder_skew_ns) % revolution_ns
            };
            geometry.zones.push(Zone {
                extent: Extent {
                    sector: geometry.sectors(),
                    sectors,
                },
                sectors_per_track,
                first_cylinder: geometry.cylinders,
                revolution_ns,
                heads,
                head_skew_ns: whole_ns(head_skew_ns),
                cylinder_skew_ns,
                origin_ns: geometry.zones.last().map_or(0, after),
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
        let (zone, spot) = self.spot(sector);
        zone.place(spot)
    }

    /// The track on which the heads stand for a sector.
    pub fn heads(&self, sector: u64) -> Heads {
        let (zone, spot) = self.spot(sector);
        zone.heads_at(spot)
    }

    pub(super) fn spot(&self, sector: u64) -> (&Zone, Spot) {
        let zone = &self.zones[self.zone_of(sector)];
        (zone, zone.spot(sector))
    }

    /// When in a revolution the start of a sector passes the head, skew included.
    pub fn angle_ns(&self, sector: u64) -> Ns {
        self.place(sector).angle_ns
    }

    /// How long a sector takes to pass.
    pub fn sector_ns(&self, sector: u64) -> Ns {
        let zone = &self.zones[self.zone_of(sector)];
        let index = zone.spot(sector).index;
        zone.sectors_ns(index + 1) - zone.sectors_ns(index)
    }

    /// How long after a time an angle comes round.
    pub fn rotation_ns(&self, at: Ns, angle_ns: Ns) -> Ns {
        let now_ns = at % self.revolution_ns;
        if now_ns <= angle_ns {
            angle_ns - now_ns
        } else {
            angle_ns + self.revolution_ns - now_ns
        }
    }
}
