//! What a text did, as data for JSON and as tables for people.

mod errno;
mod host;
mod latency;
mod notes;
mod results;
mod table;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::fileset::{Files, Prepared};
use crate::model::Value;
use crate::mounts::{self, Mount};

pub use host::Host;
pub use latency::Latency;
pub use notes::{failing, idle, notes};
pub use results::{
    Configuration, Cost, FlowopResult, LastOps, Measure, Phase, Requests, RunResult, Series,
};
pub use table::{octaves, statistics, summary};

pub const SCHEMA: u32 = 2;

#[derive(Debug, Serialize)]
pub struct Report {
    pub schema: u32,
    pub engine: &'static str,
    pub file: String,
    pub seed: u64,
    pub host: Host,
    /// Whether the text ended before its end.
    pub partial: bool,
    /// Why it is partial.
    pub reason: Option<String>,
    pub filesets: Vec<FilesetReport>,
    /// As they are at the end of the text.
    pub variables: BTreeMap<String, Value>,
    pub prepare: Vec<Prepared>,
    /// What was asked for and could not be done.
    pub notes: Vec<String>,
    pub runs: Vec<RunResult>,
}

/// A tree, as the layout has it.
#[derive(Debug, Serialize)]
pub struct FilesetReport {
    pub name: String,
    pub root: String,
    /// The file system that it stands on.
    pub mount: Option<Mount>,
    pub entries: u64,
    pub leafdirs: u64,
    /// Those that exist at the start.
    pub files: u64,
    pub directories: u64,
    pub bytes: u64,
}

impl FilesetReport {
    pub fn new(files: &Files) -> Self {
        let (fileset, layout) = (&files.fileset, &files.layout);
        Self {
            name: fileset.name.clone(),
            root: layout.root().to_owned(),
            mount: mounts::of(Path::new(layout.root())),
            entries: fileset.entries,
            leafdirs: fileset.leafdirs,
            files: layout.preallocated().count() as u64,
            directories: layout.directories.len() as u64,
            bytes: layout.preallocated_b(),
        }
    }
}
