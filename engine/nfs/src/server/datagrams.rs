//! Clients over UDP: each call is a datagram, and one that is not answered in time comes again.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
use std::sync::Mutex;

use crate::lock::locked;

/// The most bytes of a datagram.
pub const MOST_DATAGRAM_B: usize = 65_535;

/// Calls that are remembered.
const MOST_CALLS: usize = 4096;

/// What a datagram is, beside those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    New,
    /// Its reply was sent, and may be lost.
    Answered,
    /// Its reply will be sent.
    UnderWay,
}

/// Calls that came lately: by who sent them, and their bytes.
#[derive(Debug, Default)]
pub struct Calls(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    is_answered: HashMap<Key, bool>,
    oldest: VecDeque<Key>,
}

type Key = (SocketAddr, u64);

fn key(peer: SocketAddr, call: &[u8]) -> Key {
    let mut hasher = DefaultHasher::new();
    call.hash(&mut hasher);
    (peer, hasher.finish())
}

impl Calls {
    pub fn arrived(&self, peer: SocketAddr, call: &[u8]) -> Arrival {
        let key = key(peer, call);
        let mut known = locked(&self.0);
        match known.is_answered.get(&key) {
            Some(true) => return Arrival::Answered,
            Some(false) => return Arrival::UnderWay,
            None => (),
        }
        if known.oldest.len() == MOST_CALLS {
            let oldest = known.oldest.pop_front();
            oldest.map(|oldest| known.is_answered.remove(&oldest));
        }
        known.oldest.push_back(key);
        known.is_answered.insert(key, false);
        Arrival::New
    }

    pub fn answered(&self, peer: SocketAddr, call: &[u8]) {
        if let Some(is_answered) = locked(&self.0).is_answered.get_mut(&key(peer, call)) {
            *is_answered = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(port: u16) -> SocketAddr {
        ([127, 0, 0, 1], port).into()
    }

    #[test]
    fn a_call_that_comes_again_is_known() {
        let calls = Calls::default();
        assert_eq!(calls.arrived(peer(1), b"call"), Arrival::New);
        assert_eq!(calls.arrived(peer(1), b"call"), Arrival::UnderWay);
        calls.answered(peer(1), b"call");
        assert_eq!(calls.arrived(peer(1), b"call"), Arrival::Answered);
        assert_eq!(calls.arrived(peer(2), b"call"), Arrival::New);
        assert_eq!(calls.arrived(peer(1), b"another"), Arrival::New);
    }

    #[test]
    fn calls_do_not_fill_the_memory() {
        let calls = Calls::default();
        for nth in 0..3 * MOST_CALLS {
            calls.arrived(peer(1), &nth.to_be_bytes());
        }
        assert_eq!(locked(&calls.0).is_answered.len(), MOST_CALLS);
    }
}
