//! Commands, done one after the other; most become steps of the program.

use super::ast::{Command, Expression, Foreach, List, Script, Span, Spanned};
use super::diagnostic::Diagnostic;
use super::evaluate::Evaluated;
use super::listing;
use super::resolve::{Defined, Resolver};
use super::rules;
use super::vocabulary;
use crate::ENGINE;
use crate::model::{Multi, Run, Statistics, Step};

/// Commands that `foreach` repeats in one text. More are an error, so that no text runs away.
const MAX_REPEATED: usize = 10_000;

/// Seconds of one wait or run: more than a century, which nobody waits for.
const MAX_SECONDS: f64 = 1e10;

/// Seconds of the shortest run.
const LEAST_S: f64 = 1e-3;

/// Seconds between two prints of `psrun`.
const PERIOD_S: f64 = 10.0;
const MIN_PERIOD_S: f64 = 0.01;

impl<'a> Resolver<'a> {
    pub(super) fn commands(&mut self, script: &'a Script) {
        for (nth, command) in script.iter().enumerate() {
            if let Err(diagnostic) = self.command(command) {
                self.diagnostics.push(diagnostic);
            }
            if self.ended {
                if let (Command::Quit, Some(below)) = (&command.node, script.get(nth + 1)) {
                    let message = "nothing below 'quit' is done";
                    self.diagnostics
                        .push(Diagnostic::warning(below.span, message));
                }
                return;
            }
        }
    }

    fn command(&mut self, command: &'a Spanned<Command>) -> Evaluated<()> {
        let span = command.span;
        if !self.loops.is_empty() {
            self.repeated += 1;
            if self.repeated > MAX_REPEATED {
                self.ended = true;
                let message = format!("'foreach' repeats more than {MAX_REPEATED} commands");
                return Err(Diagnostic::error(span, message));
            }
        }
        match &command.node {
            Command::Set { name, value } => self.variables.set(name, value)?,
            Command::SetQuit(quit) => self.quit = *quit,
            Command::DefineFileset(fileset) => {
                let defined = self.defined(fileset, span);
                self.definitions.filesets.push(defined);
            }
            Command::DefineProcess(process) => {
                let defined = self.defined(process, span);
                self.definitions.processes.push(defined);
            }
            Command::DefineComposite(composite) => {
                let defined = self.defined(composite, span);
                self.definitions.composites.push(defined);
            }
            Command::Eventgen(attributes) => {
                self.definitions.eventgen = Some(self.defined(attributes, span));
            }
            Command::CreateFiles => {
                self.created = self.filesets();
                self.step(Step::Create(self.created.clone()));
            }
            Command::Run(duration) => {
                let duration_s = self.optional_seconds("run", duration.as_ref())?;
                self.run(span, duration_s, None);
            }
            Command::PeriodicRun { period, duration } => {
                let statistics = self.statistics(period.as_ref())?;
                let duration_s = self.optional_seconds("psrun", duration.as_ref())?;
                self.run(span, duration_s, Some(statistics));
            }
            Command::Warmup(duration) => {
                self.warmup = Some((self.seconds("warmup", duration)?, span));
            }
            Command::Sleep(duration) => {
                let duration_s = self.seconds("sleep", duration)?;
                self.step(Step::Sleep { duration_s });
            }
            Command::System(command) => {
                let command = self.variables.say(command)?;
                self.step(Step::System(command));
            }
            Command::Echo(text) => {
                let text = self.variables.say(text)?;
                self.step(Step::Say(text));
            }
            Command::List(List::Filesets) => {
                let listing = listing::filesets(&self.filesets());
                self.step(Step::Say(listing));
            }
            Command::List(List::Flowops) => {
                let listing = listing::flowops(&self.model());
                self.step(Step::Say(listing));
            }
            Command::Debug(level) => {
                if !(0.0..=10.0).contains(&self.variables.operand(level)?) {
                    let message = "'debug' takes a level from 0 to 10";
                    return Err(Diagnostic::error(level.span, message));
                }
            }
            Command::Version => self.step(Step::Say(ENGINE.to_owned())),
            Command::Quit => self.ended = true,
            Command::EnableLathist => self.program.lathist = true,
            Command::EnableMulti(attributes) => {
                let mut read = self.reader(attributes, &vocabulary::MULTI, span);
                let master = read.required_text("master");
                let client = read.required_text("client");
                self.program.multi = Some(Multi { master, client });
            }
            Command::Multisync(attributes) => {
                if self.program.multi.is_none() {
                    let message = "'domultisync' needs an 'enable multi' above it";
                    return Err(Diagnostic::error(span, message));
                }
                let mut read = self.reader(attributes, &vocabulary::MULTISYNC, span);
                let value = read.count("value", 0, 0..=u64::MAX);
                self.step(Step::Meet { value });
            }
            Command::Sync => self.step(Step::Sync),
            Command::DropCaches => self.step(Step::DropCaches),
            Command::Verify => self.step(Step::Verify),
            Command::Foreach(foreach) => self.foreach(foreach)?,
            Command::Ignored => {}
        }
        Ok(())
    }

