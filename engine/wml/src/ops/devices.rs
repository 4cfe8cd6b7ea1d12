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
        let may_use_slot = flowop.fd > 0 || flowop.opennext || flowop.fileset.is_none();
        let mut sets = files.iter().enumerate();
        let device = sets.find(|(nth, files)| {
            files.layout.is_device() && (may_use_slot || flowop.fileset == Some(*nth))
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
