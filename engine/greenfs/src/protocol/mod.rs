//! What the branches hold and what each still lacks, without touching any of them.

pub mod behind;
pub mod catalogue;
pub mod compare;
pub mod dirty;
pub mod node;
pub mod plan;
pub mod reconcile;
pub mod state;

pub use behind::Behind;
pub use catalogue::Catalogue;
pub use node::{Attributes, Found, Kind, Name, Node, NodeId, OWNERS, ROOT, Role};
pub use plan::Plan;
pub use state::{Change, Changes, Record, State};
