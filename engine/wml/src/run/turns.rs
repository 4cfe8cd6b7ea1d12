//! Turns: a run that works and stands still as its caller says, so that several can take turns.
//!
//! Each line of the standard input is a length in seconds; its answer is a line of JSON on the
//! standard output. The end of the input ends the run. The clock of the run stands between turns,
//! so that its series and latencies know nothing of the pauses.

use std::io::{self, Write};

use serde::Serialize;

use super::arena::Arena;
use crate::clock::{self, from_seconds, monotonic_ns, now_ns, to_seconds};
use crate::failure::Failure;
use crate::shared::Mapping;

/// How long a turn may be. Seconds.
const LONGEST_S: f64 = 86400.0;

/// One turn. Times are of CLOCK_MONOTONIC.
#[derive(Clone, Debug, Serialize)]
pub struct Turn {
    pub start_ns: u64,
    pub end_ns: u64,
    pub duration_s: f64,
    /// Of ops that ended within the measured interval of the run, as are the bytes.
    pub work_ops: u64,
    pub read_b: u64,
    pub write_b: u64,
}

/// What is wrong with what the caller says.
pub type Wrong = String;

/// The turns of one run.
#[derive(Default)]
pub struct Turns {
    input: Vec<u8>,
    ended: bool,
    /// Begin, and end on the clock of the run, of the turn that goes on.
    under_way: Option<(u64, u64)>,
    sums: [u64; 3],
    pub done: Vec<Turn>,
}

impl Turns {
    /// Make a clock that can stand still; to be called before the processes are started.
    pub fn new() -> Result<Self, Failure> {
        clock::follow(&Mapping::new(1)?.leak()[0]);
        Ok(Self::default())
    }

    /// When the turn that goes on ends, on the clock of the run.
    pub fn end_ns(&self) -> Option<u64> {
        self.under_way.map(|(_, end_ns)| end_ns)
    }

    /// Between turns wait for the caller, not longer than so many milliseconds, and begin the next
    /// turn; end one whose time is over. True means that there will be no more.
    pub fn step(&mut self, arena: &Arena, wait_ms: i32) -> Result<bool, Wrong> {
        match self.under_way {
            Some((start_ns, end_ns)) if now_ns() >= end_ns => {
                self.end(arena, start_ns);
                Ok(false)
            }
            Some(_) => Ok(false),
            None => self.ask(arena, wait_ms),
        }
    }

    fn ask(&mut self, arena: &Arena, wait_ms: i32) -> Result<bool, Wrong> {
        if !self.input.contains(&b'\n') && !self.ended {
            self.read(wait_ms);
        }
        let Some(end) = self.input.iter().position(|&byte| byte == b'\n') else {
            return Ok(self.ended);
        };
        let line: Vec<u8> = self.input.drain(..=end).collect();
        let line = String::from_utf8_lossy(&line);
        match line.trim().parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds <= LONGEST_S => {
                let start_ns = monotonic_ns();
                arena.control().resume();
                self.under_way = Some((start_ns, now_ns() + from_seconds(seconds)));
                Ok(false)
            }
            _ => Err(format!(
                "'{}' is not a length of a turn in seconds",
                line.trim()
            )),
        }
    }

    fn read(&mut self, wait_ms: i32) {
        let mut input = libc::pollfd {
            fd: libc::STDIN_FILENO,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut bytes = [0_u8; 256];
        // SAFETY: both point to memory of the sizes that they are given.
        let length = unsafe {
            if libc::poll(&raw mut input, 1, wait_ms) <= 0 {
                return;
            }
            libc::read(libc::STDIN_FILENO, bytes.as_mut_ptr().cast(), bytes.len())
        };
        self.ended = length <= 0;
        self.input
            .extend_from_slice(&bytes[..length.max(0) as usize]);
    }

    fn end(&mut self, arena: &Arena, start_ns: u64) {
        arena.control().pause();
        let end_ns = monotonic_ns();
        let since_ns = now_ns().saturating_sub(arena.control().measure_ns());
        let mut sums = [0; 3];
        for interval in arena.records.series(since_ns) {
            sums.iter_mut()
                .zip(interval)
                .for_each(|(sum, own)| *sum += own);
        }
        let own = |nth: usize| sums[nth] - self.sums[nth];
        let turn = Turn {
            start_ns,
            end_ns,
            duration_s: to_seconds(end_ns - start_ns),
            work_ops: own(0),
            read_b: own(1),
            write_b: own(2),
        };
        (self.sums, self.under_way) = (sums, None);
        let told = serde_json::to_string(&turn).expect("a turn is plain data");
        self.done.push(turn);
        let mut output = io::stdout();
        // Whoever has gone will not see the end of the run either.
        let _ = writeln!(output, "{told}").and_then(|()| output.flush());
    }
}
