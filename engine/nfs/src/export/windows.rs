//! What of a file was read ahead and not asked for yet.

use std::ops::Range;

/// Windows of a file: more than its readers would need only if they are many.
const MOST_WINDOWS: usize = 32;

/// A request this far before a window may be late, and belongs to it.
const NEAR_B: u64 = 128 * 1024;

/// What lies before each place at which a file is read on, the one that was used last at the end.
#[derive(Debug, Default)]
pub struct Windows(Vec<Range<u64>>);

impl Windows {
    /// What to ask the disk for now, where so much behind a place is to be read ahead. Pieces smaller
    /// than a cluster wait for more, unless nothing is left of what was read ahead.
    pub fn due(&mut self, end_b: u64, ahead_b: u64, cluster_b: u64) -> Option<Range<u64>> {
        let belongs = |window: &Range<u64>| {
            (window.start.saturating_sub(NEAR_B)..=window.end).contains(&end_b)
        };
        let nth = self.0.iter().rposition(belongs);
        let window = nth.map_or(end_b..end_b, |nth| self.0.remove(nth));
        let until = end_b.saturating_add(ahead_b);
        let absent = window.end.max(end_b)..until.max(window.end);
        let is_used_up = window.end <= end_b;
        let is_due = !absent.is_empty() && (is_used_up || absent.end - absent.start >= cluster_b);
        let end = if is_due { absent.end } else { window.end };
        let left = window.start.max(end_b)..end;
        if !left.is_empty() {
            if self.0.len() == MOST_WINDOWS {
                self.0.remove(0);
            }
            self.0.push(left);
        }
        is_due.then_some(absent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1024;

    #[test]
    fn the_disk_is_asked_for_clusters() {
        let mut windows = Windows::default();
        let mut due = |end| windows.due(end * KIB, 128 * KIB, 64 * KIB);
        assert_eq!(due(8), Some(8 * KIB..136 * KIB), "nothing was read ahead");
        for end in [16, 24, 32, 40, 48, 56, 64] {
            assert_eq!(due(end), None, "at {end}");
        }
        assert_eq!(
            due(72),
            Some(136 * KIB..200 * KIB),
            "a whole cluster is due"
        );
    }

    #[test]
    fn each_place_has_its_window() {
        let mut windows = Windows::default();
        let mut due = |end| windows.due(end, 128 * KIB, 64 * KIB).is_some();
        let far = 1 << 30;
        assert!(due(8 * KIB) && due(far));
        assert!(!due(16 * KIB) && !due(far + 8 * KIB));
    }

    #[test]
    fn a_late_request_asks_for_nothing_twice() {
        let mut windows = Windows::default();
        let mut due = |end| windows.due(end * KIB, 128 * KIB, 64 * KIB);
        assert!(due(16).is_some());
        assert_eq!(due(8), None);
    }

    #[test]
    fn what_was_read_is_forgotten() {
        // The cache may have dropped it by the time that the file is read again.
        let mut windows = Windows::default();
        let mut due = |end| windows.due(end * KIB, 64 * KIB, 64 * KIB);
        for end in (8..=1024).step_by(8) {
            due(end);
        }
        assert_eq!(due(8), Some(8 * KIB..72 * KIB), "the file is read again");
    }

    #[test]
    fn many_places_do_not_fill_the_memory() {
        let mut windows = Windows::default();
        for place in 0..10_000 {
            windows.due(place << 30, 128 * KIB, 64 * KIB);
        }
        assert_eq!(windows.0.len(), MOST_WINDOWS);
    }
}
