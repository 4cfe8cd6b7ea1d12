//! What each daemon does: it takes one request at a time, from whoever sent one, and answers it.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::connection::Connection;
use super::datagrams::{Arrival, Calls, MOST_DATAGRAM_B};
use crate::export::{Asked, Export, answer};
use crate::lock::locked;
use crate::protocol::rpc::{LAST_PART, MARK_B};
use crate::sys::{self, Poll, READABLE, WRITABLE};

/// The most bytes that a read over TCP gets, and over UDP, where a reply is one datagram.
const MOST_READ_B: u32 = 1 << 20;
const MOST_READ_UDP_B: u32 = 32 << 10;

const STOP: u64 = 0;
const TCP: u64 = 1;
const UDP: u64 = 2;
const FIRST_CONNECTION: u64 = 3;

/// When no connection can be taken, how long a daemon waits before it tries again.
const FULL: Duration = Duration::from_millis(20);

/// What all daemons work on.
#[derive(Debug)]
pub struct Shared {
    pub export: Export,
    poll: Poll,
    tcp: TcpListener,
    udp: UdpSocket,
    calls: Calls,
    connections: Mutex<HashMap<u64, Arc<Connection>>>,
    most_connections: usize,
    taken: AtomicU64,
}

impl Shared {
    /// `stop` stays open, and can be read from once all is to end.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn new(
        export: Export,
        (tcp, udp): (TcpListener, UdpSocket),
        stop: &UnixStream,
        most_connections: usize,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        tcp.set_nonblocking(true)?;
        udp.set_nonblocking(true)?;
        poll.add_for_all(stop, STOP)?;
        poll.add(&tcp, TCP, READABLE)?;
        poll.add(&udp, UDP, READABLE)?;
        Ok(Self {
            export,
            poll,
            tcp,
            udp,
            calls: Calls::default(),
            connections: Mutex::default(),
            most_connections,
            taken: AtomicU64::new(0),
        })
    }

    pub fn connections(&self) -> usize {
        locked(&self.connections).len()
    }

    /// Work until all is to end.
    ///
    /// # Errors
    /// If the kernel tells no longer of what there is to do.
    pub fn work(&self) -> io::Result<()> {
        let mut room = vec![0; MOST_DATAGRAM_B];
        let mut reply = Vec::new();
        loop {
            match self.poll.wait()? {
                (STOP, _) => return Ok(()),
                (TCP, _) => self.accept()?,
                (UDP, _) => self.datagram(&mut room, &mut reply)?,
                (token, events) => {
                    let connection = locked(&self.connections).get(&token).cloned();
                    let served =
                        connection.map_or(Ok(()), |one| self.serve(&one, events, &mut reply));
                    if served.is_err() {
                        locked(&self.connections).remove(&token);
                    }
                }
            }
        }
    }

    fn accept(&self) -> io::Result<()> {
        match self.tcp.accept() {
            Ok((socket, peer)) if self.connections() < self.most_connections => {
                let token = FIRST_CONNECTION + self.taken.fetch_add(1, Ordering::Relaxed);
                // One that is gone already is no loss.
                if sys::keep_alive(&socket).is_ok() {
                    if let Ok(connection) = Connection::new(socket, peer, token) {
                        let connection = Arc::new(connection);
                        locked(&self.connections).insert(token, Arc::clone(&connection));
                        if connection.watch(&self.poll).is_err() {
                            locked(&self.connections).remove(&token);
                        }
                    }
                }
            }
            Ok(_one_too_many) => (),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => (),
            Err(_) => thread::sleep(FULL),
        }
        self.poll.again(&self.tcp, TCP, READABLE)
    }

    fn serve(&self, one: &Connection, events: u32, reply: &mut Vec<u8>) -> io::Result<()> {
        if events & WRITABLE != 0 {
            one.flush()?;
        }
        let Some(call) = one.take(&self.poll)? else {
            return Ok(());
        };
        reply.clear();
        reply.extend([0; MARK_B]);
        let asked = Asked {
            peer: one.peer,
            most_b: MOST_READ_B,
            is_repeated: false,
        };
        answer(&self.export, &call, asked, reply);
        let length_b = reply.len() - MARK_B;
        if length_b == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        reply[..MARK_B].copy_from_slice(&(length_b as u32 | LAST_PART).to_be_bytes());
        one.send(reply, &self.poll)
    }

    fn datagram(&self, room: &mut [u8], reply: &mut Vec<u8>) -> io::Result<()> {
        let received = self.udp.recv_from(room);
        self.poll.again(&self.udp, UDP, READABLE)?;
        // What a datagram before this one met with is told here, too; it is no loss.
        if let Ok((length_b, peer)) = received {
            self.answer_datagram(&room[..length_b], peer, reply);
        }
        Ok(())
    }

    fn answer_datagram(&self, call: &[u8], peer: SocketAddr, reply: &mut Vec<u8>) {
        let arrival = self.calls.arrived(peer, call);
        if arrival == Arrival::UnderWay {
            return;
        }
        reply.clear();
        let asked = Asked {
            peer,
            most_b: MOST_READ_UDP_B,
            is_repeated: arrival == Arrival::Answered,
        };
        answer(&self.export, call, asked, reply);
        if !reply.is_empty() {
            // A reply that is lost here is lost as on the way.
            let _ = self.udp.send_to(reply, peer);
        }
        self.calls.answered(peer, call);
    }
}
