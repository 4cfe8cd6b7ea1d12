//! The device of a simulation, as it is when the work begins.

use crate::device::{Action, Device, Extent};
use crate::disk::Disk;
use crate::profile::{Fault, Profile};
use crate::ssd::Ssd;
use crate::ssd::precondition::{SEED, State};
use crate::time::Ns;

/// The device of a profile, ready since long, with files on it.
///
/// # Errors
/// If a state is asked for of a disk, which has none.
pub fn device(
    profile: &Profile,
    state: Option<State>,
    files: &[Extent],
    at: Ns,
    keeps_trace: bool,
) -> Result<Box<dyn Device>, Fault> {
    match profile {
        Profile::Disk(_) if state.is_some() => Err(Fault::new(
            "a hard disk is the same in use as when it is new",
            "state",
            "leave it away, or choose an SSD",
        )),
        Profile::Disk(profile) => {
            let mut disk = Disk::new(profile, at);
            if keeps_trace {
                disk.keep_trace(usize::MAX);
            }
            Ok(Box::new(disk))
        }
        Profile::Ssd(profile) => {
            let mut ssd = Ssd::new(profile, at);
            if state == Some(State::Steady) {
                ssd.precondition(SEED);
            }
            for &file in files {
                ssd.prepared(Action::Write, file);
            }
            if keeps_trace {
                ssd.keep_trace(usize::MAX);
            }
            Ok(Box::new(ssd))
        }
    }
}
