//! An experiment, done.

use std::fs;

use crate::device::Extent;
use crate::host::{RequestQueue, Scheduler, scheduler_by_name};
use crate::profile::{Fault, Profile};
use crate::simulate::device::device;
use crate::simulate::experiment::{Experiment, Work};
use crate::simulate::readers::Reading;
use crate::simulate::replay::Replay;
use crate::simulate::report::{DeviceReport, Energy, Report, Tally};
use crate::simulate::run::{Source, run};
use crate::simulate::trace;

impl Experiment {
    /// Do it.
    ///
    /// # Errors
    /// If the profile, the scheduler, the trace or a number is wrong.
    pub fn run(self) -> Result<Report, Fault> {
        let profile = Profile::load(&self.disk)?.with(&self.overrides, &self.disk)?;
        let scheduler = scheduler_by_name(&self.scheduler)?;
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
        let mut queue = RequestQueue::new(device, scheduler);
        let mut tally = Tally::new(self.log);
        let end_ns = run(&mut queue, &mut source, start_ns, |served| {
            tally.note(served)
        });
        let device = queue.device();
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
