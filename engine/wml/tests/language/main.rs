//! What a text means, and what is said about a wrong one.

mod commands;
mod composites;
mod errors;
mod layout;
mod objects;
mod personalities;
mod rules;
mod values;

use std::collections::BTreeMap;

use wml::lang::ast::Expression;
use wml::lang::{Checked, Severity, check, parse_value};
use wml::model::{Fileset, Flowop, Model, Program, Thread};

const MINIMAL: &str = "
define fileset name=files, path=/x, entries=10, dirwidth=20, prealloc
define process name=p { thread name=t { flowop statfile name=s, filesetname=files } }
run 1
";

fn checked(text: &str, overrides: &[(&str, &str)]) -> Checked {
    let overrides: BTreeMap<String, Expression> = overrides
        .iter()
        .map(|(name, value)| ((*name).to_owned(), parse_value(value)))
        .collect();
    check(text, &overrides)
}

fn program_with(text: &str, overrides: &[(&str, &str)]) -> Program {
    let checked = checked(text, overrides);
    checked
        .program
        .unwrap_or_else(|| panic!("{text}\n{:?}", checked.diagnostics))
}

fn program(text: &str) -> Program {
    program_with(text, &[])
}

/// The model of the first run.
fn model(text: &str, overrides: &[(&str, &str)]) -> Model {
    let program = program_with(text, overrides);
    program.runs().next().expect("a run").model.clone()
}

/// All findings as people see them.
fn rendered(text: &str) -> String {
    let checked = checked(text, &[]);
    let lines: Vec<String> = checked
        .diagnostics
        .iter()
        .map(|d| d.render("x.f", text))
        .collect();
    lines.join("\n")
}

fn warnings(text: &str) -> Vec<String> {
    let checked = checked(text, &[]);
    assert!(
        checked.program.is_some(),
        "{text}\n{:?}",
        checked.diagnostics
    );
    let by = |d: &wml::lang::Diagnostic| d.severity == Severity::Warning;
    let found = checked.diagnostics.into_iter().filter(by);
    found.map(|diagnostic| diagnostic.message).collect()
}

/// The minimal text with one thing replaced.
fn minimal_but(from: &str, to: &str) -> String {
    assert!(MINIMAL.contains(from), "{from}");
    MINIMAL.replace(from, to)
}

/// The minimal text with flowops beside the one that it has.
fn with_flowops(flowops: &str) -> String {
    minimal_but(
        "filesetname=files }",
        &format!("filesetname=files {flowops} }}"),
    )
}

/// The last flowop of a text that ends its only thread with it.
fn flowop(flowop: &str) -> Flowop {
    thread(flowop).flowops.pop().unwrap()
}

fn thread(flowops: &str) -> Thread {
    let mut model = model(&with_flowops(flowops), &[]);
    model.processes.remove(0).threads.remove(0)
}

/// The fileset of the minimal text with further attributes.
fn fileset(attributes: &str) -> Fileset {
    let text = minimal_but("prealloc", &format!("prealloc, {attributes}"));
    model(&text, &[]).filesets.remove(0)
}

/// Each text must be refused with a message that holds what is expected.
fn refused(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let said = rendered(text);
        assert!(said.contains("error: "), "{text}\n{said}");
        assert!(said.contains(expected), "{text}\n{said}");
    }
}
