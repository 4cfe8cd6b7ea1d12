//! Rules between objects: what no single attribute can violate.

mod files;
mod spans;
mod targets;
mod values;

pub use spans::{FlowopSpans, Spans};

use super::diagnostic::Diagnostic;
use crate::model::{Flowop, Model, Operation, Quit, Thread};
use crate::random::Amount;

/// Resolve the targets, and check every flowop in its surroundings.
pub fn check(model: &mut Model, spans: &Spans, diagnostics: &mut Vec<Diagnostic>) {
    files::resolve_opennext(model, spans, diagnostics);
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
                for message in warnings(flowop, model) {
                    let message = named(flowop, spans, message.to_owned());
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

/// What a flowop does otherwise than its words, or Filebench, make one think.
fn warnings(flowop: &Flowop, model: &Model) -> impl Iterator<Item = &'static str> {
    let never = matches!(flowop.iters, Amount::Fixed(iters) if iters < 0.5);
    let is_limited = flowop.operation == Operation::OpsLimit && model.rate > 0.0;
    [
        never.then_some("'iters' is 0, so that this is never done"),
        (is_limited && flowop.targets.is_empty()).then_some(
            "opslimit charges the operations that are counted; Filebench charges itself and what \
             is not counted too, so that the same rate is fewer passes there; with a target both \
             charge that one",
        ),
        values::is_narrow(flowop).then_some(
            "the highwater is below the value: as in Filebench, this semblock gives back before \
             it waits",
        ),
    ]
    .into_iter()
    .flatten()
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
