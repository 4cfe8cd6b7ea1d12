//! A pool: chunks of files, each of which is there once, however many files of however many served
//! folders have it; encrypted, if it has a key.
//!
//! A folder whose data lie in a pool is a tree of names as any other. In the place of its data a file
//! there has a `recipe`, which lists `chunks`; `cut` says where they begin, and `secret` by what they
//! are called and how they are encrypted. `pooled` is a `Store` again: such a folder as clients see it,
//! with the file that is being `writing`. `home` is the pool itself, `tenants` the folders that live of
//! it; `audit` looks at all of that, and removes what no file needs. `closed` reads what its owner may
//! not.
//!
//! docs/greenfs-pool.md has the format.

pub mod audit;
mod chunks;
mod closed;
mod cut;
mod home;
pub mod pooled;
pub mod recipe;
pub mod secret;
pub mod tenants;
mod writing;

pub use home::Pool;
