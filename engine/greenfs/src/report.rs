//! How a volume stands, as people read it.

use std::collections::BTreeSet;

use crate::protocol::{Behind, Plan, State};

/// Bytes of files that a synchronisation would copy now.
pub fn to_copy_b(state: &State, behind: &Behind) -> u64 {
    let mut behind = behind.clone();
    behind.abandon();
    let plan = Plan::new(state.seq, &state.catalogue, &behind.touched);
    plan.copies().map(|put| put.expected.attributes.size).sum()
}

/// What a branch lacks: what a synchronisation would do now.
pub fn lacks(state: &State, behind: &Behind) -> String {
    let pushing = behind
        .pushing
        .as_ref()
        .map(|pushing| pushing.touched.keys());
    let nodes: BTreeSet<_> = behind
        .touched
        .keys()
        .chain(pushing.into_iter().flatten())
        .collect();
    match nodes.len() {
        0 => "holds all".into(),
        count => format!(
            "lacks changes of {count} files and folders, {} to copy",
            size(to_copy_b(state, behind))
        ),
    }
}

/// Bytes as people read them.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = "B";
    for larger in UNITS {
        if value < 1000.0 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    match unit {
        "B" => format!("{bytes} B"),
        _ => format!("{value:.1} {unit}"),
    }
}
