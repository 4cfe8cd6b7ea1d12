//! Everything that the processes of a run share, made before they exist.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;

use super::Options;
use crate::failure::Failure;
use crate::fileset::Files;
use crate::model::{FlowopId, Model, Operation};
use crate::ops::{Buffer, Environment, GatePair, Gates};
use crate::random::Stream;
use crate::record::Records;
use crate::shared::{self, Budget, Control, Shared};

/// The least of incompressible data to write from.
const DATA_B: usize = 4 << 20;

/// What a process used within the measured interval.
#[derive(Default)]
pub struct CostRecord {
    pub user_ns: AtomicU64,
    pub system_ns: AtomicU64,
    pub voluntary_switches: AtomicU64,
    pub involuntary_switches: AtomicU64,
}

// SAFETY: made of atomics.
unsafe impl Shared for CostRecord {}

/// One process to start, and where its threads stand among all.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    pub process: usize,
    pub instance: u64,
    first_thread: usize,
    first_flowop: usize,
}

/// One thread to start.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    process: usize,
    pub thread: usize,
    /// Among the instances of this thread in all instances of its process.
    instance: u64,
    number: usize,
    first_flowop: usize,
}

pub struct Arena<'a> {
    pub model: &'a Model,
    pub files: &'a [Files],
    pub control: &'static Control,
    pub records: Records,
    pub costs: &'static [CostRecord],
    pub instances: Vec<Instance>,
    budget: &'static Budget,
    gates: HashMap<FlowopId, &'static [GatePair]>,
    seed: u64,
    data: &'static [u8],
}

impl<'a> Arena<'a> {
    pub fn new(model: &'a Model, files: &'a [Files], options: &Options) -> Result<Self, Failure> {
        let mut instances = Vec::new();
        let (mut threads, mut flowops) = (0, 0);
        for (process, spec) in model.processes.iter().enumerate() {
            for instance in 0..spec.instances {
                let (first_thread, first_flowop) = (threads, flowops);
                instances.push(Instance {
                    process,
                    instance,
                    first_thread,
                    first_flowop,
                });
                for thread in &spec.threads {
                    threads += thread.instances as usize;
                    flowops += thread.instances as usize * thread.flowops.len();
                }
            }
        }
        let mut data = Buffer::zeroed(data_size(model));
        Stream::new(options.seed, &["data"]).fill(data.bytes_mut());
        Ok(Self {
            model,
            files,
            control: shared::one()?,
            records: Records::new(flowops, threads, options.duration_ns)?,
            costs: shared::slice(instances.len())?,
            instances,
            budget: shared::one()?,
            gates: gates(model)?,
            seed: options.seed,
            data: data.leak(),
        })
    }

    /// The threads of a process.
    pub fn places(&self, of: Instance) -> Vec<Place> {
        let mut places = Vec::new();
        let (mut number, mut first_flowop) = (of.first_thread, of.first_flowop);
        let threads = &self.model.processes[of.process].threads;
        for (thread, spec) in threads.iter().enumerate() {
            for instance in 0..spec.instances {
                let instance = of.instance * spec.instances + instance;
                let process = of.process;
                places.push(Place {
                    process,
                    thread,
                    instance,
                    number,
                    first_flowop,
                });
                number += 1;
                first_flowop += spec.flowops.len();
            }
        }
        places
    }

    /// The records of all instances of a flowop.
    pub fn records_of(&self, id: FlowopId) -> impl Iterator<Item = &crate::record::FlowopRecord> {
        let spec = &self.model.processes[id.process].threads[id.thread];
        let instances = self
            .instances
            .iter()
            .filter(move |i| i.process == id.process);
        instances
            .flat_map(|instance| self.places(*instance))
            .filter(move |place| place.thread == id.thread)
            .map(move |place| {
                let thread =
                    self.records
                        .thread(place.number, place.first_flowop, spec.flowops.len());
                &thread.flowops[id.flowop]
            })
    }

    pub fn environment(&self, place: Place) -> Environment<'_> {
        let spec = &self.model.processes[place.process].threads[place.thread];
        let stream = Stream::new(
            self.seed,
            &[
                "thread",
                &self.model.processes[place.process].name,
                &spec.name,
                &place.instance.to_string(),
            ],
        );
        Environment {
            flowops: &spec.flowops,
            memsize: spec.memsize,
            files: self.files,
            control: self.control,
            budget: self.budget,
            rate: self.model.rate,
            record: self
                .records
                .thread(place.number, place.first_flowop, spec.flowops.len()),
            gates: self.gates_of(place),
            stream,
            number: place.number as u64,
            data: self.data,
        }
    }

    fn gates_of(&self, place: Place) -> Gates {
        let Place {
            process,
            thread,
            instance,
            ..
        } = place;
        let flowops = &self.model.processes[process].threads[thread].flowops;
        let own = (0..flowops.len()).map(|flowop| {
            let id = FlowopId {
                process,
                thread,
                flowop,
            };
            let pairs = self.gates.get(&id)?;
            let bounded = self
                .model
                .flowops()
                .any(|(_, poster)| poster.blocking && poster.targets.contains(&id));
            Some((&pairs[instance as usize], bounded))
        });
        let targets = flowops.iter().map(|flowop| {
            flowop
                .targets
                .iter()
                .filter_map(|id| self.gates.get(id))
                .flat_map(|p| p.iter())
                .collect()
        });
        Gates {
            own: own.collect(),
            targets: targets.collect(),
        }
    }

    /// End the run for everyone who works, sleeps, or waits.
    pub fn stop(&self) {
        self.control.stop();
        self.gates
            .values()
            .flat_map(|pairs| pairs.iter())
            .for_each(GatePair::release);
    }
}

fn gates(model: &Model) -> Result<HashMap<FlowopId, &'static [GatePair]>, Failure> {
    let mut gates = HashMap::new();
    for (id, flowop) in model
        .flowops()
        .filter(|(_, flowop)| flowop.operation.is_gate())
    {
        let process = &model.processes[id.process];
        let instances = process.instances * process.threads[id.thread].instances;
        let pairs: &'static [GatePair] = shared::slice(instances as usize)?;
        if flowop.operation == Operation::SemBlock {
            pairs
                .iter()
                .for_each(|pair| pair.open_room(flowop.highwater));
        }
        gates.insert(id, pairs);
    }
    Ok(gates)
}

/// Twice the largest write, and a whole number of pages.
fn data_size(model: &Model) -> usize {
    const LARGEST_B: f64 = 64.0 * 1048576.0;
    let largest = model
        .flowops()
        .filter(|(_, flowop)| flowop.operation.transfers())
        .map(|(_, flowop)| flowop.iosize.usual_maximum())
        .fold(0.0, f64::max);
    (2 * largest.min(LARGEST_B) as usize)
        .max(DATA_B)
        .next_multiple_of(4096)
}
