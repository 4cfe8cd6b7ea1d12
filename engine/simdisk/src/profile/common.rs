//! What the files of all kinds of devices have.

use serde::{Deserialize, Serialize};

use super::check::{Check, Place};

/// What kind of device a file is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Disk,
    Ssd,
}

/// The way to the host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Of each command, before the media.
    pub command_ms: f64,
    /// 10^6 B/s.
    pub bandwidth_mb_s: f64,
}

impl Interface {
    pub(super) fn check(&self) -> Result<(), Check> {
        let place = Place("interface");
        place.number("command_ms", self.command_ms, 0.0, 100.0)?;
        place.number("bandwidth_mb_s", self.bandwidth_mb_s, 0.1, 1e5)
    }
}
