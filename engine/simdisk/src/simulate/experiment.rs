//! A simulation as it is asked for, in JSON.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::profile::{Fault, Overrides};
use crate::simulate::nfs::Nfs;
use crate::simulate::readers::Readers;
use crate::simulate::writes::Writes;
use crate::ssd::precondition::State;

/// A device, a scheduler before it, and what is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The name of a built-in profile, or the path of one.
    pub disk: String,
    #[serde(default)]
    pub overrides: Overrides,
    /// Of an SSD; without it, initial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// One of [`crate::host::SCHEDULERS`].
    #[serde(default = "fifo")]
    pub scheduler: String,
    pub work: Work,
    /// Report the power drawn over time.
    #[serde(default)]
    pub power: bool,
    /// Report every request, and what an NFS server decides at each.
    #[serde(default)]
    pub log: bool,
}

fn fifo() -> String {
    "fifo".to_owned()
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    Readers(Readers),
    Writes(Writes),
    /// An NFS server that reads ahead, and its clients.
    Nfs(Nfs),
    /// The requests of a trace at their times.
    Replay {
        file: PathBuf,
    },
}

impl Experiment {
    /// What a text in JSON asks for.
    ///
    /// # Errors
    /// If it is no JSON, lacks a key, or has an unknown one.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        serde_json::from_str(text).map_err(|error| {
            Fault::new(
                error.to_string(),
                "the experiment in JSON",
                r#"write, for example, {"disk": "wd200bb", "work": {"readers": {"readers": 8}}}"#,
            )
        })
    }
}
