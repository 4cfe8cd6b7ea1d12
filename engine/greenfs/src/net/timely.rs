//! A connection on which nothing is waited for longer than until a time that is set.

use std::cell::Cell;
use std::io::{self, BufReader, IoSlice, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::sys;

/// So much is received at once. TLS asks for a sixteenth of it.
const RECEIVED_B: usize = 64 << 10;

/// A time-out of the socket that is so near to what is left stays, as to set it takes a system call.
const NEAR: Duration = Duration::from_millis(20);

pub struct Timely {
    socket: BufReader<TcpStream>,
    until: Instant,
    /// The time-outs that the socket has; none is zero.
    reads: Cell<Duration>,
    writes: Cell<Duration>,
}

impl Timely {
    /// Waits for nothing yet.
    pub fn new(socket: TcpStream) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        sys::notice_silence(&socket)?;
        Ok(Self {
            socket: BufReader::with_capacity(RECEIVED_B, socket),
            until: Instant::now(),
            reads: Cell::default(),
            writes: Cell::default(),
        })
    }

    /// From now on wait for so long, in all.
    pub fn allow(&mut self, time: Duration) {
        self.until = Instant::now() + time;
    }

    /// Wait for as long as it takes until something arrives, or the other side is gone.
    pub fn wait(&self) -> io::Result<()> {
        match self.socket.buffer().is_empty() {
            true => sys::wait_to_read(self.socket.get_ref()),
            false => Ok(()),
        }
    }

    /// Have the socket wait no longer than is left.
    fn limit(
        &self,
        set: &Cell<Duration>,
        by: fn(&TcpStream, Option<Duration>) -> io::Result<()>,
    ) -> io::Result<()> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(silent());
        }
        if left.abs_diff(set.get()) > NEAR || set.get().is_zero() {
            by(self.socket.get_ref(), Some(left))?;
            set.set(left);
        }
        Ok(())
    }

    fn limit_writes(&self) -> io::Result<()> {
        self.limit(&self.writes, TcpStream::set_write_timeout)
    }
}

fn silent() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the other side does not answer")
}

fn timed<T>(done: io::Result<T>) -> io::Result<T> {
    done.map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => silent(),
        _ => error,
    })
}

impl Read for Timely {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.socket.buffer().is_empty() {
            self.limit(&self.reads, TcpStream::set_read_timeout)?;
        }
        timed(self.socket.read(into))
    }
}

impl Write for Timely {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.limit_writes()?;
        timed(self.socket.get_mut().write(bytes))
    }

    /// The records of TLS together.
    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.limit_writes()?;
        timed(self.socket.get_mut().write_vectored(pieces))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.get_mut().flush()
    }
}
