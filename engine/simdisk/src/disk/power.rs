//! What the disk draws: it is in exactly one state at a time, or off.

use crate::ledger::{Ledger, Part};
use crate::profile::disk::{PowerProfile, SpinProfile};
use crate::time::Ns;

/// What a disk may be doing, as its account tells it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Seek,
    /// Waiting for a sector to come round, or to come round again.
    Rotate,
    Transfer,
    Idle,
    Unloaded,
    Standby,
    SpinUp,
    SpinDown,
    Load,
    Unload,
}

impl State {
    /// In the order of the parts of the ledger.
    const ALL: [Self; 10] = [
        Self::Seek,
        Self::Rotate,
        Self::Transfer,
        Self::Idle,
        Self::Unloaded,
        Self::Standby,
        Self::SpinUp,
        Self::SpinDown,
        Self::Load,
        Self::Unload,
    ];

    /// Its name in the ledger, and what it draws in W.
    fn part(self, power: &PowerProfile, spin: &SpinProfile) -> (&'static str, f64) {
        match self {
            Self::Seek => ("seek", power.seek_w),
            Self::Rotate => ("rotate", power.rotate_w),
            Self::Transfer => ("transfer", power.transfer_w),
            Self::Idle => ("idle", power.idle_w),
            Self::Unloaded => ("unloaded", power.unloaded_w),
            Self::Standby => ("standby", power.standby_w),
            Self::SpinUp => ("spin-up", mean_w(spin.spin_up_j, spin.spin_up_s)),
            Self::SpinDown => ("spin-down", mean_w(spin.spin_down_j, spin.spin_down_s)),
            Self::Load => ("load", mean_w(spin.load_j, spin.load_s)),
            Self::Unload => ("unload", mean_w(spin.unload_j, spin.unload_s)),
        }
    }
}

/// What a transition draws, as if evenly; one that takes no time draws nothing.
fn mean_w(energy_j: f64, time_s: f64) -> f64 {
    if time_s > 0.0 { energy_j / time_s } else { 0.0 }
}

/// The ledger of one disk. Power is in whole microwatts, so that a transition costs its joules to
/// within half a microwatt times its time.
#[derive(Clone, Debug)]
pub struct Account {
    ledger: Ledger,
    /// The state behind all that is planned.
    last: Option<State>,
}

impl Account {
    /// Of a disk that is idle.
    pub fn new(power: &PowerProfile, spin: &SpinProfile, at: Ns) -> Self {
        let parts = State::ALL.map(|state| {
            let (name, power_w) = state.part(power, spin);
            let power_uw = (power_w * 1e6).round() as u64;
            Part { name, power_uw }
        });
        let mut account = Self {
            ledger: Ledger::new(parts.to_vec(), at),
            last: None,
        };
        account.then(at, Some(State::Idle));
        account
    }

    /// Be in a state, or off, from a time on; what is planned already comes before it.
    pub fn then(&mut self, at: Ns, state: Option<State>) {
        if self.last == state {
            return;
        }
        if let Some(last) = self.last {
            self.ledger.plan(at, last as usize, -1);
        }
        if let Some(state) = state {
            self.ledger.plan(at, state as usize, 1);
        }
        self.last = state;
    }

    /// Be in a state, or off, from a time on, whatever is planned.
    pub fn instead(&mut self, at: Ns, state: Option<State>) {
        self.ledger.cut(at);
        self.ledger.settle(at);
        let now = State::ALL
            .into_iter()
            .find(|&state| self.ledger.level(state as usize) > 0);
        self.last = now;
        self.then(at, state);
    }

    pub fn settle(&mut self, to: Ns) {
        self.ledger.settle(to);
    }

    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Keep the changes of power from now on, at least so many of the newest.
    pub fn keep_trace(&mut self, least: usize) {
        self.ledger.keep_trace(least);
    }
}
