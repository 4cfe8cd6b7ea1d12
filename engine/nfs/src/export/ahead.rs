//! How far is read ahead, and a record of it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::sync::Mutex;

use readahead::decide::HEAD;
use readahead::{Decide, Decision, ReadAhead, Request};
use serde::Serialize;

use crate::lock::locked;
use crate::protocol::rpc;

/// Clients whose newest request is remembered.
const MOST_CLIENTS: usize = 4096;

/// What a server did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Reads, and those of them that a client had numbered before one that was taken up earlier.
    pub reads_count: u64,
    pub late_count: u64,
    /// To be read ahead of them, as the heuristic said, each time anew.
    pub ahead_b: u64,
    /// Files that the table forgot.
    pub evicted_count: u64,
    /// Sum over all reads.
    pub sequential_count: u64,
    /// Reads that were sent again, and answered again.
    pub repeated_count: u64,
    pub is_log_complete: bool,
}

/// The heuristic, asked by one thread after the other.
#[derive(Debug)]
pub struct Ahead(Mutex<State>);

#[derive(Debug)]
struct State {
    decide: ReadAhead,
    newest: HashMap<SocketAddr, u32>,
    log: Option<BufWriter<File>>,
    summary: Summary,
}

impl Ahead {
    pub fn new(decide: ReadAhead, log: Option<File>) -> Self {
        let mut state = State {
            decide,
            newest: HashMap::new(),
            log: log.map(BufWriter::new),
            summary: Summary {
                is_log_complete: true,
                ..Summary::default()
            },
        };
        state.write(&format!("{HEAD},late\n"));
        Self(Mutex::new(state))
    }

    pub fn decide(&self, request: Request, peer: SocketAddr, xid: u32) -> Decision {
        locked(&self.0).decide(request, peer, xid)
    }

    pub fn repeated(&self) {
        locked(&self.0).summary.repeated_count += 1;
    }

    pub fn summary(&self) -> Summary {
        let mut state = locked(&self.0);
        let flushed = state.log.as_mut().map_or(Ok(()), Write::flush);
        state.summary.is_log_complete &= flushed.is_ok();
        state.summary.clone()
    }
}

impl State {
    fn decide(&mut self, request: Request, peer: SocketAddr, xid: u32) -> Decision {
        let is_late = self.is_late(peer, xid);
        let decision = self.decide.decide(request);
        let summary = &mut self.summary;
        summary.reads_count += 1;
        summary.late_count += u64::from(is_late);
        summary.ahead_b += decision.ahead_b;
        summary.evicted_count += u64::from(decision.evicted.is_some());
        summary.sequential_count += u64::from(decision.sequential_count);
        if self.log.is_some() {
            self.write(&format!("{decision},{}\n", u8::from(is_late)));
        }
        decision
    }

    /// Whether a client has sent a request before one that was taken up earlier.
    fn is_late(&mut self, peer: SocketAddr, xid: u32) -> bool {
        if self.newest.len() == MOST_CLIENTS && !self.newest.contains_key(&peer) {
            self.newest.clear();
        }
        let newest = self.newest.entry(peer).or_insert(xid);
        let is_late = rpc::is_earlier(xid, *newest);
        if !is_late {
            *newest = xid;
        }
        is_late
    }

    fn write(&mut self, line: &str) {
        if let Some(log) = &mut self.log {
            self.summary.is_log_complete &= log.write_all(line.as_bytes()).is_ok();
        }
    }
}
