//! The flowops that a `target` names.

use std::collections::HashMap;

use super::spans::{FlowopSpans, Spans};
use crate::lang::diagnostic::{Diagnostic, suggestion};
use crate::model::{FlowopId, Model, Operation};

/// What a target may be.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    /// A gate of this kind in any thread.
    Gate(Operation),
    /// A flowop of the same thread.
    Neighbour,
}

/// Where the flowops of each name stand.
type Places = HashMap<String, Vec<(FlowopId, Operation)>>;

/// Give each flowop its targets.
pub fn resolve(model: &mut Model, spans: &Spans, diagnostics: &mut Vec<Diagnostic>) {
    let mut places = Places::new();
    for (id, flowop) in model.flowops() {
        let of_name = places.entry(flowop.name.clone()).or_default();
        of_name.push((id, flowop.operation));
    }
    let all: Vec<(FlowopId, Operation)> = model
        .flowops()
        .map(|(id, flowop)| (id, flowop.operation))
        .collect();
    for ((id, operation), spans) in all.into_iter().zip(&spans.0) {
        match targets(id, operation, spans, &places) {
            Ok(found) => {
                model.processes[id.process].threads[id.thread].flowops[id.flowop].targets = found;
            }
            Err(message) => {
                let span = spans
                    .target
                    .as_ref()
                    .map_or(spans.flowop, |target| target.span);
                diagnostics.push(Diagnostic::error(span, message));
            }
        }
    }
}

fn targets(
    id: FlowopId,
    operation: Operation,
    spans: &FlowopSpans,
    places: &Places,
) -> Result<Vec<FlowopId>, String> {
    use Operation as O;
    let wanted = match operation {
        O::SemPost => Wanted::Gate(O::SemBlock),
        O::Wakeup => Wanted::Gate(O::Block),
        O::OpsLimit | O::IopsLimit | O::BwLimit | O::FinishOnCount | O::FinishOnBytes => {
            Wanted::Neighbour
        }
        _ if spans.target.is_some() => return Err(format!("{} takes no target", operation.name())),
        _ => return Ok(Vec::new()),
    };
    let Some(target) = &spans.target else {
        return match wanted {
            Wanted::Gate(gate) => Err(format!(
                "{} needs a {} as target",
                operation.name(),
                gate.name()
            )),
            Wanted::Neighbour => Ok(Vec::new()),
        };
    };
    let same_thread = |place: &FlowopId| (place.process, place.thread) == (id.process, id.thread);
    let fits = |place: &FlowopId, kind: O| match wanted {
        Wanted::Gate(gate) => kind == gate,
        Wanted::Neighbour => same_thread(place),
    };
    let find = |name: &str, near: bool| -> Vec<FlowopId> {
        let of_name = places.get(name).map(Vec::as_slice).unwrap_or_default();
        of_name
            .iter()
            .filter(|(place, kind)| fits(place, *kind) && (!near || same_thread(place)))
            .map(|(place, _)| *place)
            .collect()
    };
    // Inside composite flowops, siblings come first, then what stands around them.
    let mut prefix = spans.prefix.as_str();
    while !prefix.is_empty() {
        let siblings = find(&format!("{prefix}{}", target.node), true);
        if !siblings.is_empty() {
            return Ok(siblings);
        }
        prefix = prefix[..prefix.len() - 1]
            .rfind('.')
            .map_or("", |dot| &prefix[..=dot]);
    }
    let found = find(&target.node, false);
    if found.is_empty() {
        let candidates = places
            .iter()
            .filter(|(_, of_name)| of_name.iter().any(|(place, kind)| fits(place, *kind)))
            .map(|(name, _)| name.as_str());
        let near = suggestion(&target.node, candidates);
        let lack = match wanted {
            Wanted::Gate(gate) => format!("there is no {}", gate.name()),
            Wanted::Neighbour => "this thread has no flowop".to_owned(),
        };
        return Err(format!("{lack} '{}'{near}", target.node));
    }
    Ok(found)
}
