//! From commands to a model. Commands run top to bottom; objects are resolved at `run`, so that
//! they see the last value of each variable.

use std::collections::BTreeMap;

use super::ast::{self, Command, Expression, Script, Span, Spanned};
use super::attributes::AttributeReader;
use super::diagnostic::{Diagnostic, Severity, suggestion};
use super::evaluate::{Value, Variables};
use super::parser::parse;
use super::vocabulary::{self, LATER_FLOWOPS};
use super::rules;
use crate::model::{Fileset, Flowop, Model, Operation, Process, SLOTS, Thread};

/// A model, unless there was an error, and everything that there is to say about the text.
pub struct Checked {
    pub model: Option<Model>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Parse and resolve a text; `overrides` have the last word over its `set` commands.
pub fn check(text: &str, overrides: &BTreeMap<String, Expression>) -> Checked {
    let script = match parse(text) {
        Ok(script) => script,
        Err(diagnostic) => return Checked { model: None, diagnostics: vec![diagnostic] },
    };
    let mut resolver = Resolver {
        variables: Variables::new(overrides),
        diagnostics: Vec::new(),
        model: Model::default(),
        spans: Spans::default(),
    };
    resolver.script(&script);
    let Resolver { variables, mut diagnostics, mut model, .. } = resolver;
    let at_the_top = Span::default();
    diagnostics.extend(
        variables.unused_overrides().into_iter().map(|what| Diagnostic::error(at_the_top, what)),
    );
    let failed = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    model.variables = variables.values().clone();
    Checked { model: (!failed).then_some(model), diagnostics }
}

/// Where the flowops of a model stand in the text, in order, with the span of their target.
#[derive(Default)]
pub struct Spans {
    pub flowops: Vec<Span>,
    pub targets: Vec<Option<Spanned<String>>>,
}

struct Resolver {
    variables: Variables,
    diagnostics: Vec<Diagnostic>,
    model: Model,
    spans: Spans,
}

impl Resolver {
    fn script(&mut self, script: &Script) {
        let ran = script.iter().position(|command| matches!(command.node, Command::Run(_)));
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
                self.diagnostics.push(Diagnostic::error(ignored.span, message));
            }
        }
        if self.model.processes.is_empty() && self.diagnostics.is_empty() {
            let message = "the text defines no process, so there is nothing to run";
            self.diagnostics.push(Diagnostic::error(Span::default(), message));
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
                self.variables.set(&name.node, value);
            }
            Command::Echo(text) => {
                let said = match self.variables.evaluate(text)? {
                    Value::Text(text) => text,
                    Value::Number(number) => number.to_string(),
                    Value::Bool(flag) => flag.to_string(),
                    Value::Random(_) => "a random variable".to_owned(),
                };
                self.model.messages.push(said);
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
                if self.model.filesets.iter().any(|other| other.name == fileset.name) {
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

    fn reader<'a>(
        &'a mut self,
        attributes: &'a [ast::Attribute],
        vocabulary: &'a vocabulary::Attributes,
        span: Span,
    ) -> AttributeReader<'a> {
        AttributeReader::new(attributes, vocabulary, span, &self.variables, &mut self.diagnostics)
    }

    fn fileset(&mut self, single: bool, attributes: &[ast::Attribute], span: Span) -> Fileset {
        let mut read = self.reader(attributes, &vocabulary::FILESET, span);
        let fileset = Fileset {
            name: read.required_text("name"),
            path: read.required_text("path"),
            size: read.amount("size", 1024.0),
            entries: read.count("entries", u64::from(single), 1),
            dirwidth: read.amount("dirwidth", if single { 10.0 } else { 0.0 }),
            dirgamma: read.number("dirgamma", if single { 0.0 } else { 1500.0 }) / 1000.0,
            prealloc_percent: read.percentage("prealloc"),
            paralloc: read.flag("paralloc"),
            readonly: read.flag("readonly"),
            writeonly: read.flag("writeonly"),
        };
        let plain = !fileset.name.is_empty()
            && fileset.name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
            && fileset.name.chars().any(|c| c.is_ascii_alphanumeric());
        if read.has("name") && !plain {
            read.error("name", "a fileset's name is one folder: letters, digits, . _ -".into());
        }
        if fileset.dirwidth.mean() < 2.0 {
            read.error("dirwidth", "'dirwidth' must be at least 2".to_owned());
        }
        if fileset.entries > u64::from(u32::MAX) {
            read.error("entries", "a fileset has at most 4 billion entries".to_owned());
        }
        fileset
    }

