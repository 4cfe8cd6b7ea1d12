//! A remote that is a server: real sockets, real TLS, processes that are killed and stopped.

mod common;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Output;
use std::thread;
use std::time::Duration;

use common::serving::Server;
use common::{Home, text};

/// Bring the remote on a server up, without a mount.
fn sync(home: &Home, server: &Server, keys: &str) -> Output {
    let mut sync = home.greenfs("sync");
    sync.env("GREENFS_KEYS", home.at(keys));
    sync.args(["--flash", "flash", "--remote", &server.url()]);
    sync.output().expect("it was built")
}

/// The same, until it is done: a busy machine may be silent for too long.
fn synced(home: &Home, server: &Server, keys: &str) {
    while !sync(home, server, keys).status.success() {
        thread::sleep(Duration::from_millis(20));
    }
}

fn refusal(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A server that dies would take programs with it, or what was done meanwhile would never reach it.
#[test]
fn a_mount_outlives_its_server() {
    let Some(mut home) = Home::new("served") else {
        return;
    };
    let mut server = Server::new(&home, &[]);
    // On a busy machine a server that is there may take long.
    home.mount(&["--patience", "120", "--remote", &server.url()]);
    home.wait_for(": connected; holds all");
    let large = vec![7; 3 << 20];
    let file = fs::File::create(home.mnt("file")).expect("it is mounted");
    fs::write(home.mnt("large"), &large).expect("it is mounted");
    (&file).write_all(b"one").expect("it is writable");
    file.sync_all().expect("the server answers");
    // What an fsync said is there, and nothing else has to happen for it.
    assert_eq!(
        fs::read(home.at("remote/file")).expect("it is there"),
        b"one"
    );
    assert_eq!(
        fs::read(home.at("remote/large")).expect("it is there"),
        large
    );

    server.kill();
    fs::write(home.mnt("file"), "two").expect("no program waits for a server");
    fs::remove_file(home.mnt("large")).expect("no program waits for a server");
    file.sync_all().expect("flash has it");
    home.wait_for(": away (");
    let _server = Server::at(&home, &server.address, &[]);
    home.wait_for(": connected; holds all");
    home.same_trees("flash", "remote");

    let said = text(
        &home
            .greenfs("history")
            .arg("mnt/large")
            .output()
            .expect("it was built"),
    );
    assert!(
        said.contains("file, 3.1 MB") && said.contains("nothing"),
        "{said}"
    );
    let time = said
        .lines()
        .find_map(|line| line.strip_suffix("  file, 3.1 MB"));
    let before = time.expect("it has a version");
    let history = fs::read_dir(home.mnt(".greenfs/history")).expect("the server answers");
    assert!(history.count() > 0, "{before}");
    let mut restore = home.greenfs("restore");
    restore.args(["--remote", &server.url(), "--at", before]);
    text(
        &restore
            .args(["large", "--to", "back"])
            .output()
            .expect("it was built"),
    );
    assert_eq!(fs::read(home.at("back")).expect("it was restored"), large);
    let then = home.mnt(".greenfs/history").join(before).join("large");
    assert_eq!(fs::read(then).expect("it is shown"), large);
    drop(file);
    home.umount();
}

/// Who can reach the port could read everything, or change it.
#[test]
fn strangers_are_refused_and_others_served() {
    let home = Home::without_mount("strangers");
    fs::write(home.at("flash/file"), "x").expect("it is writable");
    let server = Server::new(&home, &[]);
    text(
        &home
            .greenfs("certificates")
            .arg("others")
            .output()
            .expect("it was built"),
    );
    // What the server trusts, with a certificate of somebody else.
    fs::copy(home.at("keys/ca.pem"), home.at("others/client/ca.pem")).expect("it is there");
    let said = refusal(&sync(&home, &server, "others/client"));
    assert!(said.contains("received fatal alert"), "{said}");
    // The server's own certificate is none of a client.
    let said = refusal(&sync(&home, &server, "keys/server"));
    assert!(said.contains("received fatal alert"), "{said}");
    let said = refusal(&sync(&home, &server, "none"));
    assert!(
        said.contains("cert.pem") && said.contains("greenfs certificates"),
        "{said}"
    );
    assert_eq!(
        fs::read_dir(home.at("remote"))
            .expect("it is there")
            .count(),
        0
    );

    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0x16, 3, 1, 0xff, 0xff, 1],
        &[0; 5000],
    ] {
        let mut socket = TcpStream::connect(&server.address).expect("it listens");
        // The server may hang up before all is sent.
        let _ = socket.write_all(bytes);
        let _ = socket.read(&mut [0; 4]);
    }
    synced(&home, &server, "keys/client");
    home.same_trees("flash", "remote");
    text(
        &home
            .greenfs("certificates")
            .args(["keys", "--client", "two"])
            .output()
            .expect("it was built"),
    );
    synced(&home, &server, "keys/two");
    let again = home
        .greenfs("certificates")
        .args(["keys", "--client", "two"])
        .output();
    refusal(&again.expect("it was built"));
}

/// The number in a line of /proc/PID/status.
fn status(server: &Server, line: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/status", server.process.id()));
    let text = text.expect("it runs");
    let found = text.lines().find_map(|text| text.strip_prefix(line));
    let number = found.and_then(|text| text.split_whitespace().next());
    number.and_then(|text| text.parse().ok()).expect("a number")
}

/// Somebody who only connects would take the memory of the server, or its place from others.
#[test]
fn a_thousand_connections_take_a_bounded_place() {
    let home = Home::without_mount("thousand");
    fs::write(home.at("flash/file"), "x").expect("it is writable");
    let server = Server::new(&home, &[]);
    let connect = |_| TcpStream::connect(&server.address).expect("it listens");
    for _ in 0..5 {
        let sockets: Vec<TcpStream> = (0..200).map(connect).collect();
        // Those of the connections before may not have ended yet.
        assert!(status(&server, "Threads:") <= 2 * 70);
        assert!(status(&server, "VmRSS:") <= 64 << 10, "KiB");
        drop(sockets);
    }
    synced(&home, &server, "keys/client");
    home.same_trees("flash", "remote");
}

/// A program would hang for as long as the server does.
#[test]
fn a_server_that_is_silent_is_away() {
    let home = Home::without_mount("silent");
    let server = Server::new(&home, &[]);
    server.signal("STOP");
    let said = refusal(&sync(&home, &server, "keys/client"));
    assert!(said.contains("does not answer"), "{said}");
    server.signal("CONT");
    synced(&home, &server, "keys/client");
}
