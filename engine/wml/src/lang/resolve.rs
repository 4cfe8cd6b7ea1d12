//! From commands to a program. Commands are done top to bottom; a definition gets its values at
//! the `run` that uses it, so that it sees the last value of each variable above that.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::ast::{self, Command, Expression, Foreach, List, Script, Span, Spanned};
use super::attributes::AttributeReader;
use super::diagnostic::{Diagnostic, Severity};
use super::evaluate::{Evaluated, Scope, Variables};
use super::listing;
use super::parser::parse;
use super::rules::{self, Spans};
use super::vocabulary;
use crate::model::{Fileset, Model, Multi, Program, Quit, Run, Statistics, Step};
use crate::report::ENGINE;

/// Commands that `foreach` repeats in one text. More are an error, so that no text runs away.
const MAX_REPEATED: usize = 10_000;

/// Filesets, processes, threads and flowops of all runs of a text, each counted in each run.
const MAX_OBJECTS: usize = 200_000;

/// Seconds of one wait or run: 115 days.
const MAX_SECONDS: f64 = 1e7;

/// Seconds between two prints of `psrun`.
const PERIOD_S: f64 = 10.0;

/// A program, unless there was an error, and everything that there is to say about the text.
pub struct Checked {
    pub program: Option<Program>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Parse and resolve a text; `overrides` have the last word over its `set` commands. Nothing is
/// run. Without a syntax error all other errors are found.
pub fn check(text: &str, overrides: &BTreeMap<String, Expression>) -> Checked {
    let mut diagnostics = Vec::new();
    let script = parse(text, &mut diagnostics);
    if has_error(&diagnostics) {
        return Checked {
            program: None,
            diagnostics,
        };
    }
    let mut resolver = Resolver::new(overrides, diagnostics);
    resolver.commands(&script);
    resolver.finish()
}

fn has_error(diagnostics: &[Diagnostic]) -> bool {
    diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// A definition with where it stands and the variables of the `foreach` around it.
#[derive(Clone)]
pub(super) struct Defined<'a, T> {
    pub node: &'a T,
    pub span: Span,
    pub scope: Scope,
}

/// What stands above the command that is being done.
#[derive(Default)]
pub(super) struct Definitions<'a> {
    pub filesets: Vec<Defined<'a, ast::Fileset>>,
    pub processes: Vec<Defined<'a, ast::Process>>,
    pub composites: Vec<Defined<'a, ast::Composite>>,
    eventgen: Option<Defined<'a, Vec<ast::Attribute>>>,
}

pub(super) struct Resolver<'a> {
    pub variables: Variables,
    pub diagnostics: Vec<Diagnostic>,
    pub definitions: Definitions<'a>,
    /// The first filesets, which have been created and do not change any more.
    created: Vec<Fileset>,
    /// Places of the filesets and composites of the model that is being made, by name.
    pub fileset_places: HashMap<String, usize>,
    pub composite_places: HashMap<String, usize>,
    pub used_composites: BTreeSet<usize>,
    pub spans: Spans,
    program: Program,
    quit: Quit,
    warmup: Option<(f64, Span)>,
    /// The variables of the `foreach` around the command.
    loops: Scope,
    repeated: usize,
    objects: usize,
    /// Processes that some run uses, from the first.
    run_processes: usize,
    /// Whether there are definitions that no model has been made of.
    unchecked: bool,
    ended: bool,
}

