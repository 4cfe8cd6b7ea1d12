//! Flowops from their attributes; composite ones are replaced by their inside at each use.

use super::ast::{self, Spanned};
use super::attributes::AttributeReader;
use super::diagnostic::{Diagnostic, suggestion};
use super::evaluate::Scope;
use super::resolve::{Defined, Resolver};
use super::rules::FlowopSpans;
use super::vocabulary::{self, Selection};
use crate::model::{Flowop, MAX_EVENTS, Node, Operation, SLOTS, Select, Value};

/// Composite flowops in one another; each stands on some of the stack.
const MAX_DEPTH: usize = 100;

/// Popularity by a power above this is one file only.
const MAX_THETA: f64 = 10.0;
/// The exponent of popularity in many traces, and the usual one of benchmarks that use Zipf's law.
const USUAL_THETA: f64 = 0.99;

/// Bytes of an extended attribute.
const XATTR_B: f64 = 16.0;

/// Bytes of one operation; more are an attribute that was mistaken.
const MAX_IO_B: u64 = 64 << 30;

const MAX_STREAMS: u64 = 1 << 20;

/// The composites that a flowop stands in.
pub(super) struct Place {
    /// Their names with a dot behind each.
    prefix: String,
    depth: usize,
    /// So many composites, from the first, stand above.
    visible: usize,
}

impl Place {
    pub fn outside(resolver: &Resolver) -> Self {
        Self {
            prefix: String::new(),
            depth: 0,
            visible: resolver.definitions.composites.len(),
        }
    }
}

impl<'a> Resolver<'a> {
    /// Note where each composite of the model stands, by name.
    pub(super) fn place_composites(&mut self) {
        self.composite_places.clear();
        for nth in 0..self.definitions.composites.len() {
            let Defined { node, span, scope } = self.definitions.composites[nth].clone();
            self.variables.enter(scope);
            let mut read = self.reader(&node.attributes, &vocabulary::COMPOSITE, span);
            let name = read.required_text("name");
            if vocabulary::operation(&name).is_some() {
                read.error("name", format!("'{name}' is a flowop of the language"));
            }
            if node.flowops.is_empty() {
                read.error("name", format!("flowop '{name}' has nothing inside"));
            }
            self.variables.leave();
            if !name.is_empty() && self.composite_places.insert(name.clone(), nth).is_some() {
                let message = format!("there are two flowops '{name}'");
                self.diagnostics.push(Diagnostic::error(span, message));
            }
        }
    }

    pub(super) fn nodes(
        &mut self,
        flowops: &'a [ast::Flowop],
        place: &Place,
        found: &mut Vec<Flowop>,
    ) -> Vec<Node> {
        flowops
            .iter()
            .filter_map(|flowop| self.node(flowop, place, found))
            .collect()
    }

    fn node(
        &mut self,
        flowop: &'a ast::Flowop,
        place: &Place,
        found: &mut Vec<Flowop>,
    ) -> Option<Node> {
        let Spanned { node: word, span } = &flowop.operation;
        if !self.spend(*span) {
            return None;
        }
        if let Some(operation) = vocabulary::operation(word) {
            if let Some(local) = flowop.locals.first() {
                let message = "only a use of a composite flowop sets its local variables";
                self.diagnostics
                    .push(Diagnostic::error(local.name.span, message));
            }
            let flowop = self.flowop(operation, flowop, place);
            found.push(flowop);
            return Some(Node::Flowop(found.len() - 1));
        }
        match self.composite_places.get(word) {
            Some(&nth) if nth < place.visible => self.composite(nth, flowop, place, found),
            Some(_) => {
                let message = format!("flowop '{word}' is not defined above this one");
                self.diagnostics.push(Diagnostic::error(*span, message));
                None
            }
            None => {
                let known = Operation::ALL.iter().map(|known| known.name());
                let composites = self.composite_places.keys().map(String::as_str);
                let near = suggestion(word, known.chain(composites));
                let message = format!("unknown flowop '{word}'{near}");
                self.diagnostics.push(Diagnostic::error(*span, message));
                None
            }
        }
    }

