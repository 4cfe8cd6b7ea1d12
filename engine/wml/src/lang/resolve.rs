//! From commands to a program. Commands are done top to bottom; a definition gets its values at
//! the `run` that uses it, so that it sees the last value of each variable above that.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::ast::{self, Expression, Span};
use super::attributes::AttributeReader;
use super::attributes::lenient::Names;
use super::diagnostic::{Diagnostic, Severity};
use super::evaluate::{Scope, Variables};
use super::parser::parse;
use super::rules::{self, Spans};
use super::vocabulary;
use crate::model::{Fileset, Model, Program, Quit};

/// Filesets, processes, threads and flowops of all runs of a text, each counted in each run.
const MAX_OBJECTS: usize = 200_000;

/// A program, unless there was an error, and everything that there is to say about the text.
pub struct Checked {
    pub program: Option<Program>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Parse and resolve a text; `overrides` have the last word over its `set` commands. Nothing is
/// run. Without a syntax error all other errors are found.
pub fn check(text: &str, overrides: &BTreeMap<String, Expression>) -> Checked {
    check_and(text, overrides, |_| ())
}

/// The same of a text that is to be run: where it has no `run`, and defines what to run, as if it
/// ended with one.
pub fn check_to_run(text: &str, overrides: &BTreeMap<String, Expression>) -> Checked {
    check_and(text, overrides, |resolver| {
        let is_run = resolver.program.runs().next().is_some();
        if !is_run && !resolver.definitions.processes.is_empty() {
            resolver.run(Span::default(), None, None);
        }
    })
}

fn check_and(
    text: &str,
    overrides: &BTreeMap<String, Expression>,
    finally: impl Fn(&mut Resolver),
) -> Checked {
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
    finally(&mut resolver);
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
    pub eventgen: Option<Defined<'a, Vec<ast::Attribute>>>,
}

pub(super) struct Resolver<'a> {
    pub variables: Variables,
    pub diagnostics: Vec<Diagnostic>,
    pub definitions: Definitions<'a>,
    /// The first filesets, which have been created and do not change any more.
    pub created: Vec<Fileset>,
    /// Places of the filesets and composites of the model that is being made, by name.
    pub fileset_places: HashMap<String, usize>,
    pub composite_places: HashMap<String, usize>,
    pub used_composites: HashSet<usize>,
    /// Names of the flowops of a thread.
    pub taken: Names,
    pub spans: Spans,
    pub program: Program,
    pub quit: Quit,
    pub warmup: Option<(f64, Span)>,
    /// The variables of the `foreach` around the command.
    pub loops: Scope,
    pub repeated: usize,
    objects: usize,
    /// Processes that some run uses, from the first.
    pub run_processes: usize,
    /// Whether there are definitions that no model has been made of.
    pub unchecked: bool,
    pub ended: bool,
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
            used_composites: HashSet::new(),
            taken: Names::default(),
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

    /// What is defined above, with the values of now, and checked.
    pub(super) fn model(&mut self) -> Model {
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

    pub(super) fn filesets(&mut self) -> Vec<Fileset> {
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
        self.program.filesets.clone_from(&filesets);
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
        let failed = has_error(&self.diagnostics);
        let mut warn =
            |span, message: &str| self.diagnostics.push(Diagnostic::warning(span, message));
        let runs = self.program.runs().count();
        if runs == 0 && !failed {
            warn(
                Span::default(),
                "the text has no 'run', so nothing is measured",
            );
        } else if runs > 0 {
            for below in &self.definitions.processes[self.run_processes..] {
                warn(
                    below.span,
                    "this process stands below the last 'run' and is not started",
                );
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
