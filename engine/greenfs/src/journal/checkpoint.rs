//! The whole state as one line.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::journal::frame;
use crate::protocol::{Behind, Catalogue, Node, NodeId, Role, State};

#[derive(Serialize, Deserialize)]
struct Checkpoint<'a> {
    seq: u64,
    next_node: u64,
    nodes: Cow<'a, BTreeMap<NodeId, Node>>,
    behind: Cow<'a, BTreeMap<Role, Behind>>,
}

/// The text of a state.
pub fn written(state: &State) -> std::io::Result<Vec<u8>> {
    frame::line(&Checkpoint {
        seq: state.seq,
        next_node: state.next_node,
        nodes: Cow::Borrowed(state.catalogue.nodes()),
        behind: Cow::Borrowed(&state.behind),
    })
}

/// The state that a text has; none if it is not whole or says what cannot be.
pub fn read(text: &[u8]) -> Option<State> {
    let checkpoint: Checkpoint = frame::value(text.strip_suffix(b"\n")?)?;
    let state = State {
        seq: checkpoint.seq,
        next_node: checkpoint.next_node,
        catalogue: Catalogue::of(checkpoint.nodes.into_owned()),
        behind: checkpoint.behind.into_owned(),
    };
    let last = state.catalogue.nodes().keys().next_back();
    let is_new = last.is_none_or(|last| last.0 < state.next_node);
    (is_new && state.catalogue.check().is_ok()).then_some(state)
}
