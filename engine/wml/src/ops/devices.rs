//! What must not happen to a block device that is used raw.

use crate::failure::Failure;
use crate::fileset::Files;
use crate::model::{Model, Operation};

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
            return Err(Failure::new(message).next("use a directory instead of the device"));
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
