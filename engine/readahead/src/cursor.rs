//! How sequentially something has been read: the sequential count, and the rules that change it.

use crate::request::Request;

/// Of what was read for the first time.
pub const FIRST_COUNT: u32 = 1;

/// No count is higher: `IO_SEQMAX` of FreeBSD.
pub const MOST_COUNT: u32 = 127;

/// A request this near to where it was expected may only be out of order: eight blocks of 8 KiB.
pub const NEAR_B: u64 = 64 * 1024;

/// A place in a file at which someone reads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Where a sequential reader goes on.
    next_b: u64,
    count: u32,
}

impl Cursor {
    /// At what is read for the first time.
    pub fn new(request: Request) -> Self {
        Self {
            next_b: request.end_b(),
            count: FIRST_COUNT,
        }
    }

    pub fn count(self) -> u32 {
        self.count
    }

    /// How far a request is from where a sequential reader would go on.
    pub fn distance_b(self, request: Request) -> u64 {
        self.next_b.abs_diff(request.offset_b)
    }

    /// The default of FreeBSD: what does not go on where the last request ended is not sequential.
    pub fn note(&mut self, request: Request) {
        self.count = match self.distance_b(request) {
            0 => self.raised(),
            // `nfsrv_read` of FreeBSD 4 (sys/nfs/nfs_serv.c): down to 1, and then to 0.
            _ => u32::from(self.count > 1),
        };
        self.next_b = request.end_b();
    }

    /// SlowDown: what is near may be out of order and leaves the count, what is not halves it.
    pub fn note_slowly(&mut self, request: Request) {
        self.count = match self.distance_b(request) {
            0 => self.raised(),
            1..=NEAR_B => self.count,
            _ => self.count / 2,
        };
        self.next_b = request.end_b();
    }

    fn raised(self) -> u32 {
        (self.count + 1).min(MOST_COUNT)
    }
}
