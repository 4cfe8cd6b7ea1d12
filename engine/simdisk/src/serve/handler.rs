//! Carries out orders while the disk is served.

use std::path::PathBuf;
use std::sync::Arc;

use mounting::signals;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::device::Device;
use crate::host::scheduler_by_name;
use crate::serve::drive::Drive;
use crate::serve::floor::Floor;
use crate::serve::log::Log;
use crate::serve::order::{Order, Power, Refusal, Spin};
use crate::serve::privileges::Privileges;
use crate::serve::served::Noting;
use crate::serve::state::Clock;
use crate::serve::sys;
use crate::ssd::precondition::State;
use crate::time::Ns;

/// The deepest queue: what a SCSI or NVMe device may be given at once.
const DEPTH_MOST: usize = 1024;

/// What is served, as it was given.
#[derive(Clone, Debug, Serialize)]
pub struct Identity {
    /// The name of the profile, or its path.
    pub profile: String,
    pub model: String,
    pub privileges: Privileges,
    pub floor: Floor,
}

type Reply = Result<Map<String, Value>, Refusal>;

/// Who carries out orders.
pub struct Handler {
    pub drive: Arc<Drive>,
    pub identity: Identity,
    /// The scheduler's name, beside what the drive knows.
    pub scheduler: std::sync::Mutex<String>,
}

impl Handler {
    /// # Errors
    /// If it cannot be carried out; nothing has changed then.
    pub fn carry_out(&self, order: Order) -> Reply {
        match order {
            Order::Describe => return Ok(self.describe()),
            Order::Energy => return Ok(self.energy()),
            Order::Counters => return Ok(object(json!({"counters": self.drive.counters()}))),
            Order::Trace { since_ns } => return self.trace(since_ns),
            Order::Timing { reset } => return Ok(self.timing(reset)),
            Order::Clock { to } => self.set_clock(to)?,
            Order::Scheduler { to } => self.set_scheduler(&to)?,
            Order::Depth { to } => self.set_depth(to)?,
            Order::Policy { to } => self.change(|device| device.served.set_policy(&to))?,
            Order::Reset => self.reset()?,
            Order::State { to } => self.set_state(to)?,
            Order::Log { to } => self.set_log(to)?,
            Order::Fault(ailment) => self.drive.ail(ailment).map_err(not_now)?,
            Order::Power { to } => self.set_power(to)?,
            Order::Spin { to: None } => return self.spin(),
            Order::Spin {
                to: Some(Spin::Standby),
            } => self.stand_by()?,
            Order::Stop => signals::stop(),
        }
        Ok(Map::new())
    }

    /// All that is known about what is served.
    pub fn describe(&self) -> Map<String, Value> {
        let state = self.drive.state();
        let device = state.queue.device();
        object(json!({
            "profile": self.identity.profile,
            "model": self.identity.model,
            "sectors": device.sectors(),
            "zones": device.served.zones(),
            "depth": device.depth(),
            "policy": device.served.policy(),
            "scheduler": *self.scheduler.lock().expect("a panic ends this process"),
            "clock": state.clock,
            "powered": state.is_powered,
            "store_fault": state.broken,
            "privileges": self.identity.privileges,
            "floor": self.identity.floor,
        }))
    }

    fn energy(&self) -> Map<String, Value> {
        let (time_ns, parts, total_uj) = self.drive.energy();
        let parts: Map<_, _> = parts
            .into_iter()
            .map(|(name, energy_uj)| (name.to_owned(), json!(energy_uj)))
            .collect();
        object(json!({"time_ns": time_ns, "parts_uj": parts, "total_uj": total_uj}))
    }

    fn trace(&self, since: Option<Ns>) -> Reply {
        let Some((changes, until_ns)) = self.drive.trace(since) else {
            return Err(Refusal::new(
                "what was drawn then is not kept any more",
                "ask from a later time on",
            ));
        };
        let (times_ns, power_uw): (Vec<Ns>, Vec<u64>) = changes.into_iter().unzip();
        Ok(object(json!({
            "times_ns": times_ns,
            "power_uw": power_uw,
            "until_ns": until_ns,
        })))
    }

    fn timing(&self, reset: bool) -> Map<String, Value> {
        let mut report = self.drive.report();
        let timing = report.lateness.timing();
        if reset {
            report.lateness.begin_anew();
        }
        object(json!(timing))
    }

