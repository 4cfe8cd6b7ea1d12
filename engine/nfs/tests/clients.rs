//! Many clients, and clients that go.

mod common;

use std::io::{Read, Write as _};
use std::net::TcpStream;

use common::{Folder, MIB, message, session, wait_until};
use nfs::client::Protocol;
use nfs::protocol::nfs3::{NFS, procedure};
use nfs::protocol::rpc::LAST_PART;
use nfs::protocol::xdr::Write;

/// A call with the mark before it.
fn marked(call: &[u8]) -> Vec<u8> {
    [&(call.len() as u32 | LAST_PART).to_be_bytes(), call].concat()
}

#[test]
fn a_thousand_clients_are_served_side_by_side() {
    let folder = Folder::new();
    let server = folder.serve();
    let null = marked(&message(NFS, procedure::NULL, &[]));
    let connect = |_| TcpStream::connect(server.address).expect("the server listens");
    let mut clients: Vec<_> = (0..1000).map(connect).collect();
    for client in &mut clients {
        client.write_all(&null).expect("the server reads");
    }
    for client in &mut clients {
        let mut reply = [0; 28];
        client.read_exact(&mut reply).expect("a reply");
        assert_eq!(reply[4..8], common::XID.to_be_bytes());
    }
    assert_eq!(server.connections(), 1000);
    drop(clients);
    wait_until(
        || server.connections() == 0,
        "the server keeps clients that went",
    );
}

#[test]
fn clients_that_go_in_the_middle_take_no_daemon_with_them() {
    let folder = Folder::new();
    folder.file("file", 100_000);
    let server = folder.serve();
    let null = marked(&message(NFS, procedure::NULL, &[]));
    for length_b in 0..null.len() {
        let mut client = TcpStream::connect(server.address).expect("the server listens");
        client
            .write_all(&null[..length_b])
            .expect("the server reads");
    }
    let behaved = session(server.address, Protocol::Tcp);
    assert_eq!(
        behaved.look_up("file").expect("it is there").1.size_b,
        100_000
    );
    wait_until(
        || server.connections() == 1,
        "the server keeps clients that went",
    );
}

#[test]
fn clients_that_take_no_replies_hold_no_daemon() {
    let folder = Folder::new();
    let bytes = folder.file("file", MIB);
    let server = folder.serve();
    let (handle, _) = session(server.address, Protocol::Tcp)
        .look_up("file")
        .expect("it is there");
    let mut arguments = Vec::new();
    arguments.opaque(&handle);
    arguments.hyper(0);
    arguments.word(MIB as u32);
    let read = marked(&message(NFS, procedure::READ, &arguments));
    // More than daemons, each with more replies than a socket holds.
    let ask = |_| {
        let mut client = TcpStream::connect(server.address).expect("the server listens");
        client
            .write_all(&read.repeat(100))
            .expect("the calls are short");
        client
    };
    let silent: Vec<_> = (0..8).map(ask).collect();
    let behaved = session(server.address, Protocol::Tcp);
    let data = behaved
        .read(behaved.number(), &handle, 0, 1000)
        .expect("it can be read");
    assert_eq!(data[..], bytes[..1000]);
    // One that begins to take them gets all, each whole.
    let mut late = &silent[0];
    let mut reply = vec![0; 4];
    for _ in 0..100 {
        late.read_exact(&mut reply[..4]).expect("a mark");
        let mark = u32::from_be_bytes([reply[0], reply[1], reply[2], reply[3]]);
        reply.resize((mark & !LAST_PART) as usize, 0);
        late.read_exact(&mut reply).expect("a reply");
        assert!(reply.ends_with(&bytes));
    }
}
