//! What goes between clients and a server, later than it was sent, or lost on the way.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use readahead::random::SplitMix;

use crate::lock::locked;

/// The most that goes at once: no datagram is larger.
const ROOM_B: usize = 1 << 16;

/// The server behind, and what becomes of what goes there and back.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub listen: SocketAddr,
    pub server: SocketAddr,
    pub delay: Duration,
    /// Of the datagrams each way. A stream loses nothing: that is its kernel's to mend.
    pub loss_percent: u32,
    /// Of what looks like chance.
    pub seed: u64,
}

/// A proxy that runs for as long as the process does.
#[derive(Clone, Copy, Debug)]
pub struct Proxy {
    pub address: SocketAddr,
}

impl Proxy {
    /// Begin to take TCP and UDP.
    ///
    /// # Errors
    /// If the address cannot be had.
    pub fn start(settings: Settings) -> io::Result<Self> {
        let tcp = TcpListener::bind(settings.listen)?;
        let address = tcp.local_addr()?;
        let udp = Arc::new(UdpSocket::bind(address)?);
        thread::spawn(move || {
            for client in tcp.incoming().flatten() {
                // A server that is not there shows as a connection that ends.
                let _ = join(client, settings);
            }
        });
        thread::spawn(move || exchange(&udp, settings));
        Ok(Self { address })
    }
}

/// Bytes, and when they came.
type Sent = (Instant, Vec<u8>);

/// A line that bytes come out of later; `end` is called behind the last of them.
fn line(
    delay: Duration,
    mut deliver: impl FnMut(&[u8]) -> io::Result<()> + Send + 'static,
    end: impl FnOnce() + Send + 'static,
) -> Sender<Sent> {
    let (sender, receiver) = channel::<Sent>();
    thread::spawn(move || {
        for (sent, bytes) in receiver {
            thread::sleep(delay.saturating_sub(sent.elapsed()));
            if deliver(&bytes).is_err() {
                break;
            }
        }
        end();
    });
    sender
}

/// Carry a stream to the server and back.
fn join(client: TcpStream, settings: Settings) -> io::Result<()> {
    let server = TcpStream::connect(settings.server)?;
    let there = (client.try_clone()?, server.try_clone()?);
    for (mut from, mut to) in [there, (server, client)] {
        to.set_nodelay(true)?;
        let ended = to.try_clone()?;
        let end = move || drop(ended.shutdown(Shutdown::Write));
        let way = line(settings.delay, move |bytes| to.write_all(bytes), end);
        thread::spawn(move || {
            let mut room = vec![0; ROOM_B];
            while let Ok(length_b @ 1..) = from.read(&mut room) {
                if way
                    .send((Instant::now(), room[..length_b].to_vec()))
                    .is_err()
                {
                    break;
                }
            }
        });
    }
    Ok(())
}

/// Carry datagrams to the server, for each client from a socket of its own, and back.
fn exchange(socket: &Arc<UdpSocket>, settings: Settings) {
    let chance = Arc::new(Mutex::new(SplitMix(settings.seed)));
    let is_lost = move || locked(&chance).below(100) < settings.loss_percent;
    let mut clients: HashMap<SocketAddr, Sender<Sent>> = HashMap::new();
    let mut room = vec![0; ROOM_B];
    loop {
        // What an earlier datagram met with is told here, too.
        let Ok((length_b, client)) = socket.recv_from(&mut room) else {
            continue;
        };
        if is_lost() {
            continue;
        }
        let way = match clients.get(&client) {
            Some(way) => way.clone(),
            None => match connect(socket, client, settings, is_lost.clone()) {
                Ok(way) => clients.entry(client).or_insert(way).clone(),
                Err(_lost) => continue,
            },
        };
        let _ = way.send((Instant::now(), room[..length_b].to_vec()));
    }
}

fn connect(
    socket: &Arc<UdpSocket>,
    client: SocketAddr,
    settings: Settings,
    is_lost: impl Fn() -> bool + Send + 'static,
) -> io::Result<Sender<Sent>> {
    let mut any = settings.listen;
    any.set_port(0);
    let server = UdpSocket::bind(any)?;
    server.connect(settings.server)?;
    let (there, back) = (server.try_clone()?, Arc::clone(socket));
    // What cannot be sent is lost.
    let deliver = move |bytes: &[u8]| back.send_to(bytes, client).map(drop).or(Ok(()));
    let way_back = line(settings.delay, deliver, || ());
    thread::spawn(move || {
        let mut room = vec![0; ROOM_B];
        loop {
            match server.recv(&mut room) {
                Ok(_) if is_lost() => (),
                Ok(length_b) => {
                    let _ = way_back.send((Instant::now(), room[..length_b].to_vec()));
                }
                // No server is there now.
                Err(_) => (),
            }
        }
    });
    let deliver = move |bytes: &[u8]| there.send(bytes).map(drop).or(Ok(()));
    Ok(line(settings.delay, deliver, || ()))
}
