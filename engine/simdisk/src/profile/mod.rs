//! What a device is like: files of parameters with their sources, read and checked.

mod check;
mod common;
pub mod disk;
pub mod fault;
mod file;
mod overrides;
mod shipped;
pub mod ssd;

pub use common::{Interface, Kind};
pub use disk::DiskProfile;
pub use fault::Fault;
pub use file::Profile;
pub use overrides::Overrides;
pub use ssd::SsdProfile;
