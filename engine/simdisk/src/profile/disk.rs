//! The parameters of a hard disk.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::check::{Check, Place};
use super::{Interface, Kind};

/// A hard disk, as its file says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskProfile {
    pub kind: Kind,
    pub model: String,
    pub year: u16,
    /// Where the numbers of each table come from; of an assumed one, why it is what it is.
    pub sources: BTreeMap<String, String>,
    pub geometry: GeometryProfile,
    pub seek: SeekProfile,
    pub interface: Interface,
    pub cache: CacheProfile,
    pub queue: QueueProfile,
    pub power: PowerProfile,
    pub spin: SpinProfile,
    pub errors: ErrorProfile,
}

/// Where the sectors lie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeometryProfile {
    pub rpm: u32,
    pub heads: u32,
    /// Outermost first.
    pub zones: Vec<ZoneProfile>,
    /// How much later the next track of a cylinder begins; without it, the time of a head switch,
    /// rounded up to whole sectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_skew_us: Option<f64>,
    /// The same for the next cylinder; without it, the time of a seek of one cylinder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cylinder_skew_us: Option<f64>,
    /// The user's sectors where the last zone is not full; without it, all that the zones hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sectors: Option<u64>,
}

/// Neighbouring cylinders with equally long tracks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneProfile {
    pub cylinders: u32,
    pub sectors_per_track: u32,
}

/// How long the arm takes: measured points, or the curve through them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeekProfile {
    pub head_switch_ms: f64,
    /// Further time before a write.
    pub write_settle_ms: f64,
    /// (cylinders, milliseconds) with rising distances; the curve is fitted to them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<(u32, f64)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<SeekCurve>,
}

/// `settle_ms + root_ms * sqrt(d) + linear_us / 1000 * d` milliseconds for d cylinders (the form
/// of Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3), 1994, in
/// one piece).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeekCurve {
    pub settle_ms: f64,
    pub root_ms: f64,
    pub linear_us: f64,
}

/// The disk's memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheProfile {
    pub size_kib: u64,
    pub segments: u32,
    /// Most that is read ahead into a segment; 0 for none.
    pub read_ahead_kib: u64,
    pub write: WriteCache,
}

/// When a write is complete: in memory (`back`) or on the media (`through`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteCache {
    Back,
    Through,
}

/// The command queue on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueProfile {
    pub depth: usize,
    pub policy: QueuePolicy,
    /// Of `sptf`: a command that has waited longer goes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_limit_ms: Option<f64>,
}

/// In which order the disk serves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueuePolicy {
    Fifo,
    /// Shortest positioning time first.
    Sptf,
    Elevator,
}

/// What each state draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerProfile {
    pub seek_w: f64,
    /// While it waits for a sector to come round.
    pub rotate_w: f64,
    pub transfer_w: f64,
    pub idle_w: f64,
    pub unloaded_w: f64,
    pub standby_w: f64,
}

/// What it does when nothing is asked of it. A timer of 0 never runs out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpinProfile {
    pub unload_after_s: f64,
    pub standby_after_s: f64,
    pub unload_s: f64,
    pub unload_j: f64,
    pub load_s: f64,
    pub load_j: f64,
    pub spin_up_s: f64,
    pub spin_up_j: f64,
    pub spin_down_s: f64,
    pub spin_down_j: f64,
    pub rated_start_stops: u64,
}

/// What it does with a sector that it cannot read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorProfile {
    /// How long it tries before it gives a sector up.
    pub retry_ms: f64,
}

/// Tables that a source must be given for.
const TABLES: [&str; 8] = [
    "geometry",
    "seek",
    "interface",
    "cache",
    "queue",
    "power",
    "spin",
    "errors",
];

impl DiskProfile {
    /// The user's sectors.
    pub fn sectors(&self) -> u64 {
        let held = self.geometry.held();
        self.geometry
            .sectors
            .map_or(held, |sectors| sectors.min(held))
    }

    /// The first thing that is wrong, if any.
    pub(super) fn check(&self) -> Result<(), Check> {
        super::check::sources(&self.sources, &TABLES)?;
        self.geometry.check()?;
        self.seek.check(self.geometry.cylinders())?;
        self.interface.check()?;
        self.cache.check()?;
        self.queue.check()?;
        self.power.check()?;
        self.spin.check()?;
        Place("errors").number("retry_ms", self.errors.retry_ms, 0.0, 60_000.0)
    }
}

impl GeometryProfile {
    /// All cylinders of all zones.
    pub fn cylinders(&self) -> u64 {
        self.zones
            .iter()
            .map(|zone| u64::from(zone.cylinders))
            .sum()
    }

    fn held(&self) -> u64 {
        let tracks = |zone: &ZoneProfile| u64::from(zone.cylinders) * u64::from(self.heads);
        let held = |zone| tracks(zone) * u64::from(zone.sectors_per_track);
        self.zones.iter().map(held).sum()
    }

