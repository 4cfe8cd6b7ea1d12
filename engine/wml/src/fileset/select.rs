//! Which file or directory a flowop picks: its attributes `select`, `opennext` and `indexed`.

use super::files::Files;
use super::population::{Pick, Turns};
use crate::model::{Flowop, Operation, Select};
use crate::random::{Amount, Stream, Zipf};

/// How one flowop picks from its fileset.
pub struct Selector {
    method: Method,
    /// What it picks from.
    set: Set,
    count: u64,
}

enum Method {
    Rotor,
    Turns,
    Sequential,
    Uniform,
    Zipf(Zipf, Scatter),
    Indexed(Amount),
}

/// What a flowop picks from; each has a rotor.
#[derive(Clone, Copy, PartialEq)]
enum Set {
    Existing,
    Absent,
    Directories,
    ExistingLeafdirs,
    AbsentLeafdirs,
}

impl Set {
    fn of(operation: Operation) -> Self {
        use Operation as O;
        match operation {
            O::CreateFile => Set::Absent,
            O::ListDir | O::ListStatDir | O::FsyncDir => Set::Directories,
            O::RemoveDir => Set::ExistingLeafdirs,
            O::MakeDir => Set::AbsentLeafdirs,
            _ => Set::Existing,
        }
    }
}

/// What one thread keeps of its way through one fileset.
#[derive(Default)]
pub struct OwnRotors {
    /// Of each set, for `select=sequential` and `opennext`.
    next: [u64; 5],
    /// Of the shared rotors of files that exist and of those that do not.
    turns: [Turns; 2],
}

impl Selector {
    /// How a flowop picks from its fileset.
    pub fn new(flowop: &Flowop, files: &Files) -> Self {
        let set = Set::of(flowop.operation);
        let count = match set {
            Set::Existing | Set::Absent => files.layout.entries.len(),
            Set::Directories => files.layout.directories.len(),
            Set::ExistingLeafdirs | Set::AbsentLeafdirs => files.layout.leafdirs.len(),
        };
        let count = count.max(1) as u64;
        let opens_next = flowop.opennext && flowop.operation == Operation::OpenFile;
        let of_files = matches!(set, Set::Existing | Set::Absent);
        let method = match (&flowop.indexed, flowop.select) {
            (Some(number), _) => Method::Indexed(number.clone()),
            (None, Select::Rotor) if opens_next => Method::Sequential,
            (None, Select::Rotor) if of_files => Method::Turns,
            (None, Select::Rotor) => Method::Rotor,
            (None, Select::Sequential) => Method::Sequential,
            (None, Select::Uniform) => Method::Uniform,
            (None, Select::Zipf(theta)) => {
                Method::Zipf(Zipf::new(count, theta), Scatter::new(count))
            }
        };
        Self { method, set, count }
    }

    /// The next pick. What it takes from the stream does not depend on other threads.
    pub fn pick<'a>(&self, stream: &mut Stream, own: &'a mut OwnRotors) -> Pick<'a> {
        match &self.method {
            Method::Rotor => Pick::Rotor,
            Method::Turns => Pick::Turns(&mut own.turns[self.set as usize]),
            Method::Sequential => Pick::Own(&mut own.next[self.set as usize]),
            Method::Uniform => Pick::Uniform(stream.next_u64()),
            Method::Zipf(zipf, scatter) => Pick::At(scatter.entry(zipf.sample(stream))),
            Method::Indexed(number) => Pick::At(self.indexed(number.draw_exact(stream))),
        }
    }

    /// As in the original: of files the number itself, of directories the number times half of
    /// their count, both modulo the count.
    fn indexed(&self, number: f64) -> u64 {
        let number = match self.set {
            Set::Existing | Set::Absent => number,
            _ => number * self.count as f64 / 2.0,
        };
        number as u64 % self.count
    }
}

/// A fixed bijection from popularity ranks to entries that puts ranks which follow each other far
/// apart, so that popular files do not share directories.
struct Scatter {
    count: u64,
    step: u64,
}

impl Scatter {
    fn new(count: u64) -> Self {
        // Steps of the golden section, as a number that has no divisor in common with the count.
        let golden = (count as f64 * 0.618_033_988_749_894_8) as u64;
        let step = (golden..=count).find(|&step| gcd(step, count) == 1);
        Self {
            count,
            step: step.unwrap_or(1),
        }
    }

