//! Rules between objects: what no single attribute can violate.

use std::collections::HashSet;

use super::ast::{Span, Spanned};
use super::diagnostic::{Diagnostic, suggestion};
use super::resolve::Spans;
use crate::model::{Flowop, FlowopId, Model, Operation, Thread};

/// Resolve the targets and check every flowop in its surroundings.
pub fn check(model: &mut Model, spans: &Spans, diagnostics: &mut Vec<Diagnostic>) {
    names(model, spans, diagnostics);
    let places: Vec<(FlowopId, String, Operation)> = model
        .flowops()
        .map(|(id, f)| (id, f.name.clone(), f.operation))
        .collect();
    for (nth, (id, _, operation)) in places.iter().enumerate() {
        let target = spans.targets[nth].as_ref();
        match targets(*id, *operation, target, &places) {
            Ok(found) => {
                model.processes[id.process].threads[id.thread].flowops[id.flowop].targets = found;
            }
            Err(message) => {
                let span = target.map_or(spans.flowops[nth], |target| target.span);
                diagnostics.push(Diagnostic::error(span, message));
            }
        }
    }
    for (nth, (id, flowop)) in model.flowops().enumerate() {
        let thread = &model.processes[id.process].threads[id.thread];
        for message in [files(flowop, thread, model), sizes(flowop, thread)]
            .into_iter()
            .flatten()
        {
            diagnostics.push(Diagnostic::error(spans.flowops[nth], message));
        }
    }
}

fn names(model: &Model, spans: &Spans, diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    for (nth, (id, flowop)) in model.flowops().enumerate() {
        if !seen.insert((id.process, id.thread, flowop.name.as_str())) {
            let message = format!("this thread has two flowops '{}'", flowop.name);
            diagnostics.push(Diagnostic::error(spans.flowops[nth], message));
        }
    }
    for (nth, process) in model.processes.iter().enumerate() {
        if model.processes[..nth]
            .iter()
            .any(|other| other.name == process.name)
        {
            let message = format!("there are two processes '{}'", process.name);
            diagnostics.push(Diagnostic::error(Span::default(), message));
        }
        for (nth, thread) in process.threads.iter().enumerate() {
            if process.threads[..nth]
                .iter()
                .any(|other| other.name == thread.name)
            {
                let message = format!(
                    "process '{}' has two threads '{}'",
                    process.name, thread.name
                );
                diagnostics.push(Diagnostic::error(Span::default(), message));
            }
        }
    }
}

/// The flowops that a target names: gates anywhere, measured flowops in the same thread only.
fn targets(
    id: FlowopId,
    operation: Operation,
    target: Option<&Spanned<String>>,
    places: &[(FlowopId, String, Operation)],
) -> Result<Vec<FlowopId>, String> {
    use Operation as O;
    let wanted = match operation {
        O::SemPost => Some(O::SemBlock),
        O::Wakeup => Some(O::Block),
        O::OpsLimit | O::IopsLimit | O::BwLimit | O::FinishOnCount | O::FinishOnBytes => None,
        _ if target.is_some() => return Err(format!("{} takes no target", operation.name())),
        _ => return Ok(Vec::new()),
    };
    let Some(target) = target else {
        return match wanted {
            Some(gate) => Err(format!(
                "{} needs a {} as target",
                operation.name(),
                gate.name()
            )),
            None => Ok(Vec::new()),
        };
    };
    let fits = |place: &FlowopId, kind: O| match wanted {
        Some(gate) => kind == gate,
        None => (place.process, place.thread) == (id.process, id.thread),
    };
    let candidates = || places.iter().filter(|(place, _, kind)| fits(place, *kind));
    let found: Vec<FlowopId> = candidates()
        .filter(|(_, name, _)| *name == target.node)
        .map(|(place, ..)| *place)
        .collect();
    if found.is_empty() {
        let near = suggestion(&target.node, candidates().map(|(_, name, _)| name.as_str()));
        let kind = wanted.map_or("flowop of this thread", O::name);
        return Err(format!("there is no {kind} '{}'{near}", target.node));
    }
    Ok(found)
}

/// Whether the flowop has a file to work on.
fn files(flowop: &Flowop, thread: &Thread, model: &Model) -> Option<String> {
    use Operation as O;
    let needs_fileset = matches!(flowop.operation, O::OpenFile | O::CreateFile);
    let needs_file = flowop.operation.transfers()
        || matches!(
            flowop.operation,
            O::CloseFile | O::Fsync | O::DeleteFile | O::StatFile
        );
    let name = flowop.operation.name();
    if let Some(fileset) = flowop.fileset {
        let fileset = &model.filesets[fileset];
        if fileset.prealloc_percent == 0.0
            && !matches!(flowop.operation, O::CreateFile | O::CloseFile | O::Fsync)
            && !model
                .flowops()
                .any(|(_, f)| f.operation == O::CreateFile && f.fileset == flowop.fileset)
        {
            let fix = "prealloc it or create its files";
            return Some(format!(
                "{name} finds no file: '{}' is empty; {fix}",
                fileset.name
            ));
        }
        return None;
    }
    if needs_fileset {
        return Some(format!("{name} needs a filesetname"));
    }
    let opens = |other: &Flowop| {
        other.fd == flowop.fd
            && other.fileset.is_some()
            && (other.operation.transfers()
                || matches!(other.operation, O::OpenFile | O::CreateFile))
    };
    if needs_file && !thread.flowops.iter().any(opens) {
        return Some(format!(
            "nothing in this thread opens a file into slot {}",
            flowop.fd
        ));
    }
    None
}

fn sizes(flowop: &Flowop, thread: &Thread) -> Option<String> {
    use Operation as O;
    let name = flowop.operation.name();
    let needs_iosize = matches!(
        flowop.operation,
        O::Read | O::Write | O::AppendFile | O::AppendFileRand | O::AioWrite
    );
    if needs_iosize && flowop.iosize.mean() < 1.0 {
        return Some(format!("{name} needs an iosize"));
    }
    if flowop.operation == O::AioWrite && !flowop.random {
        return Some("aiowrite is random only: add the attribute 'random'".to_owned());
    }
    if flowop.operation == O::AioWait
        && !thread
            .flowops
            .iter()
            .any(|other| other.operation == O::AioWrite)
    {
        return Some("aiowait has nothing to wait for: this thread has no aiowrite".to_owned());
    }
    if flowop.operation == O::SemBlock {
        let value = flowop.value.usual_maximum();
        if value < 1.0 {
            return Some("semblock needs a value of at least 1".to_owned());
        }
        if f64::from(flowop.highwater) < value {
            return Some(format!(
                "a highwater of {} never lets a semblock of {value} through",
                flowop.highwater
            ));
        }
    }
    None
}
