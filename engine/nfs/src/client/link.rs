//! The way to a server that many calls share: over TCP, or over UDP with calls that are sent again.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::lock::locked;
use crate::protocol::rpc::{self, LAST_PART, MARK_B};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    #[default]
    Tcp,
    Udp,
}

/// A call over UDP is sent so often, with twice as long a wait each time up to the longest.
const TRIES: u32 = 10;
const LONGEST: Duration = Duration::from_secs(60);

/// The most bytes of a reply: those of a read, and what stands before them.
const MOST_REPLY_B: usize = (1 << 20) + 4096;

/// How often who receives looks whether there is an end.
const LOOK: Duration = Duration::from_millis(100);

/// What went over a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Calls, and those of them that went behind one with a later number.
    pub sent_count: u64,
    pub sent_late_count: u64,
    /// Calls that were sent again, each time.
    pub resent_count: u64,
    /// Replies to calls that had one.
    pub stray_count: u64,
}

#[derive(Debug)]
pub struct Link {
    shared: Arc<Shared>,
    /// A call over UDP is sent again after so long.
    timeout: Duration,
    receiver: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    socket: Socket,
    sending: Mutex<Sending>,
    waiting: Mutex<Waiting>,
    strays: AtomicU64,
    is_over: AtomicBool,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

#[derive(Debug, Default)]
struct Sending {
    tally: Tally,
    newest: Option<u32>,
}

/// Who waits for the reply to which call; nobody, once no reply can come.
#[derive(Debug)]
struct Waiting(Option<HashMap<u32, Sender<Vec<u8>>>>);

impl Link {
    /// # Errors
    /// What the system says of the address.
    pub fn new(server: SocketAddr, protocol: Protocol, timeout: Duration) -> io::Result<Self> {
        let socket = match protocol {
            Protocol::Tcp => {
                let socket = TcpStream::connect(server)?;
                socket.set_nodelay(true)?;
                socket.set_read_timeout(Some(LOOK))?;
                Socket::Tcp(socket)
            }
            Protocol::Udp => {
                let any: SocketAddr = match server {
                    SocketAddr::V4(_) => ([0; 4], 0).into(),
                    SocketAddr::V6(_) => ([0; 16], 0).into(),
                };
                let socket = UdpSocket::bind(any)?;
                socket.connect(server)?;
                socket.set_read_timeout(Some(LOOK))?;
                Socket::Udp(socket)
            }
        };
        let shared = Arc::new(Shared {
            socket,
            sending: Mutex::default(),
            waiting: Mutex::new(Waiting(Some(HashMap::new()))),
            strays: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        });
        let receiver = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                while let Ok(reply) = shared.receive() {
                    shared.hand_over(reply);
                }
                locked(&shared.waiting).0 = None;
            }
        });
        Ok(Self {
            shared,
            timeout: timeout.min(LONGEST),
            receiver: Some(receiver),
        })
    }

    /// Send a call, which begins with its number, and wait for the reply.
    ///
    /// # Errors
    /// If the server has gone, or over UDP does not answer.
    pub fn call(&self, xid: u32, call: &[u8]) -> io::Result<Vec<u8>> {
        let (sender, reply) = channel();
        match &mut locked(&self.shared.waiting).0 {
            Some(waiting) => waiting.insert(xid, sender),
            None => return Err(ErrorKind::ConnectionReset.into()),
        };
        let result = match self.shared.socket {
            Socket::Tcp(_) => self.ask_once(xid, call, &reply),
            Socket::Udp(_) => self.ask_again(xid, call, &reply),
        };
        if let Some(waiting) = &mut locked(&self.shared.waiting).0 {
            waiting.remove(&xid);
        }
        result
    }

    /// A stream brings the reply, or ends.
    fn ask_once(&self, xid: u32, call: &[u8], reply: &Receiver<Vec<u8>>) -> io::Result<Vec<u8>> {
        self.shared.send(xid, call, false)?;
        reply
            .recv()
            .map_err(|_gone| ErrorKind::ConnectionReset.into())
    }

    fn ask_again(&self, xid: u32, call: &[u8], reply: &Receiver<Vec<u8>>) -> io::Result<Vec<u8>> {
        let mut timeout = self.timeout;
        for nth in 0..TRIES {
            self.shared.send(xid, call, nth > 0)?;
            match reply.recv_timeout(timeout) {
                Ok(reply) => return Ok(reply),
                Err(RecvTimeoutError::Timeout) => timeout = LONGEST.min(2 * timeout),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Err(ErrorKind::TimedOut.into())
    }

    pub fn tally(&self) -> Tally {
        Tally {
            stray_count: self.shared.strays.load(Ordering::Relaxed),
            ..locked(&self.shared.sending).tally
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(receiver) = self.receiver.take() {
            let _ = receiver.join();
        }
    }
}

impl Shared {
    fn send(&self, xid: u32, call: &[u8], is_again: bool) -> io::Result<()> {
        let mut sending = locked(&self.sending);
        if is_again {
            sending.tally.resent_count += 1;
        } else {
            let newest = *sending.newest.get_or_insert(xid);
            let is_late = rpc::is_earlier(xid, newest);
            sending.tally.sent_count += 1;
            sending.tally.sent_late_count += u64::from(is_late);
            if !is_late {
                sending.newest = Some(xid);
            }
        }
        match &self.socket {
            Socket::Udp(socket) => match socket.send(call) {
                // Nobody was there for the one before; somebody may be by the time of the next.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(()),
                sent => sent.map(drop),
            },
            Socket::Tcp(socket) => {
                let mark = (call.len() as u32 | LAST_PART).to_be_bytes();
                let mut socket: &TcpStream = socket;
                socket.write_all(&[&mark, call].concat())
            }
        }
    }

    fn receive(&self) -> io::Result<Vec<u8>> {
        match &self.socket {
            Socket::Tcp(socket) => self.receive_parts(socket),
            Socket::Udp(socket) => {
                let mut reply = vec![0; MOST_REPLY_B.min(usize::from(u16::MAX))];
                let length_b = self.patiently(|| socket.recv(&mut reply))?;
                reply.truncate(length_b);
                Ok(reply)
            }
        }
    }

    fn receive_parts(&self, socket: &TcpStream) -> io::Result<Vec<u8>> {
        let mut reply = Vec::new();
        loop {
            let mut mark = [0; MARK_B];
            self.fill(socket, &mut mark)?;
            let mark = u32::from_be_bytes(mark);
            let begin = reply.len();
            let end = begin + (mark & !LAST_PART) as usize;
            if end > MOST_REPLY_B {
                return Err(ErrorKind::InvalidData.into());
            }
            reply.resize(end, 0);
            self.fill(socket, &mut reply[begin..])?;
            if mark & LAST_PART != 0 {
                return Ok(reply);
            }
        }
    }

    fn fill(&self, mut socket: &TcpStream, room: &mut [u8]) -> io::Result<()> {
        let mut got_b = 0;
        while got_b < room.len() {
            match self.patiently(|| socket.read(&mut room[got_b..]))? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                more_b => got_b += more_b,
            }
        }
        Ok(())
    }

    /// Receive, for as long as there is no end.
    fn patiently(&self, mut receive: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
        while !self.is_over.load(Ordering::Relaxed) {
            match receive() {
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::Interrupted => (),
                    ErrorKind::ConnectionRefused => (),
                    _ => return Err(error),
                },
                received => return received,
            }
        }
        Err(ErrorKind::ConnectionAborted.into())
    }

    fn hand_over(&self, reply: Vec<u8>) {
        let waiting = rpc::xid_of(&reply).and_then(|xid| match &mut locked(&self.waiting).0 {
            Some(waiting) => waiting.remove(&xid),
            None => None,
        });
        let is_taken = waiting.is_some_and(|waiting| waiting.send(reply).is_ok());
        if !is_taken {
            self.strays.fetch_add(1, Ordering::Relaxed);
        }
    }
}
