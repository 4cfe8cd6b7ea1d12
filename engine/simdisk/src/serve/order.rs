//! An order, as it is written, and its refusal.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::serve::served::Ailment;
use crate::serve::state::Clock;
use crate::ssd::precondition::State;
use crate::time::Ns;

/// An order, as its line of JSON says: `{"do": "clock", "to": "instant"}`.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Order {
    Describe,
    Energy,
    Counters,
    /// Say what was drawn from a time on, as far as one answer goes; without it, what is drawn now.
    Trace {
        since_ns: Option<Ns>,
    },
    /// Say how exactly was answered; with `reset`, begin anew after that.
    Timing {
        #[serde(default)]
        reset: bool,
    },
    Clock {
        to: Clock,
    },
    Scheduler {
        to: String,
    },
    Depth {
        to: usize,
    },
    Policy {
        to: String,
    },
    /// Be as if ready since long.
    Reset,
    /// Be as after what the state stands for: of an SSD.
    State {
        to: State,
    },
    /// Write a table of the requests to this file; without it, end the one that is written.
    Log {
        to: Option<PathBuf>,
    },
    Fault(Ailment),
    Power {
        to: Power,
    },
    /// Stop the platters; without `to`, say what they do.
    Spin {
        to: Option<Spin>,
    },
    Stop,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Power {
    Cut,
    Restore,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spin {
    Standby,
}

/// Why an order was not carried out, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    what: String,
    next: String,
}

impl Refusal {
    pub fn new(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            next: next.into(),
        }
    }

    pub fn reply(&self) -> Value {
        json!({"ok": false, "what": self.what, "next": self.next})
    }
}
