//! A folder that is served, and calls that are made by hand.
#![allow(dead_code)] // Each test uses a part of it.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nfs::client::{Load, Protocol, Session};
use nfs::export::{Asked, Export, answer};
use nfs::protocol::nfs3::{MOUNT, NFS, Status, mount, procedure};
use nfs::protocol::rpc;
use nfs::protocol::xdr::{Reader, Write};
use nfs::server::{Server, Settings};
use readahead::{Heuristic, Order};

pub const MIB: usize = 1 << 20;

/// A folder that goes at the end of a test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let nth = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("nfs-test-{}-{nth}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }

    /// A file of bytes that are nowhere the same, and those bytes.
    pub fn file(&self, name: &str, size_b: usize) -> Vec<u8> {
        let mut random = readahead::random::SplitMix(size_b as u64);
        let bytes: Vec<u8> = (0..size_b.div_ceil(8))
            .flat_map(|_| random.number().to_le_bytes())
            .take(size_b)
            .collect();
        fs::write(self.0.join(name), &bytes).expect("the file can be written");
        bytes
    }

    pub fn settings(&self) -> Settings {
        Settings {
            folder: self.0.clone(),
            listen: ([127, 0, 0, 1], 0).into(),
            daemons: 4,
            read_ahead: readahead::Settings {
                heuristic: Heuristic::Cursors,
                ..readahead::Settings::default()
            },
            log: None,
        }
    }

    pub fn serve(&self) -> Server {
        Server::start(&self.settings()).expect("the folder can be served")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn session(server: SocketAddr, protocol: Protocol) -> Session {
    Session::mount(&server.into(), protocol, Duration::from_millis(200))
        .expect("the server answers")
}

/// Files that are read whole, 8 KiB at a time.
pub fn load(files: &[&str]) -> Load {
    Load {
        files: files.iter().map(|&file| file.to_owned()).collect(),
        mib: 0,
        read_kib: 8,
        strides: 1,
        order: Order::InTurn,
        late_percent: 0,
        late_places: 1,
        ahead: 4,
        workers: 4,
        busy: 0,
    }
}

/// Wait for what must come: a busy machine takes longer, and a failure two minutes.
pub fn wait_until(is_so: impl Fn() -> bool, what: &str) {
    let end = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// What is served, asked without a socket.
pub struct Asking {
    pub export: Export,
    pub root: Vec<u8>,
}

pub const XID: u32 = 7;

pub fn asked() -> Asked {
    Asked {
        peer: ([127, 0, 0, 1], 1).into(),
        most_b: 1 << 20,
        is_repeated: false,
    }
}

/// A call as it goes over the wire.
pub fn message(program: (u32, u32), procedure: u32, arguments: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    rpc::put_call(&mut message, XID, program, procedure);
    message.extend_from_slice(arguments);
    message
}

impl Asking {
    pub fn of(folder: &Folder) -> Self {
        let export = Export::new(&folder.0, &readahead::Settings::default(), None);
        let mut asking = Self {
            export: export.expect("the folder is there"),
            root: Vec::new(),
        };
        let mut path = Vec::new();
        path.opaque(b"/");
        let (status, rest) = asking.done(MOUNT, mount::MNT, &path);
        assert_eq!(status, Status::Ok as u32);
        asking.root = Reader::new(&rest).opaque(64).expect("a handle").to_vec();
        asking
    }

    pub fn reply(&self, message: &[u8]) -> Vec<u8> {
        let mut reply = Vec::new();
        answer(&self.export, message, asked(), &mut reply);
        reply
    }

    /// The status of what was done, and what stands behind it.
    pub fn done(&self, program: (u32, u32), procedure: u32, arguments: &[u8]) -> (u32, Vec<u8>) {
        let reply = self.reply(&message(program, procedure, arguments));
        let mut results = rpc::results(&reply).expect("the call is done");
        (results.word().expect("a status"), results.rest().to_vec())
    }

    /// The status, and the handle if a name is there.
    pub fn look_up(&self, folder: &[u8], name: &[u8]) -> (u32, Vec<u8>) {
        let mut arguments = Vec::new();
        arguments.opaque(folder);
        arguments.opaque(name);
        let (status, rest) = self.done(NFS, procedure::LOOKUP, &arguments);
        (
            status,
            Reader::new(&rest).opaque(64).unwrap_or_default().to_vec(),
        )
    }
}
