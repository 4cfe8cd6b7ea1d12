//! Days in virtual time: when the balance wakes the disk, by what happens on them.
//!
//! No clock, no folder and no disk: only what a mount would tell its sleeper, and when.

use std::collections::BTreeMap;

use crate::spin::{Balance, Limits, Needs, SpinUp};

/// How often a mount looks whether there is a reason. Seconds.
pub const LOOK_S: u64 = 60;

/// What a mount would notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A file changes, and has this size then.
    Change {
        file: u64,
        size_b: u64,
    },
    /// The remote goes, and comes back.
    Away,
    Back,
    /// The volume is unmounted, and mounted again.
    Unmount,
    /// Nothing; the days go on until then.
    End,
}

/// When something happens: seconds since a midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub at_s: u64,
    pub what: Happening,
}

/// A time at which the disk was woken, and what it was given then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Woken {
    pub spin: SpinUp,
    pub copied_b: u64,
}

/// A volume whose disk sleeps, and holds all at first unless it is new.
pub struct Volume {
    balance: Balance,
    is_new: bool,
    /// Sizes of the files that the disk lacks.
    lacks: BTreeMap<u64, u64>,
    lacks_b: u64,
    is_away: bool,
    /// The remote lacks something, too.
    is_dirty: bool,
    unprotected_since_s: Option<u64>,
    now_s: u64,
    next_look_s: u64,
    woken: Vec<Woken>,
}

impl Volume {
    pub fn new(limits: Limits, is_new: bool) -> Self {
        Self {
            balance: Balance::new(limits, Vec::new()),
            is_new,
            lacks: BTreeMap::new(),
            lacks_b: 0,
            is_away: false,
            is_dirty: false,
            unprotected_since_s: None,
            now_s: 0,
            next_look_s: 0,
            woken: Vec::new(),
        }
    }

    /// Let the time pass until an event, then let it happen. An event of the past happens now.
    pub fn live(&mut self, event: &Event) {
        while self.next_look_s < event.at_s {
            self.now_s = self.next_look_s;
            self.look(false);
            self.next_look_s += LOOK_S;
        }
        self.now_s = event.at_s.max(self.now_s);
        match event.what {
            Happening::Change { file, size_b } => {
                let before_b = self.lacks.insert(file, size_b).unwrap_or(0);
                self.lacks_b = self.lacks_b.saturating_sub(before_b).saturating_add(size_b);
                self.is_dirty |= self.is_away;
            }
            Happening::Away => self.is_away = true,
            Happening::Back => {
                self.is_away = false;
                self.is_dirty = false;
            }
            Happening::Unmount => self.look(true),
            Happening::End => (),
        }
    }

    /// The times at which the disk was woken so far.
    pub fn woken(&self) -> &[Woken] {
        &self.woken
    }

    fn look(&mut self, is_ending: bool) {
        let is_unprotected = self.is_away && self.is_dirty && !self.lacks.is_empty();
        let since_s = self.unprotected_since_s.filter(|_| is_unprotected);
        self.unprotected_since_s = since_s.or(is_unprotected.then_some(self.now_s));
        let needs = Needs {
            is_new: self.is_new,
            lacks: !self.lacks.is_empty(),
            lacks_b: self.lacks_b,
            unprotected_s: since_s.map_or(0, |since_s| self.now_s - since_s),
            hour: (self.now_s / 3600 % 24) as u32,
            is_ending,
        };
        let Some(why) = self.balance.reason(self.now_s, &needs) else {
            return;
        };
        let spin = SpinUp {
            at_s: self.now_s,
            why,
        };
        self.balance.spend(spin);
        self.woken.push(Woken {
            spin,
            copied_b: needs.lacks_b,
        });
        self.lacks.clear();
        self.lacks_b = 0;
        self.is_new = false;
        self.unprotected_since_s = None;
    }
}
