//! Which record is asked for next.
//!
//! Zipfian numbers are those of Gray et al., "Quickly generating billion-record synthetic
//! databases" (SIGMOD 1994), section 3, with YCSB's skew.

use wml::random::Stream;

/// YCSB's skew (theta), as of SoCC 2010.
pub const SKEW: f64 = 0.99;

/// YCSB draws ranks among so many before it scatters them over the records, however many these are.
pub const RANKS: u64 = 10_000_000_000;

/// Terms of a zeta sum that are added up one by one; the rest is an integral with its correction.
const HEAD: u64 = 1000;

/// The FNV-1a hash of a number's eight bytes, the lowest first, as YCSB scatters with it.
pub fn scattered(number: u64) -> u64 {
    let hash = number
        .to_le_bytes()
        .iter()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
    (hash as i64).unsigned_abs()
}

/// Ranks from 0, each less probable than the one before: that of rank r is as (r + 1)^-0.99.
#[derive(Clone, Debug)]
pub struct Zipfian {
    items: u64,
    zeta: f64,
    alpha: f64,
    eta: f64,
    head: f64,
}

impl Zipfian {
    pub fn new(items: u64) -> Self {
        let mut zipfian = Self {
            items: 0,
            zeta: 0.0,
            alpha: 1.0 / (1.0 - SKEW),
            eta: 0.0,
            head: (1..HEAD).map(|rank| (rank as f64).powf(-SKEW)).sum(),
        };
        zipfian.over(items);
        zipfian
    }

    /// Draw among so many from now on.
    pub fn over(&mut self, items: u64) {
        if items != self.items {
            self.items = items;
            self.zeta = self.zeta_of(items);
            let two = 1.0 + 2f64.powf(-SKEW);
            self.eta = (1.0 - (2.0 / items as f64).powf(1.0 - SKEW)) / (1.0 - two / self.zeta);
        }
    }

    pub fn next(&self, stream: &mut Stream) -> u64 {
        let unit = stream.unit();
        let place = unit * self.zeta;
        if place < 1.0 {
            return 0;
        }
        if place < 1.0 + 0.5f64.powf(SKEW) {
            return 1.min(self.items - 1);
        }
        let share = (self.eta * unit - self.eta + 1.0).powf(self.alpha);
        ((self.items as f64 * share) as u64).min(self.items - 1)
    }

    /// The sum of k^-0.99 for k from 1 to `items`: Euler and Maclaurin's formula beyond the head.
    fn zeta_of(&self, items: u64) -> f64 {
        if items < HEAD {
            return (1..=items).map(|rank| (rank as f64).powf(-SKEW)).sum();
        }
        let (first, last) = (HEAD as f64, items as f64);
        let integral = (last.powf(1.0 - SKEW) - first.powf(1.0 - SKEW)) / (1.0 - SKEW);
        let ends = f64::midpoint(first.powf(-SKEW), last.powf(-SKEW));
        let slopes = SKEW / 12.0 * (first.powf(-SKEW - 1.0) - last.powf(-SKEW - 1.0));
        self.head + integral + ends + slopes
    }
}

/// How records are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requests {
    /// Some are popular, wherever they lie.
    Zipfian,
    /// Those that were written last are popular.
    Latest,
    /// All alike.
    Uniform,
}

impl Requests {
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "zipfian" => Some(Self::Zipfian),
            "latest" => Some(Self::Latest),
            "uniform" => Some(Self::Uniform),
            _ => None,
        }
    }
}

/// The records that one thread asks for.
pub struct Chooser {
    requests: Requests,
    zipfian: Zipfian,
}

impl Chooser {
    pub fn new(requests: Requests, records: u64) -> Self {
        let items = match requests {
            Requests::Latest => records,
            Requests::Zipfian | Requests::Uniform => RANKS,
        };
        Self {
            requests,
            zipfian: Zipfian::new(items),
        }
    }

    /// The number of a record, of so many that exist now, of which `loaded` were there at first.
    pub fn next(&mut self, stream: &mut Stream, loaded: u64, records: u64) -> u64 {
        match self.requests {
            Requests::Uniform => stream.below(records),
            Requests::Zipfian => scattered(self.zipfian.next(stream)) % loaded,
            Requests::Latest => {
                self.zipfian.over(records);
                records - 1 - self.zipfian.next(stream)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(items: u64, draws: u64) -> Vec<f64> {
        let (zipfian, mut stream) = (Zipfian::new(items), Stream::new(7, &["test"]));
        let mut seen = vec![0u64; items as usize];
        for _ in 0..draws {
            seen[zipfian.next(&mut stream) as usize] += 1;
        }
        seen.iter().map(|&n| n as f64 / draws as f64).collect()
    }

    #[test]
    fn ranks_are_as_probable_as_the_law_says() {
        let exact: f64 = (1..=100).map(|rank| f64::from(rank).powf(-SKEW)).sum();
        let shares = shares(100, 400_000);
        for rank in [0, 1] {
            let law = f64::from(rank + 1).powf(-SKEW) / exact;
            assert!((shares[rank as usize] / law - 1.0).abs() < 0.03);
        }
        // The method approximates the tail: the law holds for sums over it.
        let tail: f64 = shares[10..].iter().sum();
        let law: f64 = (11..=100).map(|r| f64::from(r).powf(-SKEW)).sum::<f64>() / exact;
        assert!((tail / law - 1.0).abs() < 0.05, "{tail} {law}");
    }

    #[test]
    fn a_long_zeta_is_that_of_its_terms() {
        let zipfian = Zipfian::new(100_000);
        let exact: f64 = (1..=100_000).map(|rank| f64::from(rank).powf(-SKEW)).sum();
        assert!((zipfian.zeta / exact - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_hash_is_the_published_one() {
        // FNV-1a of eight zero bytes, and of a one with seven zeros behind it.
        assert_eq!(scattered(0), 0xa8c7_f832_281a_39c5_u64.wrapping_neg());
        assert_eq!(scattered(1), 0x89cd_3129_1d2a_efa4_u64.wrapping_neg());
    }

    #[test]
    fn the_latest_are_popular_and_nothing_is_asked_for_that_is_not_there() {
        let mut stream = Stream::new(3, &["test"]);
        let mut chooser = Chooser::new(Requests::Latest, 1000);
        let mut of_last_ten = 0;
        for nth in 0..10_000 {
            let records = 1000 + nth / 10;
            let chosen = chooser.next(&mut stream, 1000, records);
            assert!(chosen < records);
            of_last_ten += u32::from(chosen + 10 >= records);
        }
        assert!((3000..5000).contains(&of_last_ten), "{of_last_ten}");
    }

    #[test]
    fn popular_records_lie_anywhere_and_uniform_ones_are_alike() {
        let most = |requests| {
            let (mut stream, mut seen) = (Stream::new(5, &["test"]), [0u32; 100]);
            let mut chooser = Chooser::new(requests, 100);
            for _ in 0..20_000 {
                seen[chooser.next(&mut stream, 100, 100) as usize] += 1;
            }
            seen.into_iter().max().unwrap()
        };
        assert!(most(Requests::Zipfian) > 600);
        assert!(most(Requests::Uniform) < 300);
    }
}
