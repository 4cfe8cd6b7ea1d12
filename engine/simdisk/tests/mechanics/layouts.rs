//! Disks to try: one whose times can be computed in the head, and any other.

use proptest::prelude::*;
use simdisk::device::{Action, Extent};
use simdisk::disk::mechanics::Mechanics;
use simdisk::profile::disk::{GeometryProfile, SeekCurve, SeekProfile, ZoneProfile};
use simdisk::time::Ns;

/// What the mechanics of a disk depend on.
#[derive(Clone, Debug)]
pub struct Layout {
    pub geometry: GeometryProfile,
    pub seek: SeekProfile,
}

impl Layout {
    pub fn mechanics(&self) -> Mechanics {
        Mechanics::new(&self.geometry, &self.seek)
    }

    pub fn zone_of(&self, cylinder: u32) -> &ZoneProfile {
        let mut first = 0;
        let holds = |zone: &&ZoneProfile| {
            first += zone.cylinders;
            cylinder < first
        };
        self.geometry.zones.iter().find(holds).unwrap()
    }
}

pub const US: Ns = 1_000;
pub const MS: Ns = 1_000_000;

/// A revolution of 10 ms; two heads; ten cylinders of 100 sectors a track (100 us each), then ten
/// of 50 (200 us each). A head switch takes 1 ms, a seek 1 ms and 0.1 ms for each cylinder, and
/// settling for a write 0.5 ms. So skews are of 10 and 11 sectors in the first zone, and in the
/// second of 5 and 6, the latter rounded up from 5.5.
pub fn plain() -> Layout {
    let zone = |sectors_per_track| ZoneProfile {
        cylinders: 10,
        sectors_per_track,
    };
    Layout {
        geometry: GeometryProfile {
            rpm: 6000,
            heads: 2,
            zones: vec![zone(100), zone(50)],
            head_skew_us: None,
            cylinder_skew_us: None,
            sectors: None,
        },
        seek: SeekProfile {
            head_switch_ms: 1.0,
            write_settle_ms: 0.5,
            points: None,
            curve: Some(SeekCurve {
                settle_ms: 1.0,
                root_ms: 0.0,
                linear_us: 100.0,
            }),
        },
    }
}

fn geometries() -> impl Strategy<Value = GeometryProfile> {
    let zone = (1..8_u32, 8..120_u32).prop_map(|(cylinders, sectors_per_track)| ZoneProfile {
        cylinders,
        sectors_per_track,
    });
    let zones = prop::collection::vec(zone, 1..4);
    let skew_us = || prop::option::weighted(0.3, 0.0..2000.0);
    let part = prop::option::weighted(0.3, 0.0..1.0);
    (
        1000..30_000_u32,
        1..5_u32,
        zones,
        skew_us(),
        skew_us(),
        part,
    )
        .prop_map(
            |(rpm, heads, zones, head_skew_us, cylinder_skew_us, part)| {
                let tracks = |zone: &ZoneProfile| u64::from(zone.cylinders * heads);
                let held: u64 = zones
                    .iter()
                    .map(|zone| tracks(zone) * u64::from(zone.sectors_per_track))
                    .sum();
                GeometryProfile {
                    rpm,
                    heads,
                    zones,
                    head_skew_us,
                    cylinder_skew_us,
                    sectors: part.map(|part: f64| 1 + (part * (held - 1) as f64) as u64),
                }
            },
        )
}

fn seeks() -> impl Strategy<Value = SeekProfile> {
    let curve = (0.0..2.0, 0.0..0.5, 0.0..100.0);
    (0.0..3.0, 0.0..1.0, curve).prop_map(|(head_switch_ms, write_settle_ms, curve)| SeekProfile {
        head_switch_ms,
        write_settle_ms,
        points: None,
        curve: Some(SeekCurve {
            settle_ms: curve.0,
            root_ms: curve.1,
            linear_us: curve.2,
        }),
    })
}

/// Any small disk: skews that suffice and skews that do not, a last zone that is not full.
pub fn layouts() -> impl Strategy<Value = Layout> {
    (geometries(), seeks()).prop_map(|(geometry, seek)| Layout { geometry, seek })
}

pub fn actions() -> impl Strategy<Value = Action> {
    prop_oneof![Just(Action::Read), Just(Action::Write)]
}

/// A sector of a disk, given as a share of all.
pub fn sector(mechanics: &Mechanics, share: f64) -> u64 {
    (share * mechanics.geometry().sectors() as f64) as u64
}

/// An extent between two such shares, which is not empty.
pub fn extent(mechanics: &Mechanics, shares: (f64, f64)) -> Extent {
    let first = sector(mechanics, shares.0.min(shares.1));
    let last = sector(mechanics, shares.0.max(shares.1));
    Extent {
        sector: first,
        sectors: last - first + 1,
    }
}
