//! Messages that no client sends: they are refused, and cost neither the server nor others anything.

mod common;

use std::io::{Read, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};

use common::{Asking, Folder, message, session};
use nfs::client::Protocol;
use nfs::protocol::nfs3::{MOUNT, NFS, mount, procedure};
use nfs::protocol::xdr::Write;
use nfs::server::Server;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// A call of each procedure that is well-formed.
fn calls(asking: &Asking) -> Vec<Vec<u8>> {
    let (_, file) = asking.look_up(&asking.root, b"file");
    let mut calls = Vec::new();
    for number in procedure::NULL..=procedure::COMMIT {
        let mut arguments = Vec::new();
        let is_of_file = matches!(number, procedure::READ | procedure::GETATTR);
        arguments.opaque(if is_of_file { &file } else { &asking.root });
        match number {
            procedure::LOOKUP => arguments.opaque(b"file"),
            _ => (0..5).for_each(|_| arguments.word(0x1000)),
        }
        calls.push(message(NFS, number, &arguments));
    }
    for number in mount::NULL..=mount::EXPORT {
        let mut arguments = Vec::new();
        arguments.opaque(b"/");
        calls.push(message(MOUNT, number, &arguments));
    }
    calls
}

#[derive(Clone, Debug)]
enum Damage {
    Cut(prop::sample::Index),
    Byte(prop::sample::Index, u8),
    /// Where lengths stand: the largest, the one that is negative, ...
    Word(prop::sample::Index, u32),
    Insert(prop::sample::Index, Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    let edge = prop::sample::select(vec![
        0,
        1,
        65,
        256,
        1 << 20,
        1 << 31,
        u32::MAX - 3,
        u32::MAX,
    ]);
    prop_oneof![
        at().prop_map(Damage::Cut),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (at(), edge).prop_map(|(at, word)| Damage::Word(at, word)),
        (at(), prop::collection::vec(any::<u8>(), 1..40))
            .prop_map(|(at, it)| Damage::Insert(at, it)),
    ]
}

fn damaged(mut call: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages.iter().cloned() {
        if call.is_empty() {
            break;
        }
        match damage {
            Damage::Cut(at) => call.truncate(at.index(call.len())),
            Damage::Byte(at, byte) => {
                let at = at.index(call.len());
                call[at] = byte;
            }
            Damage::Word(at, word) => {
                let at = at.index(call.len()) & !3;
                let end = call.len().min(at + 4);
                call.splice(at..end, word.to_be_bytes());
            }
            Damage::Insert(at, bytes) => {
                let at = at.index(call.len());
                call.splice(at..at, bytes);
            }
        }
    }
    call
}

#[test]
fn damaged_calls_get_a_reply_or_none() {
    let folder = Folder::new();
    folder.file("file", 10_000);
    let asking = Asking::of(&folder);
    let calls = calls(&asking);
    let damages = prop::collection::vec(damage(), 1..6);
    proptest!(|(nth in 0..calls.len(), damages in damages)| {
        let call = damaged(calls[nth].clone(), &damages);
        let reply = asking.reply(&call);
        // A reply names the call that it answers.
        prop_assert!(reply.is_empty() || reply[..4] == call[..4]);
        prop_assert!(reply.len() % 4 == 0 && reply.len() < (1 << 20) + 4096);
        // It can be asked for something else.
        prop_assert!(!asking.reply(&calls[0]).is_empty());
    });
}

#[test]
fn whatever_arrives_is_no_call() {
    let asking = Asking::of(&Folder::new());
    proptest!(|(bytes in prop::collection::vec(any::<u8>(), 0..200))| {
        let reply = asking.reply(&bytes);
        prop_assert!(reply.is_empty() || reply.len() >= 24);
    });
}

/// Whether a client that behaves is served.
fn serves(server: &Server, protocol: Protocol) {
    let session = session(server.address, protocol);
    let (handle, found) = session.look_up("file").expect("it is there");
    assert_eq!(found.size_b, 10_000);
    let data = session
        .read(session.number(), &handle, 0, 100)
        .expect("it can be read");
    assert_eq!(data.len(), 100);
}

/// Send bytes and wait for the server to hang up, or for one of its replies.
fn send(server: SocketAddr, bytes: &[u8], is_end: bool) {
    let mut socket = TcpStream::connect(server).expect("the server listens");
    // The server may hang up before all is sent.
    let _ = socket.write_all(bytes);
    if is_end {
        let _ = socket.shutdown(std::net::Shutdown::Write);
    }
    let _ = socket.read(&mut [0; 4]);
}

#[test]
fn a_stream_of_garbage_ends_and_others_are_served() {
    let folder = Folder::new();
    folder.file("file", 10_000);
    let server = folder.serve();
    let last = 1_u32 << 31;
    // Longer than any call; parts without bytes; a call that is none; a mark of 2 GiB.
    for words in [
        vec![last | 0x7fff_ffff],
        vec![0, 0, 0],
        vec![last | 8, 1, 2],
        vec![0x7fff_ffff],
    ] {
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_be_bytes).collect();
        send(server.address, &bytes, false);
    }
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..100 {
        let bytes = prop::collection::vec(any::<u8>(), 0..3000).new_tree(&mut runner);
        send(server.address, &bytes.expect("bytes").current(), true);
    }
    serves(&server, Protocol::Tcp);
    common::wait_until(
        || server.connections() == 0,
        "the server keeps connections that ended",
    );
}

#[test]
fn a_call_in_many_parts_is_one_call() {
    let folder = Folder::new();
    let server = folder.serve();
    let call = message(NFS, procedure::NULL, &[]);
    let mut socket = TcpStream::connect(server.address).expect("the server listens");
    socket.set_nodelay(true).expect("an option");
    let (last, others) = call.split_last().expect("it has bytes");
    for byte in others {
        socket
            .write_all(&[0, 0, 0, 1, *byte])
            .expect("the server reads");
    }
    socket
        .write_all(&[0x80, 0, 0, 1, *last])
        .expect("the server reads");
    let mut reply = [0; 28];
    socket.read_exact(&mut reply).expect("a reply");
    assert_eq!(reply[..8], [0x80, 0, 0, 24, 0, 0, 0, 7]);
}

#[test]
fn datagrams_of_garbage_are_dropped_and_others_are_served() {
    let folder = Folder::new();
    folder.file("file", 10_000);
    let server = folder.serve();
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..200 {
        let bytes = prop::collection::vec(any::<u8>(), 0..3000).new_tree(&mut runner);
        let _ = socket.send_to(&bytes.expect("bytes").current(), server.address);
    }
    serves(&server, Protocol::Udp);
}
