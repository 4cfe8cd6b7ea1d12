//! In which order the media serve what waits for them.

use crate::device::Action;
use crate::disk::geometry::Place;
use crate::disk::heads::Heads;
use crate::disk::mechanics::Mechanics;
use crate::profile::disk::{QueuePolicy, QueueProfile};
use crate::time::Ns;

/// What the media could do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The command of this number.
    Command(u64),
    /// Written data from this sector on.
    Destage(u64),
}

/// One of them, with what it is chosen by.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub target: Target,
    pub action: Action,
    pub sector: u64,
    pub place: Place,
    /// In the order of arrival: the number in the queue, and the age of the data.
    pub order: (u64, u64),
    /// Since when it is wanted.
    pub since: Ns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// In the order of arrival.
    Fifo,
    /// The shortest positioning time first (Seltzer, Chen and Ousterhout, "Disk scheduling
    /// revisited", USENIX Winter 1990), but what has waited beyond the limit before all others.
    Sptf { age_limit_ns: Option<Ns> },
    /// The next address behind the last one served, or else the lowest.
    Elevator,
}

impl Policy {
    pub fn new(profile: &QueueProfile) -> Self {
        match profile.policy {
            QueuePolicy::Fifo => Self::Fifo,
            QueuePolicy::Sptf => Self::Sptf {
                age_limit_ns: profile.age_limit_ms.map(|ms| (ms * 1e6).round() as Ns),
            },
            QueuePolicy::Elevator => Self::Elevator,
        }
    }

    /// Which is next, of a disk whose heads are free at a time, behind a sector.
    pub fn choose(
        self,
        candidates: &[Candidate],
        mechanics: &Mechanics,
        at: Ns,
        heads: Heads,
        behind: u64,
    ) -> Option<Target> {
        let oldest = candidates.iter().min_by_key(|candidate| candidate.order);
        let chosen = match self {
            Self::Fifo => oldest,
            Self::Sptf { age_limit_ns } => oldest
                .filter(|oldest| age_limit_ns.is_some_and(|limit| oldest.since + limit <= at))
                .or_else(|| {
                    candidates.iter().min_by_key(|candidate| {
                        let Candidate { place, action, .. } = **candidate;
                        let positioning_ns = mechanics.positioning_to_ns(heads, at, place, action);
                        (positioning_ns, candidate.order)
                    })
                }),
            Self::Elevator => candidates.iter().min_by_key(|candidate| {
                let sector = candidate.sector;
                (sector < behind, sector, candidate.order)
            }),
        };
        chosen.map(|candidate| candidate.target)
    }
}
