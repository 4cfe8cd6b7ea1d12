//! When an idle disk unloads its heads or stops, and what it takes to come back.

use crate::disk::power::State;
use crate::profile::disk::SpinProfile;
use crate::time::Ns;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    Unload,
    Load,
    /// From standstill to where commands are served, heads loaded.
    SpinUp,
    SpinDown,
}

impl Transition {
    pub fn state(self) -> State {
        match self {
            Self::Unload => State::Unload,
            Self::Load => State::Load,
            Self::SpinUp => State::SpinUp,
            Self::SpinDown => State::SpinDown,
        }
    }
}

/// What a timer begins, and when.
pub type Timer = Option<(Ns, Transition)>;

/// Timers and times of the transitions.
#[derive(Clone, Copy, Debug)]
pub struct Spin {
    unload_after_ns: Option<Ns>,
    standby_after_ns: Option<Ns>,
    unload_ns: Ns,
    load_ns: Ns,
    spin_up_ns: Ns,
    spin_down_ns: Ns,
}

impl Spin {
    pub fn new(profile: &SpinProfile) -> Self {
        let ns = |time_s: f64| (time_s * 1e9).round() as Ns;
        let timer = |after_s| (after_s > 0.0).then(|| ns(after_s));
        Self {
            unload_after_ns: timer(profile.unload_after_s),
            standby_after_ns: timer(profile.standby_after_s),
            unload_ns: ns(profile.unload_s),
            load_ns: ns(profile.load_s),
            spin_up_ns: ns(profile.spin_up_s),
            spin_down_ns: ns(profile.spin_down_s),
        }
    }

    pub fn span_ns(&self, transition: Transition) -> Ns {
        match transition {
            Transition::Unload => self.unload_ns,
            Transition::Load => self.load_ns,
            Transition::SpinUp => self.spin_up_ns,
            Transition::SpinDown => self.spin_down_ns,
        }
    }

    /// What becomes of a disk that is idle since a time, its heads loaded.
    pub fn loaded(&self, since: Ns) -> Timer {
        let unload = self
            .unload_after_ns
            .map(|after| (since + after, Transition::Unload));
        match (unload, self.standby(since)) {
            (Some(unload), Some(standby)) if unload.0 < standby.0 => Some(unload),
            (unload, standby) => standby.or(unload),
        }
    }

    /// What becomes of one that has unloaded them by `now`.
    pub fn unloaded(&self, since: Ns, now: Ns) -> Timer {
        self.standby(since)
            .map(|(at, transition)| (at.max(now), transition))
    }

    fn standby(&self, since: Ns) -> Timer {
        self.standby_after_ns
            .map(|after| (since + after, Transition::SpinDown))
    }
}
