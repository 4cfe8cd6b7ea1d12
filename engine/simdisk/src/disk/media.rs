//! What the media do, one thing at a time.

use crate::device::Extent;
use crate::disk::ahead::Ahead;
use crate::disk::job::{Job, Work};
use crate::disk::spin::{Timer, Transition};
use crate::time::Ns;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// Spinning and loaded, with nothing to do.
    Idle {
        timer: Timer,
    },
    /// At a command, or writing what is cached.
    Busy(Job),
    /// Reading on, with nothing asked for; whatever is wanted of the media breaks it off.
    ReadingAhead(Ahead),
    Turning {
        transition: Transition,
        until: Ns,
    },
    Unloaded {
        timer: Timer,
    },
    Standby,
    /// Without power.
    Off,
}

impl Media {
    /// What the platters do, in a word.
    pub fn spin(&self) -> &'static str {
        match self {
            Self::Standby => "standby",
            Self::Off => "off",
            Self::Turning {
                transition: Transition::SpinDown,
                ..
            } => "spin-down",
            Self::Turning {
                transition: Transition::SpinUp,
                ..
            } => "spin-up",
            _ => "turning",
        }
    }

    /// When what goes on ends.
    pub fn ends(&self) -> Option<Ns> {
        match self {
            Self::Busy(job) => Some(job.end),
            Self::ReadingAhead(ahead) => Some(ahead.until),
            Self::Turning { until, .. } => Some(*until),
            _ => None,
        }
    }

    /// When a timer runs out.
    pub fn timer(&self) -> Option<Ns> {
        match self {
            Self::Idle { timer } | Self::Unloaded { timer } => timer.map(|(at, _)| at),
            _ => None,
        }
    }

    /// The segment that is being read into.
    pub fn fills(&self) -> Option<usize> {
        match self {
            Self::ReadingAhead(ahead) => Some(ahead.segment),
            Self::Busy(job) => job.work.fills(),
            _ => None,
        }
    }

    /// Whether they are writing any of an extent.
    pub fn writes(&self, extent: Extent) -> bool {
        matches!(self, Self::Busy(job) if job.work == Work::Write && job.extent.overlaps(extent))
    }
}
