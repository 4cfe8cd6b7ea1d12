//! Everything that the processes of a run share, made before they exist.

use std::sync::atomic::{AtomicU64, Ordering::AcqRel};

use super::gates::GateSet;
use super::places::{Place, Places};
use super::process::ProcessRecord;
use super::timing::{Options, Timing};
use crate::clock::now_ns;
use crate::failure::Failure;
use crate::fileset::{Files, Selector};
use crate::model::{Flowop, FlowopId, Model, Process, Quit, Thread};
use crate::ops::{self, Environment, Pools, Schedule};
use crate::random::Stream;
use crate::record::{Records, RequestTotal, Total, Totals};
use crate::shared::{Budget, Control, Mapping, Work};

pub struct Arena<'a> {
    pub model: &'a Model,
    pub files: &'a [Files],
    pub records: Records,
    pub processes: Mapping<ProcessRecord>,
    pub places: Places,
    control: Mapping<Control>,
    budget: Mapping<Budget>,
    /// Of each process.
    work: Mapping<Work>,
    /// How many threads have ended their work.
    ended: Mapping<AtomicU64>,
    /// Of each flowop of each thread of each process.
    selectors: Vec<Vec<Vec<Option<Selector>>>>,
    gates: GateSet,
    data: Pools,
    seed: u64,
    /// Its number among the runs of a text.
    nth: usize,
}

impl<'a> Arena<'a> {
    /// Memory for a run of `model`, the `nth` of its text; `files` are those of its filesets.
    pub fn new(
        model: &'a Model,
        files: &'a [Files],
        options: &Options,
        timing: &Timing,
        nth: usize,
    ) -> Result<Self, Failure> {
        ops::check(model, files)?;
        let places = Places::new(model);
        let selector = |flowop: &Flowop| Some(Selector::new(flowop, &files[flowop.fileset?]));
        let of_thread = |thread: &Thread| thread.flowops.iter().map(selector).collect();
        let of_process = |process: &Process| process.threads.iter().map(of_thread).collect();
        Ok(Self {
            model,
            files,
            records: Records::new(places.extent, timing.duration_ns, options.interval_ns)?,
            processes: Mapping::new(places.instances.len())?,
            work: Mapping::new(places.instances.len())?,
            places,
            control: Mapping::new(1)?,
            budget: Mapping::new(1)?,
            ended: Mapping::new(1)?,
            selectors: model.processes.iter().map(of_process).collect(),
            gates: GateSet::new(model)?,
            data: Pools::new(model, options.seed)?,
            seed: options.seed,
            nth,
        })
    }

    pub fn control(&self) -> &Control {
        &self.control[0]
    }

    /// What has been done so far; looking disturbs nobody.
    pub fn totals(&self) -> Totals {
        let flowop = |id: FlowopId| {
            let mut total = Total::default();
            for place in self.places.of(id.process, id.thread) {
                total.merge(self.records.flowop(place.part, id.flowop));
            }
            total
        };
        let requests = |(process, thread)| {
            let mut total = RequestTotal::default();
            let places = self.places.of(process, thread);
            places
                .filter_map(|place| place.part.request)
                .for_each(|nth| total.merge(self.records.request(nth)));
            total
        };
        Totals {
            flowops: self.model.flowops().map(|(id, _)| flowop(id)).collect(),
            requests: self.open_loops().map(requests).collect(),
        }
    }

    /// Process and thread of every open loop.
    fn open_loops(&self) -> impl Iterator<Item = (usize, usize)> {
        let processes = self.model.processes.iter().enumerate();
        processes.flat_map(|(p, process)| {
            let threads = process.threads.iter().enumerate();
            let open = threads.filter(|(_, thread)| thread.arrivals.is_some());
            open.map(move |(t, _)| (p, t))
        })
    }

    /// What a thread is given.
    pub fn environment(&self, place: &Place) -> Environment<'_> {
        let process = &self.model.processes[place.process];
        let thread = &process.threads[place.thread];
        let stream = |purpose| {
            let instance = place.instance.to_string();
            self.stream(&[purpose, &process.name, &thread.name, &instance])
        };
        Environment {
            thread,
            files: self.files,
            selectors: &self.selectors[place.process][place.thread],
            control: self.control(),
            budget: &self.budget[0],
            rate: self.model.rate,
            work: process.has_common_goal().then(|| &self.work[place.started]),
            quit: self.model.quit,
            record: self.records.thread(place.part),
            gates: self.gates.of(self.model, place),
            stream: stream("thread"),
            schedule: thread.arrivals.map(|arrivals| {
                let instances = process.instances * thread.instances;
                Schedule::new(arrivals, place.instance, instances, stream("arrivals"))
            }),
            number: place.part.thread as u64,
            data: &self.data,
        }
    }

    /// Runs of one text do not repeat the random numbers of one another.
    fn stream(&self, path: &[&str]) -> Stream {
        if self.nth == 1 {
            return Stream::new(self.seed, path);
        }
        Stream::new(self.seed, &[path, &["run", &self.nth.to_string()]].concat())
    }

    /// Note that a thread works no more. The last one ends the run; if the text says so, the first
    /// that has reached its goal does.
    pub fn end_thread(&self, place: &Place) {
        let now = now_ns();
        let at_goal = now < self.control().end_ns() && !self.control().stopped();
        if at_goal && self.model.quit == Quit::FirstDone {
            let last = self.records.last_ns_of(place.part.thread);
            self.control().cut_to(last.map_or(now, |ns| ns + 1));
            self.stop();
        }
        if self.ended[0].fetch_add(1, AcqRel) + 1 == self.places.extent.threads as u64 {
            self.stop();
        }
    }

    /// End the run for everyone who works, sleeps, or waits.
    pub fn stop(&self) {
        self.control().stop();
        self.gates.release();
    }
}