    fn entry(&self, rank: u64) -> u64 {
        rank % self.count * self.step % self.count
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Fileset;

    fn files(entries: u64, leafdirs: u64) -> Files {
        let fileset = Fileset {
            name: "f".into(),
            path: "/x".into(),
            entries,
            leafdirs,
            dirwidth: Amount::Fixed(10.0),
            prealloc_percent: 100.0,
            ..Fileset::default()
        };
        Files::new(fileset, 1).unwrap()
    }

    fn selector(operation: Operation, files: &Files, change: impl Fn(&mut Flowop)) -> Selector {
        let mut flowop = Flowop {
            name: "f".into(),
            operation,
            fileset: Some(0),
            fd: 1,
            srcfd: None,
            iosize: Amount::Fixed(0.0),
            workingset: Amount::Fixed(0.0),
            iters: Amount::Fixed(1.0),
            random: false,
            dsync: false,
            directio: false,
            noreadahead: false,
            streams: 1,
            opennext: false,
            advances: false,
            select: Select::Rotor,
            indexed: None,
            value: Amount::Fixed(0.0),
            targets: Vec::new(),
            blocking: false,
            highwater: 1,
        };
        change(&mut flowop);
        Selector::new(&flowop, files)
    }

    /// Open and close a file as two threads by turns.
    fn by_turns(files: &Files, selector: &Selector, times: usize) -> Vec<usize> {
        let mut stream = Stream::new(1, &["select"]);
        let mut own = [OwnRotors::default(), OwnRotors::default()];
        let open = |nth: usize| {
            let entry = files
                .acquire(selector.pick(&mut stream, &mut own[nth % 2]))
                .unwrap();
            files.release(entry);
            entry
        };
        (0..times).map(open).collect()
    }

    #[test]
    fn rotors_are_shared_and_sequential_threads_each_go_their_own_way() {
        let files = files(100, 0);
        let rotor = selector(Operation::OpenFile, &files, |_| ());
        assert_eq!(by_turns(&files, &rotor, 6), [0, 8, 1, 9, 2, 10]);
        let sequential = selector(Operation::OpenFile, &files, |f| {
            f.select = Select::Sequential
        });
        assert_eq!(by_turns(&files, &sequential, 6), [0, 0, 1, 1, 2, 2]);
        let opennext = selector(Operation::OpenFile, &files, |f| f.opennext = true);
        assert_eq!(by_turns(&files, &opennext, 6), [0, 0, 1, 1, 2, 2]);
        let stat = selector(Operation::StatFile, &files, |f| f.opennext = true);
        assert_eq!(
            by_turns(&files, &stat, 3),
            [16, 24, 17],
            "only openfile opens the next one"
        );
    }

    #[test]
    fn an_index_names_the_file_and_half_steps_of_the_directories() {
        let files = files(100, 10);
        let at = |operation, value| {
            let selector = selector(operation, &files, |f| {
                f.indexed = Some(Amount::Fixed(value))
            });
            let mut own = OwnRotors::default();
            match selector.pick(&mut Stream::new(1, &["select"]), &mut own) {
                Pick::At(number) => number,
                _ => panic!("an index names one"),
            }
        };
        assert_eq!(at(Operation::OpenFile, 7.9), 7);
        assert_eq!(at(Operation::CreateFile, 203.0), 3);
        assert_eq!(at(Operation::DeleteFile, -5.0), 0);
        assert_eq!(at(Operation::MakeDir, 0.5), 2);
        assert_eq!(at(Operation::RemoveDir, 3.0), 5);
    }

    #[test]
    fn an_index_in_the_wrong_state_means_the_next_higher_one_or_else_the_lowest() {
        let files = files(10, 0);
        let delete = |at| {
            let claim = files.claim_unused(Pick::At(at)).unwrap();
            let entry = claim.entry;
            files.settle_absent(claim);
            entry
        };
        assert_eq!(
            [delete(4), delete(4), delete(9), delete(9), delete(5)],
            [4, 5, 9, 0, 6]
        );
    }

    #[test]
    fn zipf_prefers_the_same_scattered_files_in_every_thread() {
        let files = files(10_000, 0);
        let zipf = selector(Operation::OpenFile, &files, |f| {
            f.select = Select::Zipf(0.99)
        });
        let picked = by_turns(&files, &zipf, 100_000);
        let mut counts = vec![0u32; 10_000];
        picked.iter().for_each(|&entry| counts[entry] += 1);
        let all: f64 = (1..=10_000).map(|k| f64::from(k).powf(-0.99)).sum();
        let scatter = Scatter::new(10_000);
        for rank in 0..20u64 {
            let expected = 100_000.0 * (rank as f64 + 1.0).powf(-0.99) / all;
            let count = f64::from(counts[scatter.entry(rank) as usize]);
            let deviation = (count - expected) / expected.sqrt();
            assert!(
                deviation.abs() < 5.0,
                "{rank}: {count} instead of {expected}"
            );
        }
        let apart = |rank| scatter.entry(rank).abs_diff(scatter.entry(rank + 1));
        assert!((0..1000).all(|rank| apart(rank) > 1000));
    }

    #[test]
    fn scattering_loses_no_file() {
        for count in (1..300).chain([4096, 46_368, 100_003, 1_000_000]) {
            let mut seen = vec![false; count as usize];
            let scatter = Scatter::new(count);
            (0..count).for_each(|rank| seen[scatter.entry(rank) as usize] = true);
            assert!(seen.iter().all(|seen| *seen), "{count}");
        }
    }
}
