//! A connection on which nothing is waited for longer than until a time that is set.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::sys;

pub struct Timely {
    socket: TcpStream,
    until: Instant,
}

impl Timely {
    /// Waits for nothing yet.
    pub fn new(socket: TcpStream) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        sys::notice_silence(&socket)?;
        let until = Instant::now();
        Ok(Self { socket, until })
    }

    /// From now on wait for so long, in all.
    pub fn allow(&mut self, time: Duration) {
        self.until = Instant::now() + time;
    }

    /// Wait for as long as it takes until something arrives, or the other side is gone.
    pub fn wait(&self) -> io::Result<()> {
        self.socket.set_read_timeout(None)?;
        self.socket.peek(&mut [0]).map(drop)
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        match self.until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(silent()),
            left => Ok(Some(left)),
        }
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
        self.socket.set_read_timeout(self.left()?)?;
        timed(self.socket.read(into))
    }
}

impl Write for Timely {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        timed(self.socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}
