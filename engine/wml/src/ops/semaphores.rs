//! Flowops that wait for one another: semblock and sempost, block and wakeup.

use super::gates::GatePair;
use super::outcome::{Outcome, timed_call};
use super::worker::Worker;
use crate::model::{Flowop, MAX_EVENTS};

impl<'a> Worker<'a> {
    fn own_gate(&self, nth: usize) -> (&'a GatePair, bool) {
        self.env.gates.own[nth].expect("every gate has its pair")
    }

    /// How many events a flowop posts or takes now: as many as a gate can hold at most.
    fn events_of(&mut self, flowop: &Flowop) -> u32 {
        let value = flowop.value.draw(&mut self.env.stream);
        u32::try_from(value).map_or(MAX_EVENTS, |value| value.min(MAX_EVENTS))
    }

    pub(super) fn sem_post(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let value = self.events_of(flowop);
        timed_call(|| {
            for gate in &self.env.gates.targets[nth] {
                if flowop.blocking {
                    gate.room.take(value);
                }
                gate.events.post(value);
            }
            Ok(())
        })
    }

    pub(super) fn sem_block(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        let value = self.events_of(flowop);
        let (gate, bounded) = self.own_gate(nth);
        let gives_back_first = flowop.gives_back_first();
        timed_call(|| {
            if bounded && gives_back_first {
                gate.room.post(value);
            }
            gate.events.take(value);
            if bounded && !gives_back_first {
                gate.room.post(value);
            }
            Ok(())
        })
    }

    pub(super) fn block(&mut self, nth: usize) -> Outcome {
        let (gate, _) = self.own_gate(nth);
        timed_call(|| {
            gate.events.wait_pulse();
            Ok(())
        })
    }

    pub(super) fn wakeup(&mut self, nth: usize) -> Outcome {
        timed_call(|| {
            self.env.gates.targets[nth]
                .iter()
                .for_each(|gate| gate.events.pulse());
            Ok(())
        })
    }
}
