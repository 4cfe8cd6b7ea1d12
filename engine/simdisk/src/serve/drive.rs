//! A disk that is served: its state, and the threads that work on it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::device::{Action, Device, Extent, SECTOR_B};
use crate::host::Scheduler;
use crate::serve::costs::Costs;
use crate::serve::lateness::{Lateness, Moments};
use crate::serve::log::{Log, Row};
use crate::serve::margin::Margin;
use crate::serve::overlay::Piece;
use crate::serve::request::{Answer, Asked, Due};
use crate::serve::served::Ailment;
use crate::serve::state::{Clock, State};
use crate::serve::store::Store;
use crate::serve::sys::now_ns;
use crate::time::Ns;

/// Most that requests which are not answered may hold; the kernel keeps the others. Bytes.
const HELD_MOST_B: usize = 32 << 20;

/// Most changes of power in one answer: requests wait while they are copied.
const CHANGES_MOST: usize = 1 << 14;

/// What is known about the answers that were given.
#[derive(Default)]
pub struct Report {
    pub lateness: Lateness,
    pub costs: Costs,
    pub log: Option<Log>,
}

/// Shared by the thread that receives, the one that answers and those that give orders. Of the two
/// locks, that of the state is taken first.
pub struct Drive {
    state: Mutex<State>,
    report: Mutex<Report>,
    store: Arc<Store>,
    /// The thread that answers has something new to look at.
    woken: Condvar,
    /// Something was answered, or the door opened.
    pub(super) answered: Condvar,
    /// Counts what may bring the next event forward.
    changes: AtomicU64,
}

impl Drive {
    pub fn new(state: State, store: Arc<Store>) -> Self {
        Self {
            state: Mutex::new(state),
            report: Mutex::default(),
            store,
            woken: Condvar::new(),
            answered: Condvar::new(),
            changes: AtomicU64::new(0),
        }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a panic ends this process")
    }

