//! An experiment, done.

use readahead::Count;

use crate::device::Extent;
use crate::host::{RequestQueue, Scheduler, scheduler_by_name};
use crate::profile::{Fault, Profile};
use crate::simulate::columns;
use crate::simulate::device::device;
use crate::simulate::experiment::{Experiment, Work};
use crate::simulate::readers::Reading;
use crate::simulate::replay::Replay;
use crate::simulate::report::{DeviceReport, Energy, Report, Tally};
use crate::simulate::run::{Source, run};
use crate::simulate::server::NfsReport;
use crate::simulate::trace;
use crate::time::Ns;

/// How each reader went, and what an NFS server did for them.
type Readers = (Vec<Reading>, Option<NfsReport>);

const NO_READERS: Readers = (Vec::new(), None);

impl Experiment {
    /// Do it.
    ///
    /// # Errors
    /// If the profile, the scheduler, the trace or a number is wrong.
    pub fn run(self) -> Result<Report, Fault> {
        self.run_by(None)
    }

    /// Do it; `own` decides how far an NFS server reads ahead, in the place of its heuristic.
    ///
    /// # Errors
    /// As [`Self::run`], or if there is no server.
    pub fn run_by(self, own: Option<Count>) -> Result<Report, Fault> {
        if own.is_some() && !matches!(self.work, Work::Nfs(_)) {
            return Err(Fault::new(
                "only an NFS server asks a heuristic",
                "the experiment's work",
                r#"write {"nfs": {}}, or give no heuristic"#,
            ));
        }
        let profile = Profile::load(&self.disk)?.with(&self.overrides, &self.disk)?;
        let scheduler = scheduler_by_name(&self.scheduler)?;
        match self.work.clone() {
            Work::Readers(readers) => {
                let crowd = readers.crowd(profile.sectors())?;
                let files: Vec<_> = crowd.readings().map(place).collect();
                self.drive(&profile, scheduler, &files, crowd, |crowd, _| {
                    (crowd.readings().collect(), None)
                })
            }
            Work::Writes(writes) => {
                let backlog = writes.backlog(profile.sectors())?;
                self.drive(&profile, scheduler, &[], backlog, |_, _| NO_READERS)
            }
            Work::Replay { file } => {
                let (text, origin) = columns::read(&file)?;
                let requests = trace::parse(&text, &origin, profile.sectors())?;
                let replay = Replay::new(requests);
                self.drive(&profile, scheduler, &[], replay, |_, _| NO_READERS)
            }
            Work::Nfs(nfs) => {
                let mut server = nfs.server(profile.sectors(), own)?;
                if self.log {
                    server.keep_decisions();
                }
                let files: Vec<_> = server.readings().map(place).collect();
                self.drive(&profile, scheduler, &files, server, |server, start| {
                    (server.readings().collect(), Some(server.report(start)))
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
        done: impl FnOnce(S, Ns) -> Readers,
    ) -> Result<Report, Fault> {
        let start_ns = source.next().unwrap_or(0);
        let device = device(profile, self.state, files, start_ns, self.power)?;
        let mut queue = RequestQueue::new(device, scheduler);
        let mut tally = Tally::new(self.log);
        let end_ns = run(&mut queue, &mut source, start_ns, |served| {
            tally.note(served)
        });
        let (readers, nfs) = done(source, start_ns);
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
            readers,
            nfs,
            power_uw: self.power.then(|| device.ledger().trace().to_vec()),
            log: tally.log,
            experiment: self,
        })
    }
}

/// Where what a reader reads lies.
fn place(reading: Reading) -> Extent {
    Extent {
        sector: reading.sector,
        sectors: reading.sectors,
    }
}
