//! Commands by where they begin.

/// First sectors with the numbers of their commands; those of one sector stand in the order in
/// which they came.
#[derive(Clone, Debug, Default)]
pub struct ByPlace(Vec<(u64, u64)>);

impl ByPlace {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn insert(&mut self, sector: u64, nth: u64) {
        let entry = (sector, nth);
        let place = self.0.partition_point(|&other| other < entry);
        self.0.insert(place, entry);
    }

    pub fn remove(&mut self, sector: u64, nth: u64) {
        if let Ok(place) = self.0.binary_search(&(sector, nth)) {
            self.0.remove(place);
        }
    }

    /// The numbers of those that begin at a sector or behind it, in the order of addresses.
    pub fn from(&self, sector: u64) -> impl Iterator<Item = u64> + '_ {
        let place = self.0.partition_point(|&(begin, _)| begin < sector);
        self.0[place..].iter().map(|&(_, nth)| nth)
    }

    /// The numbers of those before it, the nearest first.
    pub fn before(&self, sector: u64) -> impl Iterator<Item = u64> + '_ {
        let place = self.0.partition_point(|&(begin, _)| begin < sector);
        self.0[..place].iter().rev().map(|&(_, nth)| nth)
    }

    /// The numbers of those that begin within these sectors.
    pub fn within(&self, from: u64, to: u64) -> impl Iterator<Item = u64> + '_ {
        let place = self.0.partition_point(|&(begin, _)| begin < from);
        let behind = self.0[place..].iter();
        behind
            .take_while(move |&&(begin, _)| begin < to)
            .map(|&(_, nth)| nth)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}
