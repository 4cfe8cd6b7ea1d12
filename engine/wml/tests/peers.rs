//! Clients on several machines that start together (`enable multi`, `domultisync`).

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use common::{Place, READER, wait, wait_until};

/// The port is fixed by the protocol, the address is this machine's own.
const MASTER: &str = "127.94.3.1";

fn meeting(master: &str, commands: &str) -> String {
    format!("enable multi master=\"{master}\", client=one\n{READER}{commands}")
}

fn accept(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let mut accepted = None;
    wait_until(Duration::from_secs(30), "no client came", || {
        accepted = listener.accept().ok();
        accepted.is_some()
    });
    let (connection, _) = accepted.unwrap();
    connection.set_nonblocking(false).unwrap();
    connection
}

#[test]
fn clients_of_several_machines_wait_for_their_master() {
    let place = Place::new("meet");
    let listener = TcpListener::bind((MASTER, 8001)).unwrap();
    let master = std::thread::spawn(move || {
        let mut connection = accept(&listener);
        let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
        let mut heard = Vec::new();
        for _ in 0..2 {
            heard.push(lines.next().unwrap().unwrap());
            std::thread::sleep(Duration::from_millis(100));
            connection.write_all(b"go on\n").unwrap();
        }
        heard
    });
    let commands = "domultisync value=1 system \"touch $dir/met\" domultisync value=2";
    let text = meeting(MASTER, commands);
    place.report("run", &text, &[]);
    assert!(place.dir().join("met").exists());
    let expected = [1, 2].map(|n| format!("cmd=SYNC,id=xyzzy,name=one,sample={n}"));
    assert_eq!(master.join().unwrap(), expected);
}

#[test]
fn without_its_master_a_client_says_so() {
    let place = Place::new("lonely");
    let text = meeting("127.94.3.2", "domultisync value=1");
    let output = place.output("run", &text, &[]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("cannot reach the master 127.94.3.2:8001"),
        "{said}"
    );
    assert!(said.contains("next:"), "{said}");
}

#[test]
fn a_client_that_waits_for_its_master_can_be_stopped() {
    let place = Place::new("waiting");
    let listener = TcpListener::bind(("127.94.3.3", 8001)).unwrap();
    let text = meeting("127.94.3.3", "domultisync value=1");
    let child = place.start(&text, &[]);
    let _connection = accept(&listener);
    common::signal(&child, libc::SIGTERM);
    assert_eq!(wait(child, Duration::from_secs(20)), 3);
    assert_eq!(place.written()["reason"], "stopped by SIGTERM");
}
