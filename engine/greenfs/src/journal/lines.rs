//! The records of a journal, as far as they are whole.

use crate::journal::frame;
use crate::protocol::Record;

/// What a journal has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    pub records: Vec<Record>,
    /// Bytes of the lines before the first that is not whole.
    pub whole_b: usize,
    /// The number of a line that is not whole although a later one is: not a write that was cut,
    /// but damage.
    pub damaged: Option<usize>,
}

/// Read a journal. What follows a line that is not whole is not read.
pub fn read(journal: &[u8]) -> Lines {
    let mut lines = Lines {
        records: Vec::new(),
        whole_b: 0,
        damaged: None,
    };
    let mut rest = journal.split_inclusive(|byte| *byte == b'\n').enumerate();
    for (index, line) in rest.by_ref() {
        let Some(record) = record(line) else {
            lines.damaged = Some(index + 1);
            break;
        };
        lines.records.push(record);
        lines.whole_b += line.len();
    }
    lines.damaged = lines
        .damaged
        .filter(|_| rest.any(|(_, line)| record(line).is_some()));
    lines
}

fn record(line: &[u8]) -> Option<Record> {
    frame::value(line.strip_suffix(b"\n")?)
}
