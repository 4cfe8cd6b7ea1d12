//! A simulation as it is asked for, in JSON, and done.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::device::Extent;
use crate::host::{SCHEDULERS, Scheduler, Station, scheduler_by_name};
use crate::profile::{Fault, Overrides, Profile};
use crate::simulate::device::{State, device};
use crate::simulate::readers::{Readers, Reading};
use crate::simulate::replay::Replay;
use crate::simulate::report::{DeviceReport, Energy, Report, Tally};
use crate::simulate::run::{Source, run};
use crate::simulate::trace;
use crate::simulate::writes::Writes;

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
    /// One of [`SCHEDULERS`].
    #[serde(default = "fifo")]
    pub scheduler: String,
    pub work: Work,
    /// Report the power drawn over time.
    #[serde(default)]
    pub power: bool,
    /// Report every request.
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

    /// Do it.
    ///
    /// # Errors
    /// If the profile, the scheduler, the trace or a number is wrong.
    pub fn run(self) -> Result<Report, Fault> {
        let profile = Profile::load(&self.disk)?.with(&self.overrides, &self.disk)?;
        let scheduler = scheduler_by_name(&self.scheduler).ok_or_else(|| {
            Fault::new(
                format!("there is no scheduler {}", self.scheduler),
                "scheduler",
                format!("give one of {}", SCHEDULERS.join(", ")),
            )
        })?;
        match self.work.clone() {
            Work::Readers(readers) => {
                let crowd = readers.crowd(profile.sectors())?;
                let file = |reading: Reading| Extent {
                    sector: reading.sector,
                    sectors: reading.sectors,
                };
                let files: Vec<_> = crowd.readings().map(file).collect();
                self.drive(&profile, scheduler, &files, crowd, |crowd| {
                    crowd.readings().collect()
                })
            }
            Work::Writes(writes) => {
                let backlog = writes.backlog(profile.sectors())?;
                self.drive(&profile, scheduler, &[], backlog, |_| Vec::new())
            }
            Work::Replay { file } => {
                let origin = file.display().to_string();
                let text = fs::read_to_string(&file).map_err(|error| {
                    Fault::new(
                        format!("cannot read the trace: {error}"),
                        &origin,
                        "give the path of a CSV file",
                    )
                })?;
                let requests = trace::parse(&text, &origin, profile.sectors())?;
                self.drive(&profile, scheduler, &[], Replay::new(requests), |_| {
                    Vec::new()
                })
            }
        }
    }

    fn drive<S: Source>(
        self,
        profile: &Profile,
        scheduler: Box<dyn Scheduler>,
        files: &[Extent],
        mut source: S,
        readings: impl FnOnce(&S) -> Vec<Reading>,
    ) -> Result<Report, Fault> {
        let start_ns = source.next().unwrap_or(0);
        let device = device(profile, self.state, files, start_ns, self.power)?;
        let mut station = Station::new(device, scheduler);
        let mut tally = Tally::new(self.log);
        let end_ns = run(&mut station, &mut source, start_ns, |served| {
            tally.note(served)
        });
        let device = station.device();
        let bytes = (tally.read_b + tally.written_b) as f64;
        Ok(Report {
            basis: "simulated",
            engine: env!("CARGO_PKG_VERSION"),
            device: DeviceReport {
                model: profile.model().to_owned(),
                sectors: device.sectors(),
                depth: device.depth(),
            },
            start_ns,
            end_ns,
            requests_count: tally.requests,
            failed_count: tally.failed,
            read_b: tally.read_b,
            written_b: tally.written_b,
            throughput_mb_s: bytes * 1e3 / ((end_ns - start_ns).max(1) as f64),
            response_ns: tally.response_ns(),
            host_order: tally.host(),
            device_order: tally.device,
            energy: Energy::of(device),
            counters: device.counters(),
            readers: readings(&source),
            power_uw: self.power.then(|| device.ledger().trace().to_vec()),
            log: tally.log,
            experiment: self,
        })
    }
}
