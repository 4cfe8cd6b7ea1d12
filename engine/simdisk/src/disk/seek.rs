//! How long the heads take from track to track.

use std::iter;

use crate::device::{Action, Ns};
use crate::disk::curve;
use crate::disk::geometry::Heads;
use crate::profile::disk::SeekProfile;

/// Times of all moves of the heads, tabulated by distance.
#[derive(Clone, Debug)]
pub struct Seek {
    /// By the number of cylinders, never decreasing; the first is 0.
    arm_ns: Box<[u32]>,
    head_switch_ns: Ns,
    write_settle_ns: Ns,
    heads: u32,
}

impl Seek {
    /// The moves of a disk with so many cylinders and heads. The profile has been checked.
    pub fn new(profile: &SeekProfile, cylinders: u32, heads: u32) -> Self {
        let curve = match (&profile.points, profile.curve) {
            (Some(points), _) => curve::fit(points, cylinders),
            (None, Some(curve)) => curve,
            (None, None) => unreachable!("a checked profile has points or a curve"),
        };
        let mut longest_ns = 0;
        let further = (1..cylinders.max(2)).map(|distance| {
            longest_ns = longest_ns.max(ns(curve::ms(curve, distance)));
            longest_ns
        });
        Self {
            arm_ns: iter::once(0).chain(further).collect(),
            head_switch_ns: Ns::from(ns(profile.head_switch_ms)),
            write_settle_ns: Ns::from(ns(profile.write_settle_ms)),
            heads,
        }
    }

    /// The arm's time over so many cylinders, settled for a read.
    pub fn arm_ns(&self, cylinders: u32) -> Ns {
        Ns::from(self.arm_ns[cylinders as usize])
    }

    /// From one track to another. The arm moves while the heads are switched. Before a write, the
    /// heads settle for longer after any move; on a track where they stand, they are settled.
    pub fn move_ns(&self, from: Heads, to: Heads, action: Action) -> Ns {
        if from == to {
            return 0;
        }
        let arm_ns = self.arm_ns(from.cylinder.abs_diff(to.cylinder));
        let switch_ns = if from.head == to.head {
            0
        } else {
            self.head_switch_ns
        };
        arm_ns.max(switch_ns) + self.settle_ns(action)
    }

    /// To the next head of the cylinder.
    pub fn next_head_ns(&self, action: Action) -> Ns {
        self.head_switch_ns + self.settle_ns(action)
    }

    /// From the last head of a cylinder to the first of the next.
    pub fn next_cylinder_ns(&self, action: Action) -> Ns {
        let from = Heads {
            cylinder: 0,
            head: self.heads - 1,
        };
        let to = Heads {
            cylinder: 1,
            head: 0,
        };
        self.move_ns(from, to, action)
    }

    fn settle_ns(&self, action: Action) -> Ns {
        if action == Action::Write {
            self.write_settle_ns
        } else {
            0
        }
    }
}

/// Milliseconds in whole nanoseconds, at most the 4.29 s that fit.
fn ns(ms: f64) -> u32 {
    (ms * 1e6).round() as u32
}