impl<'a> Resolver<'a> {
    fn new(overrides: &BTreeMap<String, Expression>, diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            variables: Variables::new(overrides),
            diagnostics,
            definitions: Definitions::default(),
            created: Vec::new(),
            fileset_places: HashMap::new(),
            composite_places: HashMap::new(),
            used_composites: BTreeSet::new(),
            spans: Spans::default(),
            program: Program::default(),
            quit: Quit::default(),
            warmup: None,
            loops: Scope::new(),
            repeated: 0,
            objects: 0,
            run_processes: 0,
            unchecked: false,
            ended: false,
        }
    }

    fn commands(&mut self, script: &'a Script) {
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
            Command::Set { name, value } => {
                let value = self.variables.evaluate(value)?;
                self.variables.set(name, value);
            }
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
            0.0 => {
                let message = format!("'{command}' takes a number of seconds above 0");
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
        if let (0.0, Some(period)) = (period_s, period) {
            let message = "the period of 'psrun' is a number of seconds other than 0";
            return Err(Diagnostic::error(period.span, message));
        }
        Ok(Statistics {
            period_s: period_s.abs().min(MAX_SECONDS),
            reset: period_s < 0.0,
        })
    }

    fn run(&mut self, span: Span, duration_s: Option<f64>, statistics: Option<Statistics>) {
        let model = self.model();
        self.created = model.filesets.clone();
        self.run_processes = model.processes.len();
        if model.processes.is_empty() {
            let message = "no process is defined above this run, so there is nothing to run";
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

    /// What is defined above, with the values of now, and checked.
    fn model(&mut self) -> Model {
        self.unchecked = false;
        let before = self.diagnostics.len();
        self.spans = Spans::default();
        let filesets = self.filesets();
        self.fileset_places = (filesets.iter().map(|f| f.name.clone())).zip(0..).collect();
        self.place_composites();
        let rate = self.rate();
        let processes = self.processes();
        let mut model = Model {
            filesets,
            processes,
            rate,
            quit: self.quit,
        };
        if !has_error(&self.diagnostics[before..]) {
            rules::check(&mut model, &self.spans, &mut self.diagnostics);
        }
        model
    }

    fn filesets(&mut self) -> Vec<Fileset> {
        let mut filesets: Vec<Fileset> = Vec::new();
        let mut names = HashSet::new();
        for nth in 0..self.definitions.filesets.len() {
            let Defined { node, span, scope } = self.definitions.filesets[nth].clone();
            if !self.spend(span) {
                break;
            }
            let fileset = match self.created.get(nth) {
                Some(created) => created.clone(),
                None => {
                    self.variables.enter(scope);
                    let fileset = self.fileset(node, span);
                    self.variables.leave();
                    fileset
                }
            };
            if !fileset.name.is_empty() && !names.insert(fileset.name.clone()) {
                let message = format!("there are two filesets '{}'", fileset.name);
                self.diagnostics.push(Diagnostic::error(span, message));
            }
            filesets.push(fileset);
        }
        filesets
    }

    fn rate(&mut self) -> f64 {
        let Some(Defined { node, span, scope }) = self.definitions.eventgen.clone() else {
            return 0.0;
        };
        self.variables.enter(scope);
        let rate = self
            .reader(node, &vocabulary::EVENTGEN, span)
            .number("rate", 0.0);
        self.variables.leave();
        rate
    }

    /// Count one more object; false if there are too many.
    pub(super) fn spend(&mut self, span: Span) -> bool {
        self.objects += 1;
        if self.objects == MAX_OBJECTS {
            let message = format!(
                "this text makes {MAX_OBJECTS} filesets, processes, threads and flowops in all \
                 its runs, and that is too much"
            );
            self.diagnostics.push(Diagnostic::error(span, message));
            self.ended = true;
        }
        self.objects < MAX_OBJECTS
    }

    pub(super) fn reader<'b>(
        &'b mut self,
        attributes: &'b [ast::Attribute],
        vocabulary: &'b vocabulary::Attributes,
        span: Span,
    ) -> AttributeReader<'b> {
        AttributeReader::new(
            attributes,
            vocabulary,
            span,
            &self.variables,
            &mut self.diagnostics,
        )
    }

    /// Say what is left to say, and hand the program out if there is no error.
    fn finish(mut self) -> Checked {
        if self.unchecked && self.objects < MAX_OBJECTS {
            self.model();
        }
        self.unused();
        let mut diagnostics = self.diagnostics;
        diagnostics.extend(self.variables.unused());
        // Each run of a text finds the same again.
        let mut seen = HashSet::new();
        diagnostics.retain(|found| seen.insert((found.span, found.message.clone())));
        diagnostics.sort_by_key(|found| found.span.start);
        let program = Program {
            variables: self.variables.values().clone(),
            ..self.program
        };
        Checked {
            program: (!has_error(&diagnostics)).then_some(program),
            diagnostics,
        }
    }

    /// Warn of what has no effect.
    fn unused(&mut self) {
        let mut warn =
            |span, message: &str| self.diagnostics.push(Diagnostic::warning(span, message));
        if self.program.runs().next().is_none() {
            warn(Span::default(), "the text has no 'run', so nothing is measured");
        } else {
            for below in &self.definitions.processes[self.run_processes..] {
                warn(below.span, "this process stands below the last 'run' and is not started");
            }
        }
        if let Some((_, span)) = self.warmup {
            warn(span, "there is no 'run' below this 'warmup'");
        }
        for (nth, composite) in self.definitions.composites.iter().enumerate() {
            if !self.used_composites.contains(&nth) {
                let message = "this flowop is never used, and its inside is not checked";
                warn(composite.span, message);
            }
        }
    }
}
