//! The bounds of a disk's numbers.

use super::{Check, Place, sources};
use crate::profile::disk::{
    CacheProfile, DiskProfile, GeometryProfile, PowerProfile, QueueProfile, SeekProfile,
    SpinProfile,
};

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
    /// The first thing that is wrong, if any.
    pub(in crate::profile) fn check(&self) -> Result<(), Check> {
        sources(&self.sources, &TABLES)?;
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
        let all = self.cylinders() as f64;
        place.number("zones, cylinders in all,", all, 1.0, 4e6)?;
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
