//! The arm over the turning platters: when an access has moved, waited and transferred.

use crate::device::{Action, Extent};
use crate::disk::geometry::{Geometry, Place};
use crate::disk::heads::Heads;
use crate::disk::seek::Seek;
use crate::disk::stream::{Pass, Stream};
use crate::profile::disk::{GeometryProfile, SeekProfile};
use crate::time::Ns;

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
    stream: Stream,
}

impl Mechanics {
    /// Of a profile that has been checked.
    pub fn new(geometry: &GeometryProfile, seek: &SeekProfile) -> Self {
        let seek = Seek::new(seek, geometry.cylinders() as u32, geometry.heads);
        let geometry = Geometry::new(geometry, &seek);
        let stream = Stream::new(&geometry, &seek);
        Self {
            geometry,
            seek,
            stream,
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
        let (zone, spot) = self.geometry.spot(extent.sector);
        let place = zone.place(spot);
        let seek_end = from + self.seek.move_ns(heads, place.heads, action);
        let transfer_from = seek_end + self.geometry.rotation_ns(seek_end, place.angle_ns);
        let last = extent.end() - 1;
        let (end, heads) = match zone.on_track(spot, transfer_from, extent.sectors) {
            Some(end) => (end, place.heads),
            None => (
                self.passes(extent.sector, transfer_from, last),
                self.geometry.heads(last),
            ),
        };
        Access {
            seek_end,
            transfer_from,
            end,
            heads,
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
        move_ns + self.geometry.rotation_ns(at + move_ns, place.angle_ns)
    }

    /// Reading or writing on and on since the start of a sector passed.
    pub fn pass(&self, sector: u64, began: Ns) -> Pass {
        self.stream.pass(&self.geometry, sector, began)
    }

    /// When the end of a sector passes in it.
    pub fn passes_in(&self, pass: Pass, target: u64) -> Ns {
        self.stream.passes(&self.geometry, pass, target)
    }

    /// The first sector that has not passed whole in it at a time.
    pub fn reached_in(&self, pass: Pass, at: Ns) -> u64 {
        self.stream.reached(&self.geometry, pass, at)
    }

    /// In reading or writing on from the start of `sector`, which passed at `began`: the first
    /// sector that has not passed whole at a time; behind the last sector, their number.
    pub fn reached(&self, sector: u64, began: Ns, at: Ns) -> u64 {
        self.reached_in(self.pass(sector, began), at)
    }

    /// When, in the same, the end of `target` has passed.
    pub fn passes(&self, sector: u64, began: Ns, target: u64) -> Ns {
        self.passes_in(self.pass(sector, began), target)
    }
}
