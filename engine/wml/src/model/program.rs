//! What a text does, command by command.

use std::collections::BTreeMap;

use super::fileset::Fileset;
use super::value::Value;
use super::workload::Model;

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub steps: Vec<Step>,
    /// All that it defines, with the values that the last command that needs them has.
    pub filesets: Vec<Fileset>,
    /// As they are at the end of the text.
    pub variables: BTreeMap<String, Value>,
    /// Add histograms of powers of two to what is printed.
    pub lathist: bool,
    /// Where to meet the other clients of a run on several machines.
    pub multi: Option<Multi>,
}

/// `enable multi`
#[derive(Clone, Debug, PartialEq)]
pub struct Multi {
    pub master: String,
    pub client: String,
}

#[derive(Clone, Debug)]
pub enum Step {
    /// Text for people: `echo`, `list`, `version`.
    Say(String),
    /// Create those of these filesets that have not been created yet.
    Create(Vec<Fileset>),
    Sync,
    DropCaches,
    Verify,
    Sleep {
        duration_s: f64,
    },
    /// A command for the shell.
    System(String),
    /// Wait for the other clients (`domultisync`).
    Meet {
        value: u64,
    },
    Run(Box<Run>),
}

/// `run` or `psrun`
#[derive(Clone, Debug)]
pub struct Run {
    /// What it works with; its filesets are created if they have not been.
    pub model: Model,
    pub warmup_s: f64,
    /// None is the default of the quit mode.
    pub duration_s: Option<f64>,
    pub statistics: Option<Statistics>,
    /// Values of the variables at this command.
    pub variables: BTreeMap<String, Value>,
}

/// What `psrun` prints while it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    pub period_s: f64,
    /// Each print counts from the one before.
    pub reset: bool,
}

impl Program {
    /// Whether it says things at most.
    pub fn does_nothing(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.all(|step| matches!(step, Step::Say(_)))
    }

    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.steps.iter().filter_map(|step| match step {
            Step::Run(run) => Some(&**run),
            _ => None,
        })
    }
}
