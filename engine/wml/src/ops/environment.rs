//! What a thread of the workload is given.

use super::arrivals::Schedule;
use super::gates::Gates;
use super::pools::Pools;
use crate::fileset::{Files, Selector};
use crate::model::{Quit, Thread};
use crate::random::Stream;
use crate::record::ThreadRecord;
use crate::shared::{Budget, Control, Work};

/// All that one thread works with, beside what it makes itself.
pub struct Environment<'a> {
    pub thread: &'a Thread,
    pub files: &'a [Files],
    /// Of each flowop with a fileset.
    pub selectors: &'a [Option<Selector>],
    pub control: &'a Control,
    pub budget: &'a Budget,
    /// Events per second of all limiters together; 0 is no limit.
    pub rate: f64,
    pub quit: Quit,
    /// What its process has done, where a goal counts that.
    pub work: Option<&'a Work>,
    pub record: ThreadRecord<'a>,
    pub gates: Gates<'a>,
    pub stream: Stream,
    /// When the passes of an open loop start.
    pub schedule: Option<Schedule>,
    /// Its place among all threads of the run.
    pub number: u64,
    /// What it writes.
    pub data: &'a Pools,
}
