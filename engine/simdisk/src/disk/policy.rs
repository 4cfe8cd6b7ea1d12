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
    /// Since when it is wanted, or another of its round or its flush.
    pub since: Ns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// In the order of arrival.
    Fifo,
    /// The shortest positioning time first (Seltzer, Chen and Ousterhout, "Disk scheduling
    /// revisited", USENIX Winter 1990). Once a command has waited beyond the limit, all that came
    /// before that moment are a round, which is served in this order before what comes later.
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

    /// Whether what is wanted since then has waited beyond the limit.
    pub fn is_overdue(self, since: Ns, at: Ns) -> bool {
        match self {
            Self::Sptf {
                age_limit_ns: Some(limit),
            } => since + limit <= at,
            _ => false,
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
        let chosen = match self {
            Self::Fifo => candidates.iter().min_by_key(|candidate| candidate.order),
            Self::Sptf { .. } => {
                let oldest = candidates.iter().map(|candidate| candidate.since).min();
                let first = oldest.filter(|&since| self.is_overdue(since, at));
                let allowed = |one: &&Candidate| first.is_none_or(|since| one.since == since);
                candidates.iter().filter(allowed).min_by_key(|candidate| {
                    let Candidate { place, action, .. } = **candidate;
                    let positioning_ns = mechanics.positioning_to_ns(heads, at, place, action);
                    (positioning_ns, candidate.order)
                })
            }
            Self::Elevator => candidates.iter().min_by_key(|candidate| {
                let sector = candidate.sector;
                (sector < behind, sector, candidate.order)
            }),
        };
        chosen.map(|candidate| candidate.target)
    }
}