    fn process(&mut self, process: &ast::Process, span: Span) -> Process {
        let mut read = self.reader(&process.attributes, &vocabulary::PROCESS, span);
        let name = read.required_text("name");
        let instances = read.count("instances", 1, 1);
        let nice = read.number("nice", 0.0) as i32;
        if process.threads.is_empty() {
            read.error("name", format!("process '{name}' has no thread"));
        }
        let threads = process.threads.iter().map(|thread| self.thread(thread)).collect();
        Process { name, instances, nice, threads }
    }

    fn thread(&mut self, thread: &ast::Thread) -> Thread {
        let mut read = self.reader(&thread.attributes, &vocabulary::THREAD, thread.span);
        let name = read.required_text("name");
        let instances = read.count("instances", 1, 1);
        let memsize = read.count("memsize", 0, 0);
        if thread.flowops.is_empty() {
            read.error("name", format!("thread '{name}' has no flowop"));
        }
        let flowops = thread.flowops.iter().filter_map(|flowop| self.flowop(flowop)).collect();
        Thread { name, instances, memsize, flowops }
    }

    fn flowop(&mut self, flowop: &ast::Flowop) -> Option<Flowop> {
        let Spanned { node: word, span } = &flowop.operation;
        let Some(operation) = Operation::ALL.iter().find(|operation| operation.name() == word)
        else {
            let message = if LATER_FLOWOPS.contains(&word.as_str()) {
                format!("flowop '{word}' is not supported yet")
            } else {
                let near = suggestion(word, Operation::ALL.iter().map(|known| known.name()));
                format!("unknown flowop '{word}'{near}")
            };
            self.diagnostics.push(Diagnostic::error(*span, message));
            return None;
        };
        let filesets: Vec<String> = self.model.filesets.iter().map(|f| f.name.clone()).collect();
        let mut read = self.reader(&flowop.attributes, &vocabulary::FLOWOP, *span);
        let fileset = read.text("filesetname").and_then(|name| {
            let found = filesets.iter().position(|known| *known == name);
            if found.is_none() {
                let near = suggestion(&name, filesets.iter().map(String::as_str));
                read.error("filesetname", format!("no fileset '{name}' is defined above{near}"));
            }
            found
        });
        let target = read.text("target");
        let target = target.map(|node| Spanned { node, span: read.span_of("target") });
        let slot = |read: &mut AttributeReader, name: &str| {
            let fd = read.count(name, 0, 0) as usize;
            if fd >= SLOTS {
                read.error(name, format!("'{name}' must be below {SLOTS}"));
            }
            fd
        };
        let resolved = Flowop {
            name: read.required_text("name"),
            operation: *operation,
            fileset,
            fd: slot(&mut read, "fd"),
            srcfd: read.has("srcfd").then(|| slot(&mut read, "srcfd")),
            iosize: read.amount("iosize", 0.0),
            workingset: read.amount("workingset", 0.0),
            iters: read.amount("iters", 1.0),
            random: read.flag("random"),
            dsync: read.flag("dsync"),
            directio: read.flag("directio"),
            value: read.amount("value", 0.0),
            targets: Vec::new(),
            blocking: read.flag("blocking"),
            highwater: read.count("highwater", 1, 1).min(u64::from(u32::MAX >> 1)) as u32,
        };
        self.spans.flowops.push(*span);
        self.spans.targets.push(target);
        Some(resolved)
    }

    fn run(&mut self, duration: Option<&Spanned<Expression>>) {
        let Some(expression) = duration else { return };
        match self.variables.evaluate(expression) {
            Ok(Value::Number(seconds)) if seconds > 0.0 => self.model.duration_s = Some(seconds),
            Ok(_) => {
                let message = "'run' takes a number of seconds above 0";
                self.diagnostics.push(Diagnostic::error(expression.span, message));
            }
            Err(diagnostic) => self.diagnostics.push(diagnostic),
        }
    }
}
