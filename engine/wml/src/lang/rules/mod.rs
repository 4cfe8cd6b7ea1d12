//! Rules between objects: what no single attribute can violate.

mod files;
mod spans;
mod targets;
mod values;

use std::collections::HashSet;

pub use spans::{FlowopSpans, Spans};

use super::diagnostic::Diagnostic;
use crate::model::{Flowop, Model, Operation, Quit, Thread};
use crate::random::Amount;

/// Resolve the targets and check every flowop in its surroundings.
pub fn check(model: &mut Model, spans: &Spans, diagnostics: &mut Vec<Diagnostic>) {
    names(model, spans, diagnostics);
    targets::resolve(model, spans, diagnostics);
    let writers = files::Writers::of(model);
    let mut spans = spans.0.iter();
    for process in &model.processes {
        for thread in &process.threads {
            let openers = files::Openers::of(thread);
            let waits = values::Outstanding::of(thread);
            for (flowop, spans) in thread.flowops.iter().zip(&mut spans) {
                let found = [
                    files::check(flowop, &openers, &writers, model),
                    values::check(flowop, &waits),
                    values::posts_too_much(flowop, model),
                ];
                for message in found.into_iter().flatten() {
                    diagnostics.push(Diagnostic::error(
                        spans.flowop,
                        named(flowop, spans, message),
                    ));
                }
                if never_done(flowop) {
                    let message = "'iters' is 0, so that this is never done".to_owned();
                    let message = named(flowop, spans, message);
                    diagnostics.push(Diagnostic::warning(spans.flowop, message));
                }
            }
        }
    }
}

/// A flowop inside a composite one needs its name, because it may stand there several times.
fn named(flowop: &Flowop, spans: &FlowopSpans, message: String) -> String {
    if spans.prefix.is_empty() {
        message
    } else {
        format!("{}: {message}", flowop.name)
    }
}

fn never_done(flowop: &Flowop) -> bool {
    matches!(flowop.iters, Amount::Fixed(iters) if iters < 0.5)
}

fn names(model: &Model, spans: &Spans, diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    for ((id, flowop), spans) in model.flowops().zip(&spans.0) {
        if !seen.insert((id.process, id.thread, flowop.name.as_str())) {
            let message = format!("this thread has two flowops '{}'", flowop.name);
            diagnostics.push(Diagnostic::error(spans.flowop, message));
        }
    }
}

/// Whether nothing but a signal might end a run without a time.
pub fn may_never_end(model: &Model) -> bool {
    let ends = |thread: &Thread| thread.flowops.iter().any(has_end);
    let mut threads = model.processes.iter().flat_map(|process| &process.threads);
    match model.quit {
        Quit::Timeout => false,
        Quit::FirstDone => !threads.any(ends),
        Quit::AllDone => !threads.all(ends),
    }
}

/// Whether a flowop has a goal, or may use up its files.
fn has_end(flowop: &Flowop) -> bool {
    use Operation as O;
    matches!(
        flowop.operation,
        O::FinishOnCount
            | O::FinishOnBytes
            | O::CreateFile
            | O::DeleteFile
            | O::LinkFile
            | O::SymlinkFile
            | O::MakeDir
            | O::RemoveDir
    )
}
