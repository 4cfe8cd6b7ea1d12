//! The commands that are not complete: when one begins, and when it is answered.

use crate::device::{Action, Command, Event, Outcome};
use crate::ssd::device::{Happening, Ssd};
use crate::time::Ns;

impl Ssd {
    /// Begin the jobs that no earlier one holds up.
    pub(super) fn begin_jobs(&mut self, at: Ns) {
        let free: Vec<u64> = self
            .jobs
            .iter()
            .filter(|&(&id, job)| !job.has_begun && !self.is_held_up(id, &job.command))
            .map(|(&id, _)| id)
            .collect();
        for id in free {
            self.jobs.get_mut(&id).expect("it is a job").has_begun = true;
            let decoded = self.controller.occupy(at, self.times.command_ns);
            self.note(decoded, Happening::Decoded(id));
        }
    }

    /// Whether an earlier command overlaps this one, unless both only read.
    fn is_held_up(&self, id: u64, command: &Command) -> bool {
        let reads = |command: &Command| command.action == Action::Read;
        self.jobs.range(..id).any(|(_, earlier)| {
            earlier.command.extent.overlaps(command.extent)
                && !(reads(command) && reads(&earlier.command))
        })
    }

    /// A page of a job is delivered, taken or stored.
    pub(super) fn one_less(&mut self, at: Ns, id: u64, events: &mut Vec<(Ns, Event)>) {
        let job = self.jobs.get_mut(&id).expect("it is a job");
        job.left -= 1;
        if job.left == 0 {
            self.complete(at, id, events);
        }
    }

    pub(super) fn end_flushes(&mut self, at: Ns, events: &mut Vec<(Ns, Event)>) {
        while let Some(&(id, horizon)) = self.flushes.front() {
            if !self.cache.is_flushed(horizon) {
                return;
            }
            self.flushes.pop_front();
            self.complete(at, id, events);
        }
    }

    pub(super) fn complete(&mut self, at: Ns, id: u64, events: &mut Vec<(Ns, Event)>) {
        let job = self.jobs.remove(&id).expect("it is a job");
        let tag = job.command.tag;
        let outcome = Outcome::Done;
        events.push((at, Event::Completed { tag, outcome }));
        self.begin_jobs(at);
    }
}
