//! The parameters of a hard disk.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::common::{Interface, Kind};

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
    /// Of `sptf`: once a command has waited longer, all that wait with it go before what comes
    /// later, the nearest first.
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

impl DiskProfile {
    /// The user's sectors.
    pub fn sectors(&self) -> u64 {
        let held = self.geometry.held();
        self.geometry
            .sectors
            .map_or(held, |sectors| sectors.min(held))
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

    /// What the zones hold.
    pub(super) fn held(&self) -> u64 {
        let tracks = |zone: &ZoneProfile| u64::from(zone.cylinders) * u64::from(self.heads);
        let held = |zone| tracks(zone) * u64::from(zone.sectors_per_track);
        self.zones.iter().map(held).sum()
    }
}
