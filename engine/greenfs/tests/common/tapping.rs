//! A wire to a server that counts what goes over it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Passes on what comes, until the test ends.
pub struct Tap {
    /// `127.0.0.1:PORT`.
    pub address: String,
    passed_b: Arc<AtomicU64>,
}

impl Tap {
    /// A tap on the way to an address, where nobody need be yet.
    pub fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let address = listener.local_addr().expect("it is bound").to_string();
        let passed_b = Arc::new(AtomicU64::new(0));
        let (server, passed) = (server.to_owned(), Arc::clone(&passed_b));
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(&server) else {
                    continue;
                };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let clone = |end: &TcpStream| end.try_clone().expect("it is open");
                    let (from, to, passed) = (clone(from), clone(to), Arc::clone(&passed));
                    thread::spawn(move || pass(from, to, &passed));
                }
            }
        });
        Self { address, passed_b }
    }

    pub fn url(&self) -> String {
        format!("greenfs://{}", self.address)
    }

    /// Bytes in both directions, TLS included.
    pub fn passed_b(&self) -> u64 {
        self.passed_b.load(Ordering::Relaxed)
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, passed: &AtomicU64) {
    let mut piece = vec![0; 1 << 16];
    while let Ok(had) = from.read(&mut piece) {
        if had == 0 || to.write_all(&piece[..had]).is_err() {
            break;
        }
        passed.fetch_add(had as u64, Ordering::Relaxed);
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
