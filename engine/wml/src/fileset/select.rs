//! Which file or directory a flowop picks: its attributes `select`, `opennext` and `indexed`.

use super::files::Files;
use super::population::Pick;
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
    Sequential,
    Uniform,
    Zipf(Zipf),
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

/// The rotors of one thread in one fileset, for `select=sequential` and `opennext`.
#[derive(Default)]
pub struct OwnRotors([u64; 5]);

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
        let method = match (&flowop.indexed, flowop.select) {
            (Some(number), _) => Method::Indexed(number.clone()),
            (None, Select::Rotor) if opens_next => Method::Sequential,
            (None, Select::Rotor) => Method::Rotor,
            (None, Select::Sequential) => Method::Sequential,
            (None, Select::Uniform) => Method::Uniform,
            (None, Select::Zipf(theta)) => Method::Zipf(Zipf::new(count, theta)),
        };
        Self { method, set, count }
    }

    /// The next pick. What it takes from the stream does not depend on other threads.
    pub fn pick<'a>(&self, stream: &mut Stream, own: &'a mut OwnRotors) -> Pick<'a> {
        match &self.method {
            Method::Rotor => Pick::Rotor,
            Method::Sequential => Pick::Own(&mut own.0[self.set as usize]),
            Method::Uniform => Pick::Uniform(stream.next_u64()),
            Method::Zipf(zipf) => Pick::At(scatter(zipf.sample(stream), self.count)),
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

/// The entry of a popularity rank: a fixed bijection that puts ranks which follow each other far
/// apart, so that popular files do not share directories.
fn scatter(rank: u64, count: u64) -> u64 {
    // Steps of the golden section, as a number that has no divisor in common with the count.
    let golden = (count as f64 * 0.618_033_988_749_894_8) as u64;
    let step = (golden..=count).find(|&step| gcd(step, count) == 1);
    rank % count * step.unwrap_or(1) % count
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
