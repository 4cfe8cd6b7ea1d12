//! A read, as a server hears of it.

/// So many bytes of a file. The server knows a file by its number: that of its inode, or the
/// address of its vnode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub file: u64,
    pub offset_b: u64,
    pub count_b: u64,
}

impl Request {
    /// The first byte behind.
    pub fn end_b(self) -> u64 {
        self.offset_b.saturating_add(self.count_b)
    }
}
