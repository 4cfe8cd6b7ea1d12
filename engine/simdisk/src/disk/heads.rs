//! Where the heads stand.

/// The track under the heads, of which one at a time reads or writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heads {
    pub cylinder: u32,
    pub head: u32,
}