    pub fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().expect("a panic ends this process")
    }

    /// Take a request; the answer is given by this thread or later by another one.
    pub fn take(&self, asked: &Asked<'_>, answer: Answer) {
        let size_b = asked.size_b();
        let mut state = self.state();
        while state.is_closed || (state.held_b > 0 && state.held_b + size_b > HELD_MOST_B) {
            state = self
                .answered
                .wait(state)
                .expect("a panic ends this process");
        }
        if !state.is_powered {
            return answer(Err(libc::EIO));
        }
        if state.clock == Clock::Instant {
            return state.carry_out(asked, answer);
        }
        let now = now_ns();
        state.advance(now);
        let tag = state.offer(now, asked, answer);
        let is_read = asked.action == Action::Read;
        let volatile = is_read.then(|| state.volatile(asked.extent));
        drop(state);
        self.wake();
        if let Some(volatile) = volatile {
            self.read_ahead_of_time(tag, asked.extent, &volatile);
        }
    }

    /// Let the thread that answers look again at what comes next.
    pub fn wake(&self) {
        self.changes.fetch_add(1, Ordering::Release);
        self.woken.notify_one();
    }

    /// Fetch the data of a read while it waits, so that its answer has only to be sent.
    fn read_ahead_of_time(&self, tag: u64, extent: Extent, volatile: &[Piece]) {
        let mut data = vec![0; (extent.sectors * SECTOR_B) as usize];
        // What fails here fails again when the read is answered.
        if self.store.read(extent.sector, &mut data).is_ok() {
            for piece in volatile {
                piece.lay_over(extent, &mut data);
            }
            self.state().give_ahead(tag, data);
        }
    }

    /// Answer requests in time, for ever. The model goes ahead of the clock by at most what the
    /// longest answer costs; what comes meanwhile is offered where the model is.
    pub fn answer_all(&self) {
        let mut margin = Margin::default();
        loop {
            for due in self.next_due(&mut margin) {
                self.answer(due);
            }
            self.answered.notify_all();
        }
    }

    /// Wait until something happens, and return what is to be answered then.
    fn next_due(&self, margin: &mut Margin) -> Vec<Due> {
        let mut state = self.state();
        while !state.has_events() {
            let seen = self.changes.load(Ordering::Acquire);
            let Some(next) = state.queue.next() else {
                state = self.woken.wait(state).expect("a panic ends this process");
                continue;
            };
            let begin = next.saturating_sub(self.report().costs.notice(state.longest_read_b()));
            let now = now_ns();
            if now >= begin {
                state.advance(now.max(next));
                break;
            }
            let Some(sleep_ns) = margin.sleep_ns(begin - now) else {
                drop(state);
                while now_ns() < begin && self.changes.load(Ordering::Acquire) == seen {
                    std::hint::spin_loop();
                }
                state = self.state();
                continue;
            };
            let (woken, ended) = self
                .woken
                .wait_timeout(state, Duration::from_nanos(sleep_ns))
                .expect("a panic ends this process");
            if ended.timed_out() {
                margin.learn(now_ns().saturating_sub(now + sleep_ns));
            }
            state = woken;
        }
        state.settle()
    }

    fn answer(&self, due: Due) {
        let moved_b = due.moved_b();
        let begin = due
            .planned
            .saturating_sub(self.report().costs.lead(moved_b));
        if let Ok(data) = &due.result {
            bring_near(data);
        }
        while now_ns() < begin {
            std::hint::spin_loop();
        }
        // Who has the answer finds it counted: nobody else looks into the report meanwhile.
        let mut report = self.report();
        let began = now_ns();
        (due.answer)(due.result.as_deref().map_err(|&code| code));
        let moments = Moments {
            sent: due.sent,
            planned: due.planned,
            done: now_ns(),
        };
        report.costs.learn(moved_b, moments.done - began);
        report.lateness.note(moments);
        if let Some(log) = &report.log {
            let command = due.request.command;
            log.note(Row {
                stream: due.request.stream,
                action: command.action,
                extent: command.extent,
                issued: due.request.issued,
                moments,
            });
        }
    }

    /// Lose power: requests fail until it comes back.
    pub fn cut_power(&self, scheduler: Box<dyn Scheduler>) {
        let due = self.state().cut_power(now_ns(), scheduler);
        self.answer_at_once(due);
    }

    /// Let the device have an ailment, whatever waits.
    ///
    /// # Errors
    /// If it cannot have it, or has no power.
    pub fn ail(&self, ailment: Ailment) -> Result<(), String> {
        let due = {
            let mut state = self.state();
            state.has_power()?;
            ailment.check(state.queue.device().sectors())?;
            state.ail(now_ns(), ailment)?
        };
        self.answer_at_once(due);
        Ok(())
    }

    fn answer_at_once(&self, due: Vec<Due>) {
        for due in due {
            (due.answer)(due.result.as_deref().map_err(|&code| code));
        }
        self.wake();
        self.answered.notify_all();
    }

    /// Until now: the time, energy by part and all energy, in microjoules.
    pub fn energy(&self) -> (Ns, Vec<(&'static str, u64)>, u64) {
        let whole_uj = |energy_fj: u128| (energy_fj / 1_000_000_000) as u64;
        self.looked_at(|state, at| {
            let ledger = state.queue.device().ledger();
            let parts = ledger.parts();
            let parts = parts.map(|(name, energy_fj, _)| (name, whole_uj(energy_fj)));
            (at, parts.collect(), whole_uj(ledger.energy_fj()))
        })
    }

    /// Times and the power in microwatts from each of them on, from the power at `since` on, by
    /// default from now; and until when that is all. None if it is not kept since then.
    pub fn trace(&self, since: Option<Ns>) -> Option<(Vec<(Ns, u64)>, Ns)> {
        self.looked_at(|state, at| {
            let ledger = state.queue.device().ledger();
            let (changes, until) = ledger.trace_since(since.unwrap_or(at), CHANGES_MOST)?;
            Some((changes.to_vec(), until))
        })
    }

    /// What the device has counted until now.
    pub fn counters(&self) -> BTreeMap<&'static str, u64> {
        self.looked_at(|state, _| state.queue.device().counters())
    }

    fn looked_at<T>(&self, look: impl FnOnce(&State, Ns) -> T) -> T {
        let seen = {
            let mut state = self.state();
            let at = state.advance(now_ns());
            look(&state, at)
        };
        self.wake();
        seen
    }

    /// Let nothing in any more and write everything to the store. What is not answered by then
    /// fails: nobody may hear later that data are there which the store has not got.
    pub fn shut(&self) -> Option<String> {
        let mut state = self.state();
        state.is_closed = true;
        state.is_shut = true;
        let at = state.advance(now_ns());
        let due = state.settle();
        state.store_all();
        let failed = state.fail_waiting(at);
        let broken = state.broken.clone();
        drop(state);
        due.into_iter().for_each(|due| self.answer(due));
        self.answer_at_once(failed);
        broken
    }
}

/// Look at data that another core has fetched, so that sending them takes the same time every time.
fn bring_near(data: &[u8]) {
    const CACHE_LINE_B: usize = 64;
    for line in data.chunks(CACHE_LINE_B) {
        std::hint::black_box(line[0]);
    }
}
