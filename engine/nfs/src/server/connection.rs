//! A client over TCP: what came from it, and what is to go to it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;

use crate::lock::locked;
use crate::protocol::rpc::{LAST_PART, MARK_B};
use crate::sys::{Poll, READABLE, WRITABLE};

/// No call to a server that takes no data is longer; writes are answered, too, to say so.
const MOST_CALL_B: usize = (1 << 20) + 4096;

/// A client that does not take its replies is not read from, beyond so many bytes.
const MOST_BACKLOG_B: usize = 4 << 20;

/// Room is made as bytes arrive, not as they are promised.
const STEP_B: usize = 64 << 10;

#[derive(Debug)]
pub struct Connection {
    socket: TcpStream,
    pub peer: SocketAddr,
    token: u64,
    coming: Mutex<Coming>,
    going: Mutex<Vec<u8>>,
}

/// A call of which not all has arrived.
#[derive(Debug, Default)]
struct Coming {
    mark: Vec<u8>,
    call: Vec<u8>,
    /// Of the part that arrives now.
    missing_b: usize,
    is_last: bool,
}

impl Connection {
    pub fn new(socket: TcpStream, peer: SocketAddr, token: u64) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        Ok(Self {
            socket,
            peer,
            token,
            coming: Mutex::default(),
            going: Mutex::default(),
        })
    }

    pub fn watch(&self, poll: &Poll) -> io::Result<()> {
        poll.add(&self.socket, self.token, READABLE)
    }

    /// Take the next call, if all of it is there, and have the poll look again.
    ///
    /// # Errors
    /// If the client has gone, or what it sends is no call.
    pub fn take(&self, poll: &Poll) -> io::Result<Option<Vec<u8>>> {
        let mut coming = locked(&self.coming);
        let call = match coming.read(&self.socket) {
            Ok(call) => Some(call),
            Err(error) if error.kind() == ErrorKind::WouldBlock => None,
            Err(error) => return Err(error),
        };
        drop(coming);
        self.look_again(poll, &locked(&self.going))?;
        Ok(call)
    }

    /// Send a reply, or keep what does not go yet.
    ///
    /// # Errors
    /// If the client has gone.
    pub fn send(&self, reply: &[u8], poll: &Poll) -> io::Result<()> {
        let mut going = locked(&self.going);
        let sent_b = if going.is_empty() {
            self.write(reply)?
        } else {
            0
        };
        if sent_b < reply.len() {
            going.extend_from_slice(&reply[sent_b..]);
            self.look_again(poll, &going)?;
        }
        Ok(())
    }

    /// Send what was kept.
    ///
    /// # Errors
    /// If the client has gone.
    pub fn flush(&self) -> io::Result<()> {
        let mut going = locked(&self.going);
        if !going.is_empty() {
            let sent_b = self.write(&going)?;
            going.drain(..sent_b);
        }
        Ok(())
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut sent_b = 0;
        while sent_b < bytes.len() {
            match (&self.socket).write(&bytes[sent_b..]) {
                Ok(more_b) => sent_b += more_b,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
        Ok(sent_b)
    }

    /// Whoever holds what is going says what is looked for, so that the last to say it is right.
    fn look_again(&self, poll: &Poll, going: &[u8]) -> io::Result<()> {
        let readable = if going.len() < MOST_BACKLOG_B {
            READABLE
        } else {
            0
        };
        let writable = if going.is_empty() { 0 } else { WRITABLE };
        poll.again(&self.socket, self.token, readable | writable)
    }
}

impl Coming {
    /// The next call. Exactly its bytes are read, so that the poll tells of those behind it.
    fn read(&mut self, socket: &TcpStream) -> io::Result<Vec<u8>> {
        loop {
            while self.missing_b > 0 {
                let step_b = self.missing_b.min(STEP_B);
                self.missing_b -= read_more(socket, &mut self.call, step_b)?;
            }
            if self.is_last {
                self.is_last = false;
                return Ok(std::mem::take(&mut self.call));
            }
            while self.mark.len() < MARK_B {
                let missing_b = MARK_B - self.mark.len();
                read_more(socket, &mut self.mark, missing_b)?;
            }
            let mark = self
                .mark
                .drain(..)
                .fold(0, |mark, byte| mark << 8 | u32::from(byte));
            self.is_last = mark & LAST_PART != 0;
            self.missing_b = (mark & !LAST_PART) as usize;
            // Parts without bytes would keep a daemon busy, and bring nothing.
            let is_empty = self.missing_b == 0 && !self.is_last;
            if is_empty || self.call.len() + self.missing_b > MOST_CALL_B {
                return Err(ErrorKind::InvalidData.into());
            }
        }
    }
}

/// Read up to so many bytes behind those that there are.
fn read_more(mut socket: &TcpStream, into: &mut Vec<u8>, most_b: usize) -> io::Result<usize> {
    let before = into.len();
    into.resize(before + most_b, 0);
    let read = loop {
        match socket.read(&mut into[before..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => (),
            read => break read,
        }
    };
    into.truncate(before + *read.as_ref().unwrap_or(&0));
    match read? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        read_b => Ok(read_b),
    }
}
