//! An io_uring of one thread, and the transfers that are under way in it.

use std::io;

use io_uring::{IoUring, Probe, cqueue, opcode, squeue, types};

use super::buffer::{Buffer, PAGE_B};
use super::system::Fd;
use crate::failure::Failure;
use crate::model::{Class, Flowop, MAX_IN_FLIGHT, Model, Operation, Thread};

/// The most that one submission reads; longer reads take several.
const LARGEST_B: f64 = 16.0 * 1048576.0;

/// What to do instead of a ring.
const INSTEAD: &str = "use read and write instead of uringread and uringwrite";

/// A read or write of one op.
#[derive(Clone, Copy)]
pub struct Transfer<'a> {
    pub flowop: usize,
    pub class: Class,
    pub slot: usize,
    pub fd: Fd,
    pub offset: u64,
    pub length: u64,
    pub done: u64,
    /// What is written, over and over; reads have the ring's own buffers.
    pub data: &'a [u8],
    pub start_ns: u64,
}

impl Transfer<'_> {
    /// Bytes that the next submission asks for.
    fn asked(&self, buffer_b: usize) -> usize {
        let room = match self.class {
            Class::Writes => self.data.len() - self.position(),
            _ => buffer_b,
        };
        (self.length - self.done).min(room as u64) as usize
    }

    /// Where in the data the next submission begins.
    fn position(&self) -> usize {
        (self.done % self.data.len().max(1) as u64) as usize
    }
}

/// What the kernel says of a transfer.
pub enum Completion<'a> {
    Whole(Transfer<'a>),
    Failed(Transfer<'a>, i32),
    /// A part is done or nothing yet: the rest has been put into the queue again.
    Again,
}

pub struct Ring<'a> {
    ring: IoUring,
    /// By the number that a completion carries, which is also that of its buffer.
    transfers: Vec<Option<Transfer<'a>>>,
    free: Vec<usize>,
    unsubmitted: usize,
    buffers: Buffer,
    buffer_b: usize,
}

impl<'a> Ring<'a> {
    /// The ring of a thread that has flowops for it.
    pub fn of(thread: &Thread) -> Result<Option<Self>, Failure> {
        let Some((depth, buffer_b)) = buffers(thread) else {
            return Ok(None);
        };
        let ring = IoUring::new(depth as u32).map_err(|error| refused(&error))?;
        Ok(Some(Self {
            ring,
            transfers: vec![None; depth],
            free: (0..depth).rev().collect(),
            unsubmitted: 0,
            buffers: Buffer::zeroed(depth * buffer_b)?,
            buffer_b,
        }))
    }

    /// How many transfers have room.
    pub fn depth(&self) -> u64 {
        self.transfers.len() as u64
    }

    pub fn in_flight(&self) -> usize {
        self.transfers.len() - self.free.len()
    }

    /// How many of a flowop are in flight.
    pub fn in_flight_of(&self, flowop: usize) -> u64 {
        let transfers = self.transfers.iter().flatten();
        transfers.filter(|one| one.flowop == flowop).count() as u64
    }

    pub fn has_unsubmitted(&self) -> bool {
        self.unsubmitted > 0
    }

    /// Put a transfer into the queue, for the next [`Self::enter`].
    pub fn queue(&mut self, transfer: Transfer<'a>) {
        let number = self.free.pop().expect("no more in flight than the depth");
        self.put(number, transfer);
    }

    fn put(&mut self, number: usize, transfer: Transfer<'a>) {
        let entry = self.entry(number, &transfer);
        self.transfers[number] = Some(transfer);
        // SAFETY: the data and the buffers outlive the transfer, as the ring waits for all in its
        // drop; each transfer has a buffer of its own.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.expect("the queue has room for all transfers");
        self.unsubmitted += 1;
    }

    fn entry(&self, number: usize, transfer: &Transfer) -> squeue::Entry {
        let fd = types::Fd(transfer.fd);
        let offset = transfer.offset + transfer.done;
        let length = transfer.asked(self.buffer_b);
        let entry = match transfer.class {
            Class::Writes => {
                let from = transfer.position();
                let data = transfer.data[from..from + length].as_ptr();
                opcode::Write::new(fd, data, length as u32)
                    .offset(offset)
                    .build()
            }
            _ => {
                // SAFETY: there are as many buffers as numbers.
                let buffer = unsafe { self.buffers.start().add(number * self.buffer_b) };
                opcode::Read::new(fd, buffer, length as u32)
                    .offset(offset)
                    .build()
            }
        };
        entry.user_data(number as u64)
    }

