//! The arm over the turning platters: when an access has moved, waited and transferred.

use crate::device::{Action, Extent, Ns};
use crate::disk::geometry::{Geometry, Heads, Place};
use crate::disk::seek::Seek;
use crate::disk::stream::Stream;
use crate::profile::disk::{GeometryProfile, SeekProfile};

/// The parts of an access, as times; between the end of the seek and the start of the transfer the
/// disk only turns. Moves to further tracks within the transfer count as transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub seek_end: Ns,
    pub transfer_from: Ns,
    pub end: Ns,
    /// Where the heads are at the end.
    pub heads: Heads,
}

/// Geometry and moves of a disk, without a state: index passes at time 0 and each revolution
/// after it.
#[derive(Clone, Debug)]
pub struct Mechanics {
    geometry: Geometry,
    seek: Seek,
    read: Stream,
    write: Stream,
}

impl Mechanics {
    /// Of a profile that has been checked.
    pub fn new(geometry: &GeometryProfile, seek: &SeekProfile) -> Self {
        let seek = Seek::new(seek, geometry.cylinders() as u32, geometry.heads);
        let geometry = Geometry::new(geometry, &seek);
        let read = Stream::new(&geometry, &seek, Action::Read);
        let write = Stream::new(&geometry, &seek, Action::Write);
        Self {
            geometry,
            seek,
            read,
            write,
        }
    }

    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub fn seek(&self) -> &Seek {
        &self.seek
    }

    /// Read or write an extent, which is not empty, with the heads free from a time on.
    pub fn access(&self, heads: Heads, from: Ns, extent: Extent, action: Action) -> Access {
        let place = self.geometry.place(extent.sector);
        let seek_end = from + self.seek.move_ns(heads, place.heads, action);
        let transfer_from = seek_end + self.rotation_ns(seek_end, place.angle_ns);
        let last = extent.end() - 1;
        Access {
            seek_end,
            transfer_from,
            end: self.passes(action, extent.sector, transfer_from, last),
            heads: self.geometry.place(last).heads,
        }
    }

    /// Seek and rotation until a sector begins: what the policy of shortest positioning time
    /// minimises.
    pub fn positioning_ns(&self, heads: Heads, at: Ns, sector: u64, action: Action) -> Ns {
        self.positioning_to_ns(heads, at, self.geometry.place(sector), action)
    }

    /// The same for a place that has been looked up: faster where a queue is searched again and
    /// again.
    pub fn positioning_to_ns(&self, heads: Heads, at: Ns, place: Place, action: Action) -> Ns {
        let move_ns = self.seek.move_ns(heads, place.heads, action);
        move_ns + self.rotation_ns(at + move_ns, place.angle_ns)
    }

    /// In reading or writing on from the start of `sector`, which passed at `began`: the first
    /// sector that has not passed whole at a time; behind the last sector, their number.
    pub fn reached(&self, action: Action, sector: u64, began: Ns, at: Ns) -> u64 {
        self.stream(action)
            .reached(&self.geometry, sector, began, at)
    }

    /// When, in the same, the end of `target` has passed.
    pub fn passes(&self, action: Action, sector: u64, began: Ns, target: u64) -> Ns {
        self.stream(action)
            .passes(&self.geometry, sector, began, target)
    }

    fn stream(&self, action: Action) -> &Stream {
        if action == Action::Write {
            &self.write
        } else {
            &self.read
        }
    }

    fn rotation_ns(&self, at: Ns, angle_ns: Ns) -> Ns {
        let revolution_ns = self.geometry.revolution_ns();
        let now_ns = at % revolution_ns;
        if now_ns <= angle_ns {
            angle_ns - now_ns
        } else {
            angle_ns + revolution_ns - now_ns
        }
    }
}
