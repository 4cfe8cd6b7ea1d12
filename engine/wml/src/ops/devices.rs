//! What must not happen to a block device that is used raw.

use std::fs::File;
use std::path::Path;

use crate::device::{self, Confirmation};
use crate::failure::Failure;
use crate::fileset::Files;
use crate::model::{Class, Flowop, Model, Operation};

/// Hold every device that a run may write to, until these files are closed. Fails for the first
/// one that may not be overwritten.
pub fn hold(
    model: &Model,
    files: &[Files],
    confirmations: &[Confirmation],
) -> Result<Vec<File>, Failure> {
    let devices = files.iter().enumerate().filter(|(nth, files)| {
        let is_open_to_writes = files.layout.is_device() && !files.fileset.readonly;
        is_open_to_writes && is_written(model, *nth)
    });
    devices
        .map(|(_, files)| device::hold(Path::new(files.layout.root()), confirmations))
        .collect()
}

/// Whether a thread that opens a file of a fileset writes at all: what is in which of its slots is
/// known while it runs only.
fn is_written(model: &Model, fileset: usize) -> bool {
    let mut threads = model.processes.iter().flat_map(|process| &process.threads);
    threads.any(|thread| {
        let opens = |flowop: &Flowop| flowop.fileset == Some(fileset);
        thread.flowops.iter().any(opens) && thread.flowops.iter().any(writes)
    })
}

/// Whether a flowop changes what a file holds.
fn writes(flowop: &Flowop) -> bool {
    use Operation as O;
    let operation = flowop.operation;
    operation.class() == Class::Writes || matches!(operation, O::Fallocate | O::TruncateFile)
}

/// Refuse flowops that would change the node of a device rather than what the device holds.
pub fn check(model: &Model, files: &[Files]) -> Result<(), Failure> {
    use Operation as O;
    for (_, flowop) in model.flowops() {
        let changes_node = matches!(
            flowop.operation,
            O::DeleteFile
                | O::RenameFile
                | O::LinkFile
                | O::SymlinkFile
                | O::ChmodFile
                | O::SetXattr
        );
        let mut sets = files.iter().enumerate();
        let device = sets.find(|(nth, files)| {
            files.layout.is_device() && (flowop.means_slot() || flowop.fileset == Some(*nth))
        });
        if let (true, Some((_, device))) = (changes_node, device) {
            let message = format!(
                "{} '{}' would change the device node {}",
                flowop.operation.name(),
                flowop.name,
                device.layout.root()
            );
            return Err(Failure::new(
                message,
                "use a directory instead of the device",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::FileTypeExt;

    use super::*;
    use crate::lang;

    /// The check of a text with these flowops on a fileset that is a device.
    fn check_on(device: &str, flowops: &str) -> Result<(), Failure> {
        let text = format!(
            "set $set={device}
             define file name=$set, path=/dev, size=4k, reuse
             define process name=p {{ thread name=t {{ {flowops} }} }}
             run 1"
        );
        let program = lang::check(&text, &BTreeMap::new()).program;
        let program = program.expect("a sane text");
        let model = &program.runs().next().expect("it runs").model;
        let files = Files::new(model.filesets[0].clone(), 1).expect("a fileset");
        assert!(files.layout.is_device());
        check(model, &[files])
    }

    #[test]
    fn nobody_removes_or_changes_the_node_of_a_device() {
        let nodes = std::fs::read_dir("/dev").expect("a Linux").flatten();
        let mut devices = nodes.filter(|n| n.file_type().is_ok_and(|kind| kind.is_block_device()));
        let Some(device) = devices.next() else {
            eprintln!("skipped: there is no block device in /dev; run it where there is one");
            return;
        };
        let device = device.file_name().into_string().expect("a plain name");
        let open = "flowop openfile name=open, filesetname=$set, fd=1";
        for change in ["deletefile", "chmodfile", "setxattr"] {
            let by_path = format!("flowop {change} name=change, filesetname=$set");
            assert!(check_on(&device, &by_path).is_err(), "{change}");
        }
        let by_slot = format!("{open} flowop deletefile name=delete, fd=1");
        assert!(check_on(&device, &by_slot).is_err());
        let harmless = format!(
            "{open} flowop read name=read, fd=1, iosize=4k flowop closefile name=close, fd=1"
        );
        assert!(check_on(&device, &harmless).is_ok());
    }
}
