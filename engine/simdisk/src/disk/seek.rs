//! How long the heads take from track to track.

use std::iter;

use crate::device::Action;
use crate::disk::curve;
use crate::disk::heads::Heads;
use crate::profile::disk::SeekProfile;
use crate::time::Ns;

/// Times of all moves of the heads, tabulated by distance.
#[derive(Clone, Debug)]
pub struct Seek {
    /// By the number of cylinders, never decreasing; the first is 0.
    arm_ns: Box<[u32]>,
    head_switch_ns: Ns,
    write_settle_ns: Ns,
    last_head: u32,
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
            last_head: heads - 1,
        }
    }

    /// The arm's time over so many cylinders, settled for a read.
    pub fn arm_ns(&self, cylinders: u32) -> Ns {
        Ns::from(self.arm_ns[cylinders as usize])
    }

    /// From one track to another. The arm moves while the heads are switched, and before a write
    /// they settle for longer.
    ///
    /// Only the step to the next track in the order of addresses is taken to be the same for reads
    /// and writes, since data sheets give one sustained rate for both and no skews. (DiskSim's
    /// first mechanical model lets the heads settle after every move, which takes skews extracted
    /// from a disk.)
    pub fn move_ns(&self, from: Heads, to: Heads, action: Action) -> Ns {
        if from == to {
            return 0;
        }
        let switch_ns = if from.head == to.head {
            0
        } else {
            self.head_switch_ns
        };
        let arm_ns = self.arm_ns(from.cylinder.abs_diff(to.cylinder));
        let settle_ns = if action == Action::Write && to != self.next_track(from) {
            self.write_settle_ns
        } else {
            0
        };
        arm_ns.max(switch_ns) + settle_ns
    }

    fn next_track(&self, from: Heads) -> Heads {
        if from.head < self.last_head {
            Heads {
                head: from.head + 1,
                ..from
            }
        } else {
            Heads {
                cylinder: from.cylinder + 1,
                head: 0,
            }
        }
    }

    /// To the next head of the cylinder.
    pub fn next_head_ns(&self) -> Ns {
        self.head_switch_ns
    }

    /// From the last head of a cylinder to the first of the next.
    pub fn next_cylinder_ns(&self) -> Ns {
        let last = Heads {
            cylinder: 0,
            head: self.last_head,
        };
        self.move_ns(last, self.next_track(last), Action::Read)
    }
}

/// Milliseconds in whole nanoseconds, at most the 4.29 s that fit.
fn ns(ms: f64) -> u32 {
    (ms * 1e6).round() as u32
}
