//! What a thread has done since the start, for limiters, goals and streams.

use crate::model::{Class, Operation, Thread};

#[derive(Clone, Copy, Default)]
pub struct Progress {
    pub work_ops: u64,
    pub io_ops: u64,
    pub bytes: u64,
}

impl Progress {
    pub fn add(&mut self, other: Self) {
        self.work_ops += other.work_ops;
        self.io_ops += other.io_ops;
        self.bytes += other.bytes;
    }
}

/// Kept only where a flowop asks for it: it is one more place in memory that every op goes to.
pub struct Tally {
    is_asked: bool,
    total: Progress,
    flowops: Vec<Progress>,
}

impl Tally {
    /// The tally of a thread, in a run that is limited or not.
    pub fn new(thread: &Thread, is_limited: bool) -> Self {
        use Operation as O;
        let asks = |operation| match operation {
            O::OpsLimit | O::IopsLimit | O::BwLimit => is_limited,
            O::FinishOnCount | O::FinishOnBytes => true,
            _ => false,
        };
        let mut flowops = thread.flowops.iter();
        Self {
            is_asked: flowops.any(|flowop| flowop.streams > 1 || asks(flowop.operation)),
            total: Progress::default(),
            flowops: vec![Progress::default(); thread.flowops.len()],
        }
    }

    /// An op of a flowop was done.
    pub fn add(&mut self, nth: usize, class: Class, bytes: u64) {
        if self.is_asked {
            let done = Progress {
                work_ops: u64::from(class != Class::Other),
                io_ops: u64::from(matches!(class, Class::Reads | Class::Writes)),
                bytes,
            };
            self.flowops[nth].add(done);
            self.total.add(done);
        }
    }

    /// What all flowops have done.
    pub fn total(&self) -> Progress {
        self.total
    }

    /// What one flowop has done.
    pub fn of(&self, nth: usize) -> Progress {
        self.flowops[nth]
    }
}