    /// Replace a use of a composite flowop by its inside, which sees the values of its local
    /// variables: those of the use, then the defaults, which see the ones before them.
    fn composite(
        &mut self,
        nth: usize,
        used: &'a ast::Flowop,
        place: &Place,
        found: &mut Vec<Flowop>,
    ) -> Option<Node> {
        self.used_composites.insert(nth);
        let Defined {
            node: composite,
            span: definition,
            mut scope,
        } = self.definitions.composites[nth].clone();
        let span = used.operation.span;
        let locals = self.local_values(composite, used);
        let mut taken = std::mem::take(&mut self.taken);
        let mut read = self.reader(&used.attributes, &vocabulary::COMPOSITE, span);
        let of = "this thread has two composite flowops";
        let prefix = format!("composite {}", place.prefix);
        let name = read.unique_name(&mut taken, &prefix, of);
        let iters = read.optional_amount("iters");
        self.taken = taken;

        scope.extend(locals);
        for ast::Attribute { name, value } in &composite.locals {
            let is_set = used.locals.iter().any(|local| local.name.node == name.node);
            let Some(default) = value.as_ref().filter(|_| !is_set) else {
                continue;
            };
            self.variables.enter(scope.clone());
            if let Some(value) = self.evaluate(default) {
                scope.insert(name.node.clone(), value);
            }
            self.variables.leave();
        }
        if let Some(local) = self.without_value(composite, &scope) {
            let word = &used.operation.node;
            let message = format!("${local} of flowop '{word}' has no value: give it one here");
            self.diagnostics.push(Diagnostic::error(span, message));
            return None;
        }
        self.variables.enter(scope);
        let iters = iters.unwrap_or_else(|| {
            self.reader(&composite.attributes, &vocabulary::COMPOSITE, definition)
                .amount("iters", 1.0)
        });
        let inside = Place {
            prefix: format!("{}{name}.", place.prefix),
            depth: place.depth + 1,
            visible: nth,
        };
        let body = if inside.depth > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} composite flowops in one another");
            self.diagnostics.push(Diagnostic::error(span, message));
            Vec::new()
        } else {
            self.nodes(&composite.flowops, &inside, found)
        };
        self.variables.leave();
        Some(Node::Composite { iters, body })
    }

    /// A local variable that has no value here and none outside.
    fn without_value<'b>(&self, composite: &'b ast::Composite, scope: &Scope) -> Option<&'b str> {
        composite
            .locals
            .iter()
            .filter(|local| local.value.is_none())
            .map(|local| local.name.node.as_str())
            .find(|name| !scope.contains_key(*name) && !self.variables.is_set(name))
    }

    /// What a use of a composite flowop sets its local variables to.
    fn local_values(&mut self, composite: &ast::Composite, used: &ast::Flowop) -> Scope {
        let mut values = Scope::new();
        for ast::Attribute { name, value } in &used.locals {
            let known = || {
                composite
                    .locals
                    .iter()
                    .map(|local| local.name.node.as_str())
            };
            if !known().any(|local| local == name.node) {
                let near = suggestion(&name.node, known());
                let word = &used.operation.node;
                let message = format!(
                    "flowop '{word}' has no local variable '{}'{near}",
                    name.node
                );
                self.diagnostics.push(Diagnostic::error(name.span, message));
                continue;
            }
            let Some(value) = value else {
                let message = format!("${0} needs a value here: ${0}=...", name.node);
                self.diagnostics.push(Diagnostic::error(name.span, message));
                continue;
            };
            if let Some(value) = self.evaluate(value) {
                values.insert(name.node.clone(), value);
            }
        }
        values
    }

    fn evaluate(&mut self, expression: &Spanned<ast::Expression>) -> Option<Value> {
        let value = self.variables.evaluate(expression);
        value.map_err(|error| self.diagnostics.push(error)).ok()
    }

    fn flowop(&mut self, operation: Operation, flowop: &'a ast::Flowop, place: &Place) -> Flowop {
        use Operation as O;
        let span = flowop.operation.span;
        let mut taken = std::mem::take(&mut self.taken);
        let mut read = self.reader(&flowop.attributes, &vocabulary::FLOWOP, span);
        let of = "this thread has two flowops";
        let name = read.unique_name(&mut taken, &place.prefix, of);
        let fileset = read.spanned_text("filesetname");
        let target = read.spanned_text("target");
        let opennext = read.flag("opennext");
        let iosize = match operation {
            O::SetXattr | O::GetXattr => XATTR_B,
            _ => 0.0,
        };
        let value = f64::from(matches!(operation, O::UringRead | O::UringWrite));
        let select = match select(&mut read) {
            // A thread that rotates over its slots has a rotor of its own.
            None if opennext && operation == O::OpenFile => Select::Sequential,
            select => select.unwrap_or_default(),
        };
        let resolved = Flowop {
            name: format!("{}{name}", place.prefix),
            operation,
            fileset: None,
            fd: slot(&mut read, "fd"),
            srcfd: read.has("srcfd").then(|| slot(&mut read, "srcfd")),
            iosize: read.bytes("iosize", iosize, MAX_IO_B),
            workingset: read.amount("workingset", 0.0),
            iters: read.amount("iters", 1.0),
            random: read.flag("random"),
            dsync: read.flag("dsync"),
            directio: read.flag("directio"),
            noreadahead: read.flag("noreadahead"),
            streams: read.count("streams", 1, 1..=MAX_STREAMS),
            opennext,
            advances: false,
            select,
            indexed: read.optional_amount("indexed"),
            value: read.amount("value", value),
            targets: Vec::new(),
            blocking: read.flag("blocking"),
            highwater: read.count("highwater", 1, 1..=MAX_EVENTS.into()) as u32,
        };
        self.taken = taken;
        self.spans.0.push(FlowopSpans {
            flowop: span,
            target,
            prefix: place.prefix.clone(),
        });
        Flowop {
            fileset: fileset.and_then(|name| self.fileset_place(&name)),
            ..resolved
        }
    }

    fn fileset_place(&mut self, name: &Spanned<String>) -> Option<usize> {
        let found = self.fileset_places.get(&name.node).copied();
        // A fileset whose name is wrong may be the one.
        if found.is_none() && !self.fileset_places.contains_key("") {
            let near = suggestion(&name.node, self.fileset_places.keys().map(String::as_str));
            let message = format!("no fileset '{}' is defined above{near}", name.node);
            self.diagnostics.push(Diagnostic::error(name.span, message));
        }
        found
    }
}

/// A number of a descriptor slot.
fn slot(read: &mut AttributeReader, name: &str) -> usize {
    read.count(name, 0, 0..=SLOTS as u64 - 1) as usize
}

fn select(read: &mut AttributeReader) -> Option<Select> {
    let selection = read.choice("select", vocabulary::SELECTIONS);
    let theta = read.optional_number("theta");
    if theta.is_some() && selection != Some(Selection::Zipf) {
        read.error("theta", "'theta' belongs to select=zipf");
    }
    if theta.is_some_and(|theta| theta == 0.0 || theta > MAX_THETA) {
        read.error(
            "theta",
            format!("'theta' must be above 0 and at most {MAX_THETA}"),
        );
    }
    if read.has("select") && read.has("indexed") {
        let message = "a flowop picks its file by 'indexed' or by 'select', not by both";
        read.error("indexed", message);
    }
    selection.map(|selection| match selection {
        Selection::Rotor => Select::Rotor,
        Selection::Sequential => Select::Sequential,
        Selection::Uniform => Select::Uniform,
        Selection::Zipf => Select::Zipf(theta.unwrap_or(USUAL_THETA)),
    })
}
