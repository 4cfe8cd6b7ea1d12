//! What the volatile memory of a device holds and its media do not yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::device::{Extent, SECTOR_B};

/// Neighbouring sectors, as a part of the data of one write.
#[derive(Clone, Debug)]
pub struct Piece {
    pub sector: u64,
    data: Arc<[u8]>,
    /// Where in `data` it lies. Bytes.
    from: usize,
    to: usize,
}

impl Piece {
    pub fn data(&self) -> &[u8] {
        &self.data[self.from..self.to]
    }

    fn end(&self) -> u64 {
        self.sector + (self.to - self.from) as u64 / SECTOR_B
    }

    /// The part of it within an extent, which it overlaps.
    fn within(&self, extent: Extent) -> Self {
        let sector = self.sector.max(extent.sector);
        let end = self.end().min(extent.end());
        let from = self.from + bytes(sector - self.sector);
        Self {
            sector,
            data: Arc::clone(&self.data),
            from,
            to: from + bytes(end - sector),
        }
    }

    /// Put the part of it that lies in an extent into that extent's data.
    pub fn lay_over(&self, extent: Extent, data: &mut [u8]) {
        let part = self.within(extent);
        let at = bytes(part.sector - extent.sector);
        data[at..at + part.data().len()].copy_from_slice(part.data());
    }
}

fn bytes(sectors: u64) -> usize {
    (sectors * SECTOR_B) as usize
}

/// The newest volatile data of each sector, by first sector, without overlap. The data of a write
/// are shared, not copied, and go when the last of their sectors does.
#[derive(Debug, Default)]
pub struct Overlay {
    pieces: BTreeMap<u64, Piece>,
}

impl Overlay {
    /// Hold the data of a write instead of what was there.
    pub fn insert(&mut self, extent: Extent, data: &Arc<[u8]>) {
        self.remove(extent);
        let piece = Piece {
            sector: extent.sector,
            data: Arc::clone(data),
            from: 0,
            to: bytes(extent.sectors),
        };
        self.pieces.insert(extent.sector, piece);
    }

    /// What it holds of these sectors.
    pub fn pieces(&self, extent: Extent) -> Vec<Piece> {
        self.touching(extent)
            .map(|piece| piece.within(extent))
            .collect()
    }

    /// Hold nothing of these sectors any more.
    pub fn remove(&mut self, extent: Extent) {
        let touching: Vec<u64> = self.touching(extent).map(|piece| piece.sector).collect();
        for sector in touching {
            let Some(piece) = self.pieces.remove(&sector) else {
                continue;
            };
            let sides = [(piece.sector, extent.sector), (extent.end(), piece.end())];
            for (from, to) in sides.into_iter().filter(|(from, to)| from < to) {
                let side = Extent {
                    sector: from,
                    sectors: to - from,
                };
                self.pieces.insert(from, piece.within(side));
            }
        }
    }

    /// Forget everything.
    pub fn clear(&mut self) {
        self.pieces.clear();
    }

    /// Everything, by sector.
    pub fn all(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.values()
    }

    fn touching(&self, extent: Extent) -> impl Iterator<Item = &Piece> {
        let before = self.pieces.range(..extent.sector).next_back();
        before
            .map(|(_, piece)| piece)
            .into_iter()
            .chain(
                self.pieces
                    .range(extent.sector..extent.end())
                    .map(|(_, piece)| piece),
            )
            .filter(move |piece| piece.sector < extent.end() && extent.sector < piece.end())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECTORS: u64 = 64;

    #[derive(Clone, Debug)]
    enum Step {
        Write(Extent),
        Remove(Extent),
    }

    fn extents() -> impl Strategy<Value = Extent> {
        (0..SECTORS - 1).prop_flat_map(|sector| {
            (1..=SECTORS - sector).prop_map(move |sectors| Extent { sector, sectors })
        })
    }

    fn steps() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => extents().prop_map(Step::Write),
            1 => extents().prop_map(Step::Remove),
        ]
    }

    proptest! {
        /// A sector of an older write in the place of a newer one would be a corrupt file system.
        #[test]
        fn each_sector_is_that_of_its_last_write(
            steps in prop::collection::vec(steps(), 1..40), asked in extents()
        ) {
            let mut overlay = Overlay::default();
            let mut expected = vec![0; SECTORS as usize];
            for (number, step) in (1..).zip(steps) {
                let (extent, value) = match step {
                    Step::Write(extent) => {
                        let data: Arc<[u8]> = vec![number; bytes(extent.sectors)].into();
                        overlay.insert(extent, &data);
                        (extent, number)
                    }
                    Step::Remove(extent) => {
                        overlay.remove(extent);
                        (extent, 0)
                    }
                };
                expected[extent.sector as usize..extent.end() as usize].fill(value);
            }
            let mut data = vec![0; bytes(asked.sectors)];
            for piece in overlay.pieces(asked) {
                piece.lay_over(asked, &mut data);
            }
            for (index, sector) in data.chunks(SECTOR_B as usize).enumerate() {
                let value = expected[asked.sector as usize + index];
                prop_assert!(sector.iter().all(|&byte| byte == value));
            }
        }
    }
}
