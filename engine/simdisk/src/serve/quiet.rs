//! Changes that need quiet: after the answers to what was asked for before, and before all that
//! comes later.

use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use crate::device::{Action, Extent};
use crate::serve::drive::Drive;
use crate::serve::request::Asked;
use crate::serve::state::{Clock, State};
use crate::serve::sys::now_ns;
use crate::time::Ns;

/// How long a change waits until everything that was asked for is answered.
const QUIET_WITHIN: Duration = Duration::from_secs(60);

impl Drive {
    /// Keep new requests out until all others are answered, then do something that needs quiet,
    /// with everything stored if that is asked for.
    ///
    /// # Errors
    /// What it said, or that the requests took too long.
    pub fn in_quiet<T>(
        &self,
        stored: bool,
        change: impl FnOnce(&mut State, Ns) -> Result<T, String>,
    ) -> Result<T, String> {
        let mut state = self.state();
        if state.is_closed {
            return Err("another change is under way".into());
        }
        state.has_power()?;
        state.is_closed = true;
        let (mut state, mut result) = self.until_quiet(state);
        if result.is_ok() && stored && state.clock == Clock::Real {
            let now = now_ns();
            state.advance(now);
            let flush = Asked {
                action: Action::Flush,
                extent: Extent {
                    sector: 0,
                    sectors: 0,
                },
                stream: 0,
                data: &[],
            };
            state.offer(now, &flush, Box::new(|_| ()));
            self.wake();
            (state, result) = self.until_quiet(state);
            if result.is_ok() {
                state.store_all();
            }
        }
        let result = result.and_then(|()| {
            let at = state.advance(now_ns());
            change(&mut state, at)
        });
        state.is_closed = state.is_shut;
        drop(state);
        self.wake();
        self.answered.notify_all();
        result
    }

    fn until_quiet<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
    ) -> (MutexGuard<'a, State>, Result<(), String>) {
        let end = Instant::now() + QUIET_WITHIN;
        while state.waiting() > 0 && !state.is_shut {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let waiting = state.waiting();
                return (
                    state,
                    Err(format!("{waiting} requests are still not answered")),
                );
            }
            let waited = self.answered.wait_timeout(state, left);
            state = waited.expect("a panic ends this process").0;
        }
        let result = if state.is_shut {
            Err("the server is about to end".into())
        } else {
            state.has_power()
        };
        (state, result)
    }
}
