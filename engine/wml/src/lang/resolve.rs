//! From commands to a model. Commands run top to bottom; objects are resolved at `run`, so that
//! they see the last value of each variable.

use std::collections::BTreeMap;

use super::ast::{self, Command, Expression, Script, Span, Spanned};
use super::attributes::AttributeReader;
use super::diagnostic::{Diagnostic, Severity};
use super::evaluate::{Value, Variables};
use super::parser::parse;
use super::rules;
use super::vocabulary;
use crate::model::{Model, Program, Run, Step};

/// A program, unless there was an error, and everything that there is to say about the text.
pub struct Checked {
    pub program: Option<Program>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Parse and resolve a text; `overrides` have the last word over its `set` commands.
pub fn check(text: &str, overrides: &BTreeMap<String, Expression>) -> Checked {
    let script = match parse(text) {
        Ok(script) => script,
        Err(diagnostic) => {
            return Checked {
                program: None,
                diagnostics: vec![diagnostic],
            };
        }
    };
    let mut resolver = Resolver {
        variables: Variables::new(overrides),
        diagnostics: Vec::new(),
        model: Model::default(),
        duration_s: None,
        messages: Vec::new(),
        spans: Spans::default(),
    };
    resolver.script(&script);
    let Resolver {
        variables,
        mut diagnostics,
        model,
        duration_s,
        messages,
        ..
    } = resolver;
    diagnostics.extend(variables.unused());
    let failed = diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error);
    let variables = variables.values().clone();
    let mut steps: Vec<Step> = messages.into_iter().map(Step::Say).collect();
    steps.push(Step::Run(Box::new(Run {
        model,
        warmup_s: 0.0,
        duration_s,
        statistics: None,
        variables: variables.clone(),
    })));
    let program = Program {
        steps,
        variables,
        lathist: false,
        multi: None,
    };
    Checked {
        program: (!failed).then_some(program),
        diagnostics,
    }
}

/// Where the flowops of a model stand in the text, in order, with the span of their target.
#[derive(Default)]
pub struct Spans {
    pub flowops: Vec<Span>,
    pub targets: Vec<Option<Spanned<String>>>,
}

pub(super) struct Resolver {
    pub variables: Variables,
    pub diagnostics: Vec<Diagnostic>,
    pub model: Model,
    pub duration_s: Option<f64>,
    pub messages: Vec<String>,
    pub spans: Spans,
}

impl Resolver {
    fn script(&mut self, script: &Script) {
        let ran = script
            .iter()
            .position(|command| matches!(command.node, Command::Run(_)));
        for command in &script[..ran.unwrap_or(script.len())] {
            if let Err(diagnostic) = self.immediate(command) {
                self.diagnostics.push(diagnostic);
            }
        }
        for command in script {
            self.definition(command);
        }
        if let Some(at) = ran {
            if let Command::Run(duration) = &script[at].node {
                self.run(duration.as_ref());
            }
            if let Some(ignored) = script.get(at + 1) {
                let message = "commands after 'run' are not supported yet and would be ignored";
                self.diagnostics
                    .push(Diagnostic::error(ignored.span, message));
            }
        }
        if self.model.processes.is_empty() && self.diagnostics.is_empty() {
            let message = "the text defines no process, so there is nothing to run";
            self.diagnostics
                .push(Diagnostic::error(Span::default(), message));
        }
        if self.diagnostics.is_empty() {
            rules::check(&mut self.model, &self.spans, &mut self.diagnostics);
        }
    }

    /// Commands with an effect on what stands below them.
    fn immediate(&mut self, command: &Spanned<Command>) -> Result<(), Diagnostic> {
        match &command.node {
            Command::Set { name, value } => {
                let value = self.variables.evaluate(value)?;
                self.variables.set(name, value);
            }
            Command::Echo(text) => {
                let said = match self.variables.evaluate(text)? {
                    Value::Text(text) => text,
                    Value::Number(number) => number.to_string(),
                    Value::Bool(flag) => flag.to_string(),
                    Value::Random(_) => "a random variable".to_owned(),
                };
                self.messages.push(said);
            }
            _ => {}
        }
        Ok(())
    }

    fn definition(&mut self, command: &Spanned<Command>) {
        let span = command.span;
        match &command.node {
            Command::DefineFileset { single, attributes } => {
                let fileset = self.fileset(*single, attributes, span);
                if self
                    .model
                    .filesets
                    .iter()
                    .any(|other| other.name == fileset.name)
                {
                    let message = format!("there are two filesets '{}'", fileset.name);
                    self.diagnostics.push(Diagnostic::error(span, message));
                }
                self.model.filesets.push(fileset);
            }
            Command::DefineProcess(process) => {
                let process = self.process(process, span);
                self.model.processes.push(process);
            }
            Command::Eventgen(attributes) => {
                let mut read = self.reader(attributes, &vocabulary::EVENTGEN, span);
                self.model.rate = read.number("rate", 0.0);
            }
            _ => {}
        }
    }

    pub(super) fn reader<'a>(
        &'a mut self,
        attributes: &'a [ast::Attribute],
        vocabulary: &'a vocabulary::Attributes,
        span: Span,
    ) -> AttributeReader<'a> {
        AttributeReader::new(
            attributes,
            vocabulary,
            span,
            &self.variables,
            &mut self.diagnostics,
        )
    }

    fn run(&mut self, duration: Option<&Spanned<Expression>>) {
        let Some(expression) = duration else { return };
        match self.variables.evaluate(expression) {
            Ok(Value::Number(seconds)) if seconds > 0.0 => self.duration_s = Some(seconds),
            Ok(_) => {
                let message = "'run' takes a number of seconds above 0";
                self.diagnostics
                    .push(Diagnostic::error(expression.span, message));
            }
            Err(diagnostic) => self.diagnostics.push(diagnostic),
        }
    }
}