    /// Submit what is queued and wait until at least so many are complete.
    pub fn enter(&mut self, completions: usize) {
        loop {
            match self.ring.submit_and_wait(completions) {
                Ok(_) => break,
                // The kernel has no room now, and will have when something has ended.
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR) => {}
                    Some(libc::EAGAIN | libc::EBUSY) => std::thread::yield_now(),
                    _ => panic!("io_uring_enter: {error}"),
                },
            }
        }
        self.unsubmitted = self.ring.submission().len();
    }

    /// The next completion that is there.
    pub fn completed(&mut self) -> Option<Completion<'a>> {
        let completion = self.ring.completion().next()?;
        Some(self.complete(&completion))
    }

    fn complete(&mut self, completion: &cqueue::Entry) -> Completion<'a> {
        let number = completion.user_data() as usize;
        let mut transfer = self.transfers[number]
            .take()
            .expect("a completion for each submission");
        let asked = transfer.asked(self.buffer_b);
        let is_whole = match -completion.result() {
            libc::EINTR | libc::EAGAIN => false,
            errno if errno > 0 => {
                self.free.push(number);
                return Completion::Failed(transfer, errno);
            }
            bytes => {
                let bytes = bytes.unsigned_abs() as usize;
                transfer.done += bytes as u64;
                // A short read has met the end of the file, a short write goes on.
                let is_last = bytes == 0 || (bytes < asked && transfer.class == Class::Reads);
                is_last || transfer.done == transfer.length
            }
        };
        if is_whole {
            self.free.push(number);
            return Completion::Whole(transfer);
        }
        self.put(number, transfer);
        Completion::Again
    }
}

impl Drop for Ring<'_> {
    fn drop(&mut self) {
        // The kernel writes into the buffers until then.
        while self.in_flight() > 0 {
            self.enter(1);
            while self.completed().is_some() {}
        }
    }
}

/// What the buffers of a thread's ring take.
pub fn buffers_b(thread: &Thread) -> u64 {
    buffers(thread).map_or(0, |(depth, buffer_b)| (depth * buffer_b) as u64)
}

/// How many transfers a thread may have under way, each with so large a buffer, if it has any.
fn buffers(thread: &Thread) -> Option<(usize, usize)> {
    let flowops = || thread.flowops.iter().filter(|flowop| uses_ring(flowop));
    let depth = flowops().map(largest_depth).max()?;
    let largest = flowops()
        .filter(|flowop| flowop.operation == Operation::UringRead)
        .map(|flowop| flowop.iosize.usual_maximum())
        .fold(0.0, f64::max);
    let buffer_b = (largest.min(LARGEST_B) as usize).next_multiple_of(PAGE_B);
    Some((depth as usize, buffer_b))
}

fn uses_ring(flowop: &Flowop) -> bool {
    matches!(
        flowop.operation,
        Operation::UringRead | Operation::UringWrite
    )
}

fn largest_depth(flowop: &Flowop) -> u64 {
    (flowop.value.usual_maximum() as u64).clamp(1, MAX_IN_FLIGHT)
}

/// Refuse a model with flowops for a ring where the kernel has none.
pub fn check_kernel(model: &Model) -> Result<(), Failure> {
    if !model.flowops().any(|(_, flowop)| uses_ring(flowop)) {
        return Ok(());
    }
    let ring = IoUring::new(1).map_err(|error| refused(&error))?;
    let mut probe = Probe::new();
    let probed = ring.submitter().register_probe(&mut probe);
    let needed = [opcode::Read::CODE, opcode::Write::CODE];
    if probed.is_err() || !needed.iter().all(|&code| probe.is_supported(code)) {
        let what = "io_uring of this kernel does not read and write";
        return Err(Failure::new(what, newer_kernel()));
    }
    Ok(())
}

fn newer_kernel() -> String {
    format!("run Linux 5.6 or later, or {INSTEAD}")
}

fn refused(error: &io::Error) -> Failure {
    let failure = Failure::io("the kernel refuses an io_uring", error);
    match error.raw_os_error() {
        Some(libc::ENOSYS) => failure.next(newer_kernel()),
        Some(libc::EPERM | libc::EACCES) => failure.next(format!(
            "sysctl kernel.io_uring_disabled=0, allow it in the container, or {INSTEAD}"
        )),
        Some(libc::ENOMEM) => failure.next(format!("ulimit -l unlimited, or {INSTEAD}")),
        _ => failure.next(INSTEAD),
    }
}
