//! The gates of a run: who waits at which, and who opens it.

use std::collections::HashMap;

use super::places::Place;
use crate::failure::Failure;
use crate::model::{FlowopId, Model, Operation};
use crate::ops::{GatePair, Gates};
use crate::shared::Mapping;

/// Of every flowop that waits at a gate, one pair for each of its instances.
pub struct GateSet {
    pairs: HashMap<FlowopId, Mapping<GatePair>>,
}

impl GateSet {
    pub fn new(model: &Model) -> Result<Self, Failure> {
        let mut pairs = HashMap::new();
        let waiting = model.flowops().filter(|(_, f)| f.operation.is_gate());
        for (id, flowop) in waiting {
            let process = &model.processes[id.process];
            let instances = process.instances * process.threads[id.thread].instances;
            let own: Mapping<GatePair> = Mapping::new(instances as usize)?;
            if flowop.operation == Operation::SemBlock {
                own.iter().for_each(|pair| pair.open_room(flowop.highwater));
            }
            pairs.insert(id, own);
        }
        Ok(Self { pairs })
    }

    /// Those that a thread waits at or opens.
    pub fn of(&self, model: &Model, place: &Place) -> Gates<'_> {
        let flowops = &model.processes[place.process].threads[place.thread].flowops;
        let own = (0..flowops.len()).map(|flowop| {
            let id = FlowopId {
                process: place.process,
                thread: place.thread,
                flowop,
            };
            let pairs = self.pairs.get(&id)?;
            let mut posters = model.flowops();
            let bounded =
                posters.any(|(_, poster)| poster.blocking && poster.targets.contains(&id));
            Some((&pairs[place.instance as usize], bounded))
        });
        let targets = flowops.iter().map(|flowop| {
            let pairs = flowop.targets.iter().filter_map(|id| self.pairs.get(id));
            pairs.flat_map(|pairs| pairs.iter()).collect()
        });
        Gates {
            own: own.collect(),
            targets: targets.collect(),
        }
    }

    /// Let everyone through from now on.
    pub fn release(&self) {
        let pairs = self.pairs.values().flat_map(|pairs| pairs.iter());
        pairs.for_each(GatePair::release);
    }
}
