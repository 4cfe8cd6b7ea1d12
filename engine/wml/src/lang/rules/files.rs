//! Whether a flowop has files, directories and descriptors to work on.

use std::collections::HashSet;

use super::spans::Spans;
use crate::lang::diagnostic::Diagnostic;
use crate::model::{Fileset, Flowop, Model, Operation, SLOTS, Select, Thread};

/// What is made while a model runs.
pub struct Writers {
    create_files: HashSet<Option<usize>>,
    make_directories: HashSet<Option<usize>>,
}

impl Writers {
    pub fn of(model: &Model) -> Self {
        let filesets = |operation| {
            model
                .flowops()
                .filter(|(_, flowop)| flowop.operation == operation)
                .map(|(_, flowop)| flowop.fileset)
                .collect()
        };
        Self {
            create_files: filesets(Operation::CreateFile),
            make_directories: filesets(Operation::MakeDir),
        }
    }
}

/// The descriptor slots that a thread opens files into.
pub struct Openers {
    slots: [bool; SLOTS],
    /// Some flowop opens into one slot after the other.
    rotate: bool,
}

impl Openers {
    pub fn of(thread: &Thread) -> Self {
        let mut openers = Self {
            slots: [false; SLOTS],
            rotate: false,
        };
        for flowop in &thread.flowops {
            let opens = opens(flowop.operation);
            openers.rotate |= opens && flowop.opennext;
            openers.slots[flowop.fd] |=
                opens || (flowop.fileset.is_some() && opens_if_empty(flowop.operation));
        }
        openers
    }

    fn opens(&self, slot: usize) -> bool {
        self.rotate || self.slots[slot]
    }
}

fn opens(operation: Operation) -> bool {
    matches!(operation, Operation::OpenFile | Operation::CreateFile)
}

/// Work on the file of a slot, and open one of their fileset if it is empty.
fn opens_if_empty(operation: Operation) -> bool {
    use Operation as O;
    operation.transfers() || matches!(operation, O::Fsync | O::Fdatasync | O::Fallocate)
}

/// Work on the file of a slot other than 0 if it is open, else on one that they pick.
fn picks_without_slot(operation: Operation) -> bool {
    use Operation as O;
    matches!(
        operation,
        O::DeleteFile | O::StatFile | O::TruncateFile | O::SetXattr | O::GetXattr
    )
}

/// Pick from a fileset and from nothing else.
fn needs_fileset(operation: Operation) -> bool {
    use Operation as O;
    opens(operation)
        || matches!(
            operation,
            O::FsyncSet
                | O::FsyncDir
                | O::ListDir
                | O::ListStatDir
                | O::MakeDir
                | O::RemoveDir
                | O::RenameFile
                | O::LinkFile
                | O::SymlinkFile
                | O::ChmodFile
        )
}

/// Make of `opennext` what it is where nothing opens one slot after the other: a flowop that opens
/// a file by itself does that, into the next slot each time; any other takes its own slot.
pub fn resolve_opennext(model: &mut Model, spans: &Spans, diagnostics: &mut Vec<Diagnostic>) {
    let mut spans = spans.0.iter();
    for thread in model.processes.iter_mut().flat_map(|p| &mut p.threads) {
        let rotates = Openers::of(thread).rotate;
        for (flowop, spans) in thread.flowops.iter_mut().zip(&mut spans) {
            if rotates || !flowop.opennext {
                continue;
            }
            if opens_if_empty(flowop.operation) && flowop.fileset.is_some() {
                flowop.advances = true;
                flowop.select = Select::Sequential;
                continue;
            }
            flowop.opennext = false;
            let message =
                "'opennext' has no effect: no openfile or createfile of this thread has it";
            diagnostics.push(Diagnostic::warning(spans.flowop, message));
        }
    }
}

/// What is wrong with the files of a flowop.
pub fn check(
    flowop: &Flowop,
    openers: &Openers,
    writers: &Writers,
    model: &Model,
) -> Option<String> {
    source(flowop, openers)
        .or_else(|| slots(flowop, openers))
        .or_else(|| contents(flowop, writers, model))
}

fn source(flowop: &Flowop, openers: &Openers) -> Option<String> {
    use Operation as O;
    let operation = flowop.operation;
    let name = operation.name();
    // What opens no file by itself needs one that is open, fileset or not.
    if flowop.fileset.is_some() && operation != O::CloseFile {
        return None;
    }
    let open = openers.opens(flowop.fd);
    if needs_fileset(operation) {
        Some(format!("{name} needs a filesetname"))
    } else if picks_without_slot(operation) {
        let found = open && (flowop.fd > 0 || flowop.opennext);
        (!found).then(|| {
            format!(
                "{name} needs a filesetname, or the fd (not 0) of a file that this thread opens"
            )
        })
    } else if (opens_if_empty(operation) || operation == O::CloseFile) && !open {
        let fd = flowop.fd;
        Some(format!(
            "nothing in this thread opens a file into slot {fd}"
        ))
    } else {
        None
    }
}

fn slots(flowop: &Flowop, openers: &Openers) -> Option<String> {
    use Operation as O;
    let name = flowop.operation.name();
    let copies = flowop.operation == O::CopyFileRange;
    match flowop.srcfd {
        None if copies => Some(format!("{name} needs a srcfd to copy from")),
        Some(srcfd) if copies && srcfd == flowop.fd => {
            Some(format!("{name} needs a srcfd other than its fd"))
        }
        Some(srcfd)
            if (copies || flowop.operation == O::WriteWholeFile) && !openers.opens(srcfd) =>
        {
            Some(format!(
                "nothing in this thread opens a file into slot {srcfd} (srcfd)"
            ))
        }
        _ => None,
    }
}

/// Whether the fileset ever holds what the flowop looks for.
fn contents(flowop: &Flowop, writers: &Writers, model: &Model) -> Option<String> {
    use Operation as O;
    let operation = flowop.operation;
    let name = operation.name();
    let fileset: &Fileset = &model.filesets[flowop.fileset?];
    let starts_empty = fileset.prealloc_percent == 0.0 && !fileset.reuse && !fileset.trusttree;
    let set = &fileset.name;
    match operation {
        O::MakeDir | O::RemoveDir if fileset.leafdirs == 0 => Some(format!(
            "{name} works on leaf directories, and '{set}' has none: give it leafdirs"
        )),
        O::RemoveDir if starts_empty && !writers.make_directories.contains(&flowop.fileset) => {
            Some(format!(
                "{name} finds no directory: '{set}' is empty; prealloc it or make its directories"
            ))
        }
        O::MakeDir | O::RemoveDir | O::ListDir | O::ListStatDir | O::FsyncDir => None,
        O::CloseFile | O::Fsync | O::Fdatasync | O::FsyncSet => None,
        _ if fileset.entries == 0 => Some(format!(
            "{name} works on files, and '{set}' has leaf directories only: give it entries"
        )),
        O::CreateFile => None,
        _ if starts_empty && !writers.create_files.contains(&flowop.fileset) => Some(format!(
            "{name} finds no file: '{set}' is empty; prealloc it or create its files"
        )),
        _ => None,
    }
}
