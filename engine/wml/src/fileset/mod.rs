//! Trees of files: their layout, their creation, and who may use which file.
//!
//! - [`Layout`]: which directories, files and leaf directories a fileset has, their paths, and the
//!   sizes of the files. `path_into`, `directory_path_into` and `leafdir_path_into` write a path
//!   that ends in a zero byte. If the place of the tree is a block device, that is the one file.
//! - [`Files`]: the state of every file and leaf directory, shared by all processes. A thread
//!   acquires an existing file and releases it, or claims an entry and settles what became of it:
//!
//!   | to                     | call              | then                                     |
//!   |------------------------|-------------------|------------------------------------------|
//!   | open or look at a file | `acquire`         | `release`                                |
//!   | create a file          | `claim_absent`    | `settle_existing` or `settle_absent`     |
//!   | delete a file          | `claim_unused`    | `settle_absent` or `settle_existing`     |
//!   | delete its own file    | `claim_own`       | the same                                 |
//!   | delete one it closed   | `claim_closed`    | the same                                 |
//!   | make a leaf directory  | `claim_absent_leafdir` | `settle_leafdir(claim, exists)`     |
//!   | remove one             | `claim_existing_leafdir` | `settle_leafdir(claim, exists)`   |
//!   | list or sync one       | `directory`       | nothing: these always exist              |
//!
//!   `is_full`, `is_empty`, `leafdirs_full` and `leafdirs_empty` tell whether nothing is left.
//! - [`Pick`]: where to look for it. [`Selector`] makes picks from the attributes of a flowop: there
//!   is one for each that has a fileset, and a worker keeps one [`OwnRotors`] for each fileset.
//! - [`prepare`], [`verify`] and [`sync`]: the tree on the disk. [`fill_data`] makes what is
//!   written into files.

mod census;
mod create;
mod crew;
mod data;
mod device;
mod files;
mod generator;
mod layout;
mod lock;
mod name;
mod nodes;
mod population;
mod progress;
mod select;
mod space;
mod tree;
mod verify;
mod write;

pub use create::{Prepared, prepare, sync};
pub use data::fill_data;
pub use files::{Claim, Files, LeafClaim};
pub use layout::Layout;
pub use lock::{Lock, lock};
pub use nodes::{Content, Directory, Entry, Leafdir};
pub use population::Pick;
pub use select::{OwnRotors, Selector};
pub use space::{refuse_hopeless, refuse_too_large};
pub use verify::verify;
