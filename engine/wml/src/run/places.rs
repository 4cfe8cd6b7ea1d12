//! The processes and threads that a model asks for, and where their records stand.

use std::ops::Range;

use crate::model::Model;
use crate::record::{Extent, Part};

/// One process to start.
#[derive(Clone, Debug)]
pub struct Instance {
    pub process: usize,
    /// Its threads among all places.
    pub places: Range<usize>,
}

/// One thread to start.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub process: usize,
    /// Its process among all instances.
    pub started: usize,
    pub thread: usize,
    /// Among the instances of this thread in all instances of its process.
    pub instance: u64,
    pub part: Part,
}

/// Everything to start, process by process.
#[derive(Debug, Default)]
pub struct Places {
    pub instances: Vec<Instance>,
    pub places: Vec<Place>,
    pub extent: Extent,
}

impl Places {
    pub fn new(model: &Model) -> Self {
        let mut all = Self::default();
        for (process, spec) in model.processes.iter().enumerate() {
            for instance in 0..spec.instances {
                let from = all.places.len();
                for (thread, threads) in spec.threads.iter().enumerate() {
                    for nth in 0..threads.instances {
                        let part = all.part(threads.flowops.len(), threads.arrivals.is_some());
                        all.places.push(Place {
                            process,
                            started: all.instances.len(),
                            thread,
                            instance: instance * threads.instances + nth,
                            part,
                        });
                    }
                }
                all.instances.push(Instance {
                    process,
                    places: from..all.places.len(),
                });
            }
        }
        all
    }

    fn part(&mut self, flowops: usize, requests: bool) -> Part {
        let extent = &mut self.extent;
        let part = Part {
            thread: extent.threads,
            first_flowop: extent.add_flowops(flowops),
            flowops,
            request: requests.then_some(extent.requests),
        };
        extent.threads += 1;
        extent.requests += usize::from(requests);
        part
    }

    /// All instances of a thread, in order.
    pub fn of(&self, process: usize, thread: usize) -> impl Iterator<Item = &Place> {
        self.places
            .iter()
            .filter(move |place| (place.process, place.thread) == (process, thread))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ArrivalProcess, Arrivals, Process, Thread};

    fn thread(instances: u64, arrivals: bool) -> Thread {
        Thread {
            name: "t".into(),
            instances,
            memsize: 0,
            ioprio: None,
            arrivals: arrivals.then_some(Arrivals {
                rate: 1.0,
                process: ArrivalProcess::Poisson,
            }),
            flowops: Vec::new(),
            body: Vec::new(),
        }
    }

    #[test]
    fn every_thread_has_its_own_records_and_number() {
        let process = Process {
            name: "p".into(),
            instances: 3,
            nice: 0,
            threads: vec![thread(2, false), thread(4, true)],
        };
        let places = Places::new(&Model {
            processes: vec![process.clone(), process],
            ..Model::default()
        });
        let extent = places.extent;
        assert_eq!((extent.threads, extent.requests), (36, 24));
        let numbers: Vec<u64> = places.of(1, 1).map(|place| place.instance).collect();
        assert_eq!(numbers, (0..12).collect::<Vec<_>>());
        let threads: Vec<usize> = places
            .places
            .iter()
            .map(|place| place.part.thread)
            .collect();
        assert_eq!(threads, (0..36).collect::<Vec<_>>());
        assert_eq!(places.instances[5].places, 30..36);
        let mut of_last = places.places[30..36].iter();
        assert!(of_last.all(|place| place.started == 5));
    }
}
