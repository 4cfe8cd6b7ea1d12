//! Meeting the other clients of a run on several machines (`domultisync`).
//!
//! A client sends `cmd=SYNC,id=xyzzy,name=NAME,sample=N` and a newline to the master, which
//! answers with a line once all clients have done so.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::clock::{SECOND_NS, now_ns};
use crate::failure::Failure;
use crate::model::Multi;
use crate::run::Halt;
use crate::signals;
use crate::stderr::say;

const PORT: u16 = 8001;
const CONNECT: Duration = Duration::from_secs(10);
/// The others may still create their files.
const PATIENCE_NS: u64 = 3600 * SECOND_NS;
const POLL: Duration = Duration::from_millis(100);

pub struct Peers {
    connection: TcpStream,
    master: String,
    client: String,
    /// What came behind the last line.
    received: Vec<u8>,
}

/// Connect to the first address that answers: a name may have some at which nobody listens.
fn reach(addresses: impl Iterator<Item = SocketAddr>) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "it has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(connection) => return Ok(connection),
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Peers {
    pub fn connect(multi: &Multi) -> Result<Self, Failure> {
        let master = &multi.master;
        let cannot = |error| {
            Failure::io(format!("cannot reach the master {master}:{PORT}"), &error)
                .next("start the master first, and let its port through the firewall")
        };
        let addresses = (master.as_str(), PORT).to_socket_addrs().map_err(cannot)?;
        let connection = reach(addresses).map_err(cannot)?;
        let prepared = connection.set_read_timeout(Some(POLL));
        prepared.and(connection.set_nodelay(true)).map_err(cannot)?;
        Ok(Self {
            connection,
            master: master.clone(),
            client: multi.client.clone(),
            received: Vec::new(),
        })
    }

    /// Say that this client is here, and wait until the master lets all go on.
    pub fn meet(&mut self, value: u64) -> Result<(), Halt> {
        let line = format!("cmd=SYNC,id=xyzzy,name={},sample={value}\n", self.client);
        let sent = self.connection.write_all(line.as_bytes());
        sent.map_err(|error| self.lost(&error.to_string()))?;
        say!(
            "fsgreen-wml: waiting for the other clients of {}",
            self.master
        );
        let deadline_ns = now_ns() + PATIENCE_NS;
        loop {
            if let Some(end) = self.received.iter().position(|&byte| byte == b'\n') {
                self.received.drain(..=end);
                return Ok(());
            }
            if let Some(name) = signals::pending() {
                return Err(Halt::by_signal(name));
            }
            if now_ns() > deadline_ns {
                return Err(self.lost("no answer within an hour").into());
            }
            self.receive()?;
        }
    }

    fn receive(&mut self) -> Result<(), Failure> {
        let mut piece = [0; 256];
        match self.connection.read(&mut piece) {
            Ok(0) => Err(self.lost("it closed the connection")),
            Ok(length) => {
                self.received.extend_from_slice(&piece[..length]);
                Ok(())
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => Ok(()),
                _ => Err(self.lost(&error.to_string())),
            },
        }
    }

    fn lost(&self, why: &str) -> Failure {
        let message = format!("domultisync: the master {}:{PORT}: {why}", self.master);
        Failure::new(message, "look at the master, then start all clients again")
    }
}