    fn step(&mut self, step: Step) {
        self.program.steps.push(step);
    }

    fn defined<T>(&mut self, node: &'a T, span: Span) -> Defined<'a, T> {
        self.unchecked = true;
        Defined {
            node,
            span,
            scope: self.loops.clone(),
        }
    }

    /// A value from the command line replaces the list.
    fn foreach(&mut self, foreach: &'a Foreach) -> Evaluated<()> {
        let name = &foreach.variable.node;
        let values = match self.variables.overriding(name) {
            Some(value) => vec![value.clone()],
            None => foreach
                .values
                .iter()
                .map(|value| self.variables.evaluate(value))
                .collect::<Evaluated<_>>()?,
        };
        let around = self.loops.clone();
        for value in values {
            self.variables.assign(name, value.clone());
            self.loops.insert(name.clone(), value);
            self.commands(&foreach.body);
            if self.ended {
                break;
            }
        }
        self.loops = around;
        Ok(())
    }

    fn seconds(&self, command: &str, expression: &Spanned<Expression>) -> Evaluated<f64> {
        let seconds = self.variables.operand(expression)?;
        if (0.0..=MAX_SECONDS).contains(&seconds) {
            return Ok(seconds);
        }
        let message = format!("'{command}' takes a number of seconds from 0 to {MAX_SECONDS}");
        Err(Diagnostic::error(expression.span, message))
    }

    fn optional_seconds(
        &self,
        command: &str,
        expression: Option<&Spanned<Expression>>,
    ) -> Evaluated<Option<f64>> {
        let Some(expression) = expression else {
            return Ok(None);
        };
        match self.seconds(command, expression)? {
            seconds if seconds < LEAST_S => {
                let message = format!("'{command}' takes a number of seconds from {LEAST_S}");
                Err(Diagnostic::error(expression.span, message))
            }
            seconds => Ok(Some(seconds)),
        }
    }

    /// A negative period has each print count from the one before.
    fn statistics(&self, period: Option<&Spanned<Expression>>) -> Evaluated<Statistics> {
        let period_s = match period {
            Some(period) => self.variables.operand(period)?,
            None => PERIOD_S,
        };
        let range = MIN_PERIOD_S..=MAX_SECONDS;
        if let Some(period) = period.filter(|_| !range.contains(&period_s.abs())) {
            let message = format!(
                "the period of 'psrun' is a number of seconds from {MIN_PERIOD_S} to {MAX_SECONDS}, \
                 or its negative"
            );
            return Err(Diagnostic::error(period.span, message));
        }
        Ok(Statistics {
            period_s: period_s.abs(),
            reset: period_s < 0.0,
        })
    }

    pub(super) fn run(
        &mut self,
        span: Span,
        duration_s: Option<f64>,
        statistics: Option<Statistics>,
    ) {
        let model = self.model();
        self.created = model.filesets.clone();
        self.run_processes = model.processes.len();
        if model.processes.is_empty() {
            let message = "no process is defined above this run, so there is nothing to run";
            self.diagnostics.push(Diagnostic::error(span, message));
        } else if model.thread_count() == 0 {
            let message = "all processes above this run have no instances, so nothing is started";
            self.diagnostics.push(Diagnostic::error(span, message));
        }
        if duration_s.is_none() && rules::may_never_end(&model) {
            let message = "this run may never end: no thread that it waits for has a \
                           finishoncount, a finishonbytes or files that run out, and no time is given";
            self.diagnostics.push(Diagnostic::warning(span, message));
        }
        let run = Run {
            model,
            warmup_s: self.warmup.take().map_or(0.0, |(seconds, _)| seconds),
            duration_s,
            statistics,
            variables: self.variables.values().clone(),
        };
        self.step(Step::Run(Box::new(run)));
    }
}
