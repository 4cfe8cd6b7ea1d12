//! How each branch stands, and who waits until it has what was done.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use crate::mount::patience::Steps;
use crate::protocol::Role;

/// How often it is looked whether a branch that is waited for still answers.
const TICK: Duration = Duration::from_millis(100);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It cannot be reached, or not be used; with why.
    Away(String),
    /// It gets what it lacks; nobody waits for that.
    CatchingUp,
    /// It gets everything as it is done.
    Connected,
    /// It gets everything but this file, which is overwritten all the time.
    AllBut(PathBuf),
    /// It is brought up when there is a reason.
    Asleep,
}

impl Phase {
    /// Whether an `fsync` waits for it.
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Connected | Self::AllBut(_))
    }
}

pub struct Standing {
    pub place: PathBuf,
    pub phase: Phase,
    pub steps: Steps,
    /// It has all that was done up to this record, as far as its phase says.
    pub holds: u64,
    /// The last time of which it has everything.
    pub whole_at: Option<SystemTime>,
    /// What others changed there was kept.
    pub has_kept: bool,
}

/// A program that waits until all connected branches have what was done up to a record.
struct Waiter {
    until: u64,
    answer: Box<dyn FnOnce() + Send>,
}

#[derive(Default)]
struct State {
    branches: BTreeMap<Role, Standing>,
    waiters: Vec<Waiter>,
    /// How often somebody asked the keepers to look.
    pokes: u64,
    /// How often something was done, or a branch came to stand otherwise.
    news: u64,
    /// How many wait until something was done: to tell nobody takes a call of the kernel, too.
    idle: usize,
    is_ending: bool,
}

#[derive(Default)]
pub struct Standings {
    state: Mutex<State>,
    /// For who waits until something was done.
    poked: Condvar,
    /// For who waits until somebody waits, or until the end, whatever was done.
    urged: Condvar,
    /// For whoever looks after those that wait.
    waiting: Condvar,
}

impl Standings {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a panic ends this process")
    }

    pub fn add(&self, role: Role, place: PathBuf, phase: Phase, steps: Steps) {
        let standing = Standing {
            place,
            phase,
            steps,
            holds: 0,
            whole_at: None,
            has_kept: false,
        };
        self.state().branches.insert(role, standing);
    }

    /// Look at how all branches stand.
    pub fn look<R>(&self, look: impl FnOnce(&BTreeMap<Role, Standing>) -> R) -> R {
        look(&self.state().branches)
    }

    /// A branch stands otherwise; who waited for that goes on. Returns the phase that it was in.
    pub fn change(&self, role: Role, change: impl FnOnce(&mut Standing)) -> Option<Phase> {
        let mut state = self.state();
        let standing = state.branches.get_mut(&role)?;
        let before = standing.phase.clone();
        change(standing);
        state.news += 1;
        self.poked.notify_all();
        release(state, Duration::MAX);
        Some(before)
    }

    /// Answer when all branches that are connected have what was done up to this record.
    pub fn answer_after(&self, until: u64, answer: Box<dyn FnOnce() + Send>) {
        let mut state = self.state();
        state.waiters.push(Waiter { until, answer });
        state.pokes += 1;
        self.poked.notify_all();
        self.urged.notify_all();
        self.waiting.notify_all();
        release(state, Duration::MAX);
    }

    /// Something was done: keepers look what their branches lack.
    pub fn poke(&self) {
        let mut state = self.state();
        state.pokes += 1;
        state.news += 1;
        let has_idle = state.idle > 0;
        drop(state);
        if has_idle {
            self.poked.notify_all();
        }
    }

    /// Everybody comes to an end.
    pub fn end(&self) {
        self.state().is_ending = true;
        self.poked.notify_all();
        self.urged.notify_all();
        self.waiting.notify_all();
    }

    pub fn is_ending(&self) -> bool {
        self.state().is_ending
    }

    /// Wait for what `told` tells, at most for so long.
    fn wait_while(
        &self,
        told: &Condvar,
        most: Duration,
        is_so: impl FnMut(&mut State) -> bool,
    ) -> MutexGuard<'_, State> {
        let waited = told.wait_timeout_while(self.state(), most, is_so);
        let (state, _) = waited.expect("a panic ends this process");
        state
    }

    /// Wait until something was done, at most for so long.
    fn wait_until_done(
        &self,
        most: Duration,
        is_so: impl FnMut(&mut State) -> bool,
    ) -> MutexGuard<'_, State> {
        self.state().idle += 1;
        let mut state = self.wait_while(&self.poked, most, is_so);
        state.idle -= 1;
        state
    }

    /// Wait until something was done after `seen`, the end, or for so long. Returns what to give as
    /// `seen` the next time, and whether something was done.
    pub fn wait(&self, seen: u64, most: Duration) -> (u64, bool) {
        let is_so = |state: &mut State| state.pokes == seen && !state.is_ending;
        let now = self.wait_until_done(most, is_so).pokes;
        (now, now != seen)
    }

    /// Wait until something was done or a branch stands otherwise than after `seen`, the end, or for so
    /// long. Returns what to give as `seen` the next time.
    pub fn wait_for_news(&self, seen: u64, most: Duration) -> u64 {
        let is_so = |state: &mut State| state.news == seen && !state.is_ending;
        self.wait_until_done(most, is_so).news
    }

    /// Wait for so long, until somebody waits, or until the end.
    pub fn gather(&self, most: Duration) {
        let is_so = |state: &mut State| state.waiters.is_empty() && !state.is_ending;
        drop(self.wait_while(&self.urged, most, is_so));
    }

    /// Wait for so long, or until the end.
    pub fn rest(&self, most: Duration) {
        drop(self.wait_while(&self.urged, most, |state| !state.is_ending));
    }

    /// Look after those that wait until the end: a branch that has not answered for `patience` is
    /// not waited for.
    pub fn look_after(&self, patience: Duration) {
        loop {
            let state = self.state();
            let is_idle = |state: &mut State| state.waiters.is_empty() && !state.is_ending;
            let state = self.waiting.wait_while(state, is_idle);
            let state = state.expect("a panic ends this process");
            if state.is_ending && state.waiters.is_empty() {
                return;
            }
            release(state, patience);
            std::thread::sleep(TICK);
        }
    }
}

/// Let those go on that wait for nothing any more.
fn release(mut state: MutexGuard<'_, State>, patience: Duration) {
    for standing in state.branches.values_mut() {
        let waits = standing.steps.waits();
        if standing.phase.is_connected() && waits >= patience {
            standing.phase = Phase::Away(format!("has not answered for {} s", waits.as_secs()));
        }
    }
    let branches = &state.branches;
    let connected = branches.values().filter(|b| b.phase.is_connected());
    let holds = connected
        .map(|branch| branch.holds)
        .min()
        .unwrap_or(u64::MAX);
    let all = std::mem::take(&mut state.waiters);
    let (done, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|w| w.until <= holds);
    state.waiters = others;
    drop(state);
    for waiter in done {
        (waiter.answer)();
    }
}
