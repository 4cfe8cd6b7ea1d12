//! What the disk has read and still holds: segments of its memory, each one stretch of sectors.

use crate::device::Extent;

#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Empty if the segment is free.
    extent: Extent,
    /// The higher, the later it was used.
    used: u64,
}

/// A segment is a ring: what is read on pushes out what was read first. When all are taken, the
/// least recently used is given up.
#[derive(Clone, Debug)]
pub struct Segments {
    all: Vec<Segment>,
    capacity: u64,
    /// How many may be taken; the rest of the memory holds writes.
    allowed: usize,
    uses: u64,
}

const FREE: Segment = Segment {
    extent: Extent {
        sector: 0,
        sectors: 0,
    },
    used: 0,
};

impl Segments {
    /// So many segments of so many sectors each, all free.
    pub fn new(count: usize, capacity: u64) -> Self {
        Self {
            all: vec![FREE; count],
            capacity,
            allowed: count,
            uses: 0,
        }
    }

    pub fn get(&self, index: usize) -> Extent {
        self.all[index].extent
    }

    /// Where the stretch ends that holds a sector, if one does.
    pub fn end_at(&mut self, sector: u64) -> Option<u64> {
        let found = self
            .all
            .iter_mut()
            .find(|segment| segment.extent.contains(sector))?;
        self.uses += 1;
        found.used = self.uses;
        Some(found.extent.end())
    }

    /// The segment for what is read from a sector on: the one that it continues, or a free one, or
    /// the one that must go.
    pub fn begin(&mut self, sector: u64) -> usize {
        let (mut taken, mut free, mut oldest) = (0, None, None);
        for (index, segment) in self.all.iter().enumerate() {
            let extent = segment.extent;
            if extent.sectors == 0 {
                free = free.or(Some(index));
                continue;
            }
            if (extent.sector..=extent.end()).contains(&sector) {
                return index;
            }
            taken += 1;
            if oldest.is_none_or(|(_, used)| segment.used < used) {
                oldest = Some((index, segment.used));
            }
        }
        let free = free.filter(|_| taken < self.allowed);
        let index = free.or(oldest.map(|(index, _)| index)).unwrap_or_default();
        self.all[index].extent = Extent { sector, sectors: 0 };
        index
    }

    /// Hold in a segment what has been read into it, up to a sector.
    pub fn fill(&mut self, index: usize, end: u64) {
        let segment = &mut self.all[index];
        let end = end.max(segment.extent.end());
        let sector = segment.extent.sector.max(end.saturating_sub(self.capacity));
        segment.extent = Extent {
            sector,
            sectors: end - sector,
        };
        self.uses += 1;
        segment.used = self.uses;
    }

    /// Let no more than so many be taken; the one that is being read into is not given up.
    pub fn allow(&mut self, most: usize, being_read: Option<usize>) {
        self.allowed = most;
        while self.taken() > most {
            let Some(index) = self.oldest(being_read) else {
                break;
            };
            self.all[index] = FREE;
        }
    }

    pub fn clear(&mut self) {
        self.all.fill(FREE);
    }

    fn taken(&self) -> usize {
        self.all
            .iter()
            .filter(|segment| segment.extent.sectors > 0)
            .count()
    }

    fn oldest(&self, but: Option<usize>) -> Option<usize> {
        let taken = self
            .all
            .iter()
            .enumerate()
            .filter(|&(index, segment)| segment.extent.sectors > 0 && Some(index) != but);
        taken
            .min_by_key(|(_, segment)| segment.used)
            .map(|(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(segments: &mut Segments, sector: u64, end: u64) -> usize {
        let index = segments.begin(sector);
        segments.fill(index, end);
        index
    }

    /// Interleaved readers would each lose what was read ahead for them.
    #[test]
    fn each_stream_keeps_its_segment_and_the_oldest_goes() {
        let mut segments = Segments::new(2, 100);
        let first = read(&mut segments, 0, 10);
        let second = read(&mut segments, 1000, 1010);
        assert_eq!(read(&mut segments, 10, 20), first);
        assert_eq!(segments.get(first).sectors, 20);
        assert_eq!(read(&mut segments, 5000, 5001), second);
        assert_eq!(segments.end_at(1000), None);
    }

    /// A segment would hold more than its memory.
    #[test]
    fn a_segment_is_a_ring() {
        let mut segments = Segments::new(1, 100);
        let index = read(&mut segments, 0, 90);
        segments.fill(index, 150);
        assert_eq!(
            segments.get(index),
            Extent {
                sector: 50,
                sectors: 100
            }
        );
        assert_eq!(segments.end_at(49), None);
    }

    /// Writes would have memory that reads keep.
    #[test]
    fn writes_push_reads_out_but_not_the_one_that_is_being_read() {
        let mut segments = Segments::new(3, 100);
        let first = read(&mut segments, 0, 10);
        read(&mut segments, 1000, 1010);
        read(&mut segments, 2000, 2010);
        segments.allow(1, Some(first));
        assert_eq!(segments.end_at(5), Some(10));
        assert_eq!(segments.end_at(2005), None);
        assert_eq!(read(&mut segments, 3000, 3001), first);
    }
}
