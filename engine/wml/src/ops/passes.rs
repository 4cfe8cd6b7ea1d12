//! The passes of a thread, and what ends them.

use std::convert::Infallible;
use std::ops::ControlFlow::{self, Break, Continue};

use super::arrivals::Schedule;
use super::outcome::{Outcome, Undone};
use super::worker::Worker;
use crate::clock::now_ns;
use crate::model::{Class, Node, Quit};

impl<'a> Worker<'a> {
    /// Do passes until the run is over or this thread has reached its goal.
    pub fn work(&mut self) {
        self.now_ns = now_ns();
        self.await_first_pass();
        let Break(()) = match self.env.schedule.take() {
            Some(schedule) => self.open_loop(schedule),
            None => self.closed_loop(),
        };
        self.finish_asynchronous();
        self.env.control.note_end(now_ns());
        self.say_moments();
    }

    /// Each pass starts when the one before has ended.
    fn closed_loop(&mut self) -> ControlFlow<(), Infallible> {
        loop {
            self.pass(&self.env.thread.body)?;
        }
    }

    /// Each pass starts at its intended time, or at once if that is over.
    fn open_loop(&mut self, mut schedule: Schedule) -> ControlFlow<(), Infallible> {
        let control = self.env.control;
        loop {
            let intended_ns = control.start_ns().saturating_add(schedule.next_ns());
            if self.now_ns < intended_ns {
                self.wake_helpers();
                control.sleep_until(intended_ns.min(control.end_ns()));
                self.now_ns = now_ns();
            }
            self.pass(&self.env.thread.body)?;
            self.env.record.request(control, intended_ns, self.now_ns);
        }
    }

    /// Go through a body once; breaks if the thread has to end.
    fn pass(&mut self, body: &'a [Node]) -> ControlFlow<()> {
        // Also where nothing below asks.
        self.go_on()?;
        let thread = self.env.thread;
        for node in body {
            match node {
                Node::Flowop(nth) => {
                    let flowop = &thread.flowops[*nth];
                    for _ in 0..flowop.iters.draw(&mut self.env.stream) {
                        let outcome = self.execute(*nth, flowop);
                        self.account(*nth, flowop.operation.class(), outcome)?;
                    }
                }
                Node::Composite { iters, body } => {
                    for _ in 0..iters.draw(&mut self.env.stream) {
                        self.pass(body)?;
                    }
                }
            }
        }
        Continue(())
    }

    /// Breaks if the run was over when the last op ended. Between two turns this waits.
    fn go_on(&mut self) -> ControlFlow<()> {
        let control = self.env.control;
        if control.paused() {
            control.await_turn();
            self.now_ns = now_ns();
        }
        if self.now_ns < control.end_ns() && !control.stopped() {
            Continue(())
        } else {
            Break(())
        }
    }

    /// Record an outcome; breaks if the thread has to end.
    fn account(&mut self, nth: usize, class: Class, outcome: Outcome) -> ControlFlow<()> {
        match outcome {
            Ok(done) => self.now_ns = done.end_ns,
            Err(Undone::Passed | Undone::Finished) => {}
            Err(_) => self.now_ns = now_ns(),
        }
        self.record(nth, class, outcome);
        match outcome {
            Err(Undone::Finished) => return Break(()),
            Err(Undone::Exhausted) if self.env.quit != Quit::Timeout => return Break(()),
            // Whoever holds the files should get on.
            Err(Undone::Skipped | Undone::Exhausted) => std::thread::yield_now(),
            _ => {}
        }
        self.go_on()
    }
}