    fn set_clock(&self, to: Clock) -> Result<(), Refusal> {
        let has_now = self.drive.state().clock;
        if has_now == to {
            return Ok(());
        }
        let changed = self.drive.in_quiet(true, |state, at| {
            match to {
                Clock::Real => state.reset(at),
                Clock::Instant => state.queue.device_mut().served.rest(at),
            }
            state.clock = to;
            Ok(())
        });
        changed.map_err(not_now)
    }

    fn set_scheduler(&self, name: &str) -> Result<(), Refusal> {
        let scheduler =
            scheduler_by_name(name).map_err(|fault| Refusal::new(fault.what, fault.next))?;
        let changed = self.drive.in_quiet(false, |state, _| {
            state.queue.restart(scheduler);
            Ok(())
        });
        changed.map_err(not_now)?;
        name.clone_into(&mut self.scheduler.lock().expect("a panic ends this process"));
        Ok(())
    }

    fn reset(&self) -> Result<(), Refusal> {
        let reset = self.drive.in_quiet(true, |state, at| {
            state.reset(at);
            Ok(())
        });
        reset.map_err(not_now)
    }

    fn set_state(&self, to: State) -> Result<(), Refusal> {
        let set = self
            .drive
            .in_quiet(true, |state, at| state.queue.device_mut().served.be(at, to));
        set.map_err(|what| Refusal::new(what, "an SSD has states; see `fsgreen-simdisk disks`"))
    }

    fn set_log(&self, to: Option<PathBuf>) -> Result<(), Refusal> {
        let failed = |error| {
            Refusal::new(
                format!("the log cannot be written: {error}"),
                "give a path in a folder with space",
            )
        };
        let log = to
            .map(|path| Log::begin(&path))
            .transpose()
            .map_err(failed)?;
        let before = std::mem::replace(&mut self.drive.report().log, log);
        before.map_or(Ok(()), Log::end).map_err(failed)
    }

    fn set_power(&self, to: Power) -> Result<(), Refusal> {
        let (is_powered, clock) = {
            let state = self.drive.state();
            (state.is_powered, state.clock)
        };
        match to {
            _ if clock == Clock::Instant => Err(Refusal::new(
                "under the instant clock nothing is volatile",
                "send {\"do\": \"clock\", \"to\": \"real\"} first",
            )),
            Power::Cut if is_powered => {
                // A copy: the drive's state must not be waited for while the name is held.
                let name = self
                    .scheduler
                    .lock()
                    .expect("a panic ends this process")
                    .clone();
                let anew = scheduler_by_name(&name)
                    .map_err(|fault| Refusal::new(fault.what, fault.next))?;
                self.drive.cut_power(anew);
                Ok(())
            }
            Power::Restore if !is_powered => {
                self.drive.state().restore_power(sys::now_ns());
                self.drive.wake();
                Ok(())
            }
            _ => Err(Refusal::new(
                "the power is so already",
                "send {\"do\": \"describe\"} to see it",
            )),
        }
    }

    fn set_depth(&self, depth: usize) -> Result<(), Refusal> {
        if !(1..=DEPTH_MOST).contains(&depth) {
            return Err(Refusal::new(
                format!("{depth} is no depth of a queue"),
                format!("give one from 1 to {DEPTH_MOST}"),
            ));
        }
        self.change(|device| {
            device.depth = depth;
            Ok(())
        })
    }

    /// Change how the device treats requests, while there are none.
    fn change(
        &self,
        change: impl FnOnce(&mut Noting) -> Result<(), String>,
    ) -> Result<(), Refusal> {
        let changed = self
            .drive
            .in_quiet(false, |state, _| change(state.queue.device_mut()));
        changed.map_err(not_now)
    }

    fn spin(&self) -> Reply {
        let found = {
            let mut state = self.drive.state();
            state.has_power().map_err(not_now)?;
            state.advance(sys::now_ns());
            state.queue.device().served.spin()
        };
        self.drive.wake();
        Ok(object(json!({"spin": found.map_err(not_now)?})))
    }

    /// Stop the platters once nothing waits.
    fn stand_by(&self) -> Result<(), Refusal> {
        let done = {
            let mut state = self.drive.state();
            state.has_power().map_err(not_now)?;
            let at = state.advance(sys::now_ns());
            state.queue.device_mut().served.stand_by(at)
        };
        self.drive.wake();
        done.map_err(not_now)
    }
}

fn not_now(what: String) -> Refusal {
    Refusal::new(what, "send {\"do\": \"describe\"} to see how the disk is")
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}
