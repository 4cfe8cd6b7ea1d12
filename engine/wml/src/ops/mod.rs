//! The flowops: what one thread does, one operation at a time.

mod aio;
mod buffer;
mod data;
mod gates;
mod limits;
mod metadata;
mod slots;
mod system;

pub use buffer::Buffer;
pub use gates::{GatePair, Gates};

use crate::clock::now_ns;
use crate::fileset::Files;
use crate::model::{Class, Flowop, Operation};
use crate::random::Stream;
use crate::record::ThreadRecord;
use crate::shared::{Budget, Control};
use slots::Slots;

/// What became of one execution of a flowop.
pub enum Outcome {
    /// Times enclose the system calls only, not the engine's own work.
    Done {
        start_ns: u64,
        end_ns: u64,
        bytes: u64,
    },
    /// There was no file that fits.
    Skipped,
    Failed(i32),
    /// Nothing to record now.
    Passed,
    /// This thread has reached its goal.
    Finish,
}

/// Time a piece of work that yields a number of bytes or an errno.
fn timed(work: impl FnOnce() -> Result<u64, i32>) -> Outcome {
    let start_ns = now_ns();
    match work() {
        Ok(bytes) => Outcome::Done {
            start_ns,
            end_ns: now_ns(),
            bytes,
        },
        Err(errno) => Outcome::Failed(errno),
    }
}

/// What a flowop has done since the start, for the limiters.
#[derive(Clone, Copy, Default)]
struct Progress {
    work_ops: u64,
    io_ops: u64,
    bytes: u64,
}

impl Progress {
    fn add(&mut self, class: Class, bytes: u64) {
        self.work_ops += u64::from(class != Class::Other);
        self.io_ops += u64::from(matches!(class, Class::Reads | Class::Writes));
        self.bytes += bytes;
    }
}

/// What a thread of the workload is given.
pub struct Environment<'a> {
    pub flowops: &'a [Flowop],
    pub memsize: u64,
    pub files: &'a [Files],
    pub control: &'a Control,
    pub budget: &'a Budget,
    pub rate: f64,
    pub record: ThreadRecord,
    pub gates: Gates,
    pub stream: Stream,
    /// Its place among all threads of the run.
    pub number: u64,
    /// Incompressible bytes to write.
    pub data: &'static [u8],
}

/// One thread of the workload with all that it works on.
pub struct Worker<'a> {
    env: Environment<'a>,
    slots: Slots,
    buffer: Buffer,
    path: Vec<u8>,
    aio: Option<aio::Aio>,
    progress: Vec<Progress>,
    total: Progress,
    /// What each limiter has charged so far.
    charged: Vec<f64>,
}

impl<'a> Worker<'a> {
    /// A worker whose memory has been touched.
    pub fn new(env: Environment<'a>) -> Self {
        env.record.touch();
        let flowops = env.flowops;
        let writes = flowops
            .iter()
            .any(|flowop| flowop.operation == Operation::AioWrite);
        Self {
            slots: Slots::default(),
            buffer: Buffer::zeroed(buffer_size(flowops, env.memsize)),
            path: Vec::with_capacity(4096),
            aio: writes.then(aio::Aio::new),
            progress: vec![Progress::default(); flowops.len()],
            total: Progress::default(),
            charged: vec![0.0; flowops.len()],
            env,
        }
    }

    /// Go through the flowops until the measured interval ends.
    pub fn work(&mut self) {
        let flowops = self.env.flowops;
        'passes: while self.goes_on(now_ns()) {
            for (nth, flowop) in flowops.iter().enumerate() {
                for _ in 0..flowop.iters.draw(&mut self.env.stream) {
                    let outcome = self.execute(nth, flowop);
                    if !self.account(nth, flowop.operation.class(), &outcome) {
                        break 'passes;
                    }
                }
            }
        }
        self.env.control.note_end(now_ns());
        self.finish_aio();
    }

    fn goes_on(&self, now_ns: u64) -> bool {
        now_ns < self.env.control.end_ns() && !self.env.control.stopped()
    }

    /// Record an outcome; false ends the thread.
    fn account(&mut self, nth: usize, class: Class, outcome: &Outcome) -> bool {
        let now = match *outcome {
            Outcome::Done {
                start_ns,
                end_ns,
                bytes,
            } => {
                self.progress[nth].add(class, bytes);
                self.total.add(class, bytes);
                self.env
                    .record
                    .done(self.env.control, nth, class, start_ns, end_ns, bytes);
                end_ns
            }
            Outcome::Skipped => {
                let now = now_ns();
                self.env.record.skipped(self.env.control, nth, now);
                // Whoever holds the files should get on.
                std::thread::yield_now();
                now
            }
            Outcome::Failed(errno) => {
                let now = now_ns();
                self.env.record.failed(self.env.control, nth, now, errno);
                now
            }
            Outcome::Passed => now_ns(),
            Outcome::Finish => return false,
        };
        self.goes_on(now)
    }

    fn execute(&mut self, nth: usize, flowop: &Flowop) -> Outcome {
        use Operation as O;
        match flowop.operation {
            O::OpenFile => self.open_file(flowop),
            O::CreateFile => self.create_file(flowop),
            O::CloseFile => self.close_file(flowop),
            O::DeleteFile => self.delete_file(flowop),
            O::StatFile => self.stat_file(flowop),
            O::Fsync => self.fsync(flowop),
            O::Read => self.read(flowop),
            O::ReadWholeFile => self.read_whole_file(flowop),
            O::Write => self.write(flowop),
            O::WriteWholeFile => self.write_whole_file(flowop),
            O::AppendFile => self.append_file(flowop),
            O::AppendFileRand => self.append_file_rand(flowop),
            O::AioWrite => self.aio_write(nth, flowop),
            O::AioWait => self.aio_wait(),
            O::SemPost => self.sem_post(nth, flowop),
            O::SemBlock => self.sem_block(nth, flowop),
            O::Wakeup => self.wakeup(nth),
            O::Block => self.block(nth),
            O::Hog => self.hog(flowop),
            O::Delay => self.delay(flowop),
            O::EventLimit => self.limit(1.0),
            O::OpsLimit | O::IopsLimit | O::BwLimit => self.limit_work(nth, flowop),
            O::FinishOnCount | O::FinishOnBytes => self.finish_on(flowop),
            _ => Outcome::Failed(libc::ENOSYS),
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.slots.close_all(self.env.files);
    }
}

/// As much as the largest read of the thread needs, and `memsize` if that is more.
fn buffer_size(flowops: &[Flowop], memsize: u64) -> usize {
    const WHOLE_FILE_B: f64 = 1048576.0;
    const LARGEST_B: f64 = 16.0 * 1048576.0;
    let largest = flowops
        .iter()
        .filter(|flowop| flowop.operation.class() == Class::Reads)
        .map(|flowop| match flowop.iosize.usual_maximum() {
            0.0 => WHOLE_FILE_B,
            size => size,
        })
        .fold(4096.0, f64::max);
    (largest.min(LARGEST_B) as usize).max(memsize as usize)
}