    fn check(&self) -> Result<(), Check> {
        let place = Place("geometry");
        place.number("rpm", f64::from(self.rpm), 1000.0, 30_000.0)?;
        place.number("heads", f64::from(self.heads), 1.0, 64.0)?;
        if self.zones.is_empty() {
            return Err(place.fault("zones", "is empty", "give at least one zone"));
        }
        for zone in &self.zones {
            let per_track = f64::from(zone.sectors_per_track);
            place.number("zones.cylinders", f64::from(zone.cylinders), 1.0, 2e6)?;
            place.number("zones.sectors_per_track", per_track, 8.0, 20_000.0)?;
        }
        let revolution_us = 60e6 / f64::from(self.rpm);
        for (name, skew) in [
            ("head_skew_us", self.head_skew_us),
            ("cylinder_skew_us", self.cylinder_skew_us),
        ] {
            place.number(name, skew.unwrap_or_default(), 0.0, revolution_us)?;
        }
        match self.sectors {
            Some(sectors) if sectors == 0 || sectors > self.held() => Err(place.fault(
                "sectors",
                format!("is {sectors}, and the zones hold {}", self.held()),
                "give more zones, or fewer sectors",
            )),
            _ => Ok(()),
        }
    }
}

impl SeekProfile {
    fn check(&self, cylinders: u64) -> Result<(), Check> {
        let place = Place("seek");
        place.number("head_switch_ms", self.head_switch_ms, 0.0, 100.0)?;
        place.number("write_settle_ms", self.write_settle_ms, 0.0, 100.0)?;
        match (&self.points, self.curve) {
            (Some(points), None) => Self::check_points(place, points, cylinders),
            (None, Some(curve)) => {
                place.number("curve.settle_ms", curve.settle_ms, 0.0, 100.0)?;
                place.number("curve.root_ms", curve.root_ms, 0.0, 10.0)?;
                place.number("curve.linear_us", curve.linear_us, 0.0, 1000.0)
            }
            _ => Err(place.fault(
                "points",
                "or curve must stand here, and not both",
                "keep one of the two",
            )),
        }
    }

    fn check_points(place: Place, points: &[(u32, f64)], cylinders: u64) -> Result<(), Check> {
        let next = "give (cylinders, milliseconds) with rising distances and times";
        if points.len() < 3 {
            return Err(place.fault("points", "are fewer than three", next));
        }
        for &(distance, ms) in points {
            place.number("points", f64::from(distance), 1.0, cylinders as f64)?;
            place.number("points", ms, 0.001, 1000.0)?;
        }
        let rising = |pair: &[(u32, f64)]| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1;
        if points.windows(2).all(rising) {
            Ok(())
        } else {
            Err(place.fault("points", "do not rise", next))
        }
    }
}

impl CacheProfile {
    fn check(&self) -> Result<(), Check> {
        let place = Place("cache");
        place.number("size_kib", self.size_kib as f64, 16.0, 4e6)?;
        place.number("segments", f64::from(self.segments), 1.0, 4096.0)?;
        let segment_kib = self.size_kib as f64 / f64::from(self.segments);
        place.number(
            "read_ahead_kib",
            self.read_ahead_kib as f64,
            0.0,
            segment_kib,
        )
    }
}

impl QueueProfile {
    fn check(&self) -> Result<(), Check> {
        let place = Place("queue");
        place.number("depth", self.depth as f64, 1.0, 256.0)?;
        place.number(
            "age_limit_ms",
            self.age_limit_ms.unwrap_or(1.0),
            0.001,
            60_000.0,
        )
    }
}

impl PowerProfile {
    fn check(&self) -> Result<(), Check> {
        let states = [
            ("seek_w", self.seek_w),
            ("rotate_w", self.rotate_w),
            ("transfer_w", self.transfer_w),
            ("idle_w", self.idle_w),
            ("unloaded_w", self.unloaded_w),
            ("standby_w", self.standby_w),
        ];
        states
            .iter()
            .try_for_each(|&(name, power_w)| Place("power").number(name, power_w, 0.0, 1000.0))
    }
}

impl SpinProfile {
    fn check(&self) -> Result<(), Check> {
        let place = Place("spin");
        place.number("unload_after_s", self.unload_after_s, 0.0, 1e6)?;
        place.number("standby_after_s", self.standby_after_s, 0.0, 1e6)?;
        let transitions = [
            ("unload", self.unload_s, self.unload_j),
            ("load", self.load_s, self.load_j),
            ("spin_up", self.spin_up_s, self.spin_up_j),
            ("spin_down", self.spin_down_s, self.spin_down_j),
        ];
        for (name, time_s, energy_j) in transitions {
            place.number(&format!("{name}_s"), time_s, 0.0, 600.0)?;
            // without a time there is nothing that could draw the energy
            let most_j = 1000.0 * time_s;
            place.number(&format!("{name}_j"), energy_j, 0.0, most_j)?;
        }
        place.number("rated_start_stops", self.rated_start_stops as f64, 1.0, 1e9)
    }
}
