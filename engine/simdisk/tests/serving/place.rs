//! Servers come one to a place, and leave nothing behind.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::host::{DISK, Disk, Folder, Loop, Server, command, is_mounted, run_anyway, text};
use crate::needs_root;

fn refused(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Two servers of one store would destroy what is on it.
#[test]
fn a_second_server_is_refused() {
    needs_root!();
    let (folder, other) = (Folder::new(), Folder::new());
    let _server = Server::start(&folder, DISK);
    for second in [
        [folder.at(), other.store(), other.control()],
        [other.at(), folder.store(), other.control()],
        [other.at(), other.store(), folder.control()],
    ] {
        let mut again = command(&other, DISK);
        let program = again.get_program().to_owned();
        again = Command::new(program);
        again.args(&second).args(["64", "100", "back", "real"]);
        let said = refused(&again.output().expect("the example is built"));
        assert!(
            said.contains("another server") || said.contains("is mounted"),
            "{said}"
        );
        assert!(!is_mounted(&other.at()));
    }
    assert!(is_mounted(&folder.at()));
}

/// A store of another disk would be cut or misread.
#[test]
fn the_store_of_another_disk_is_refused() {
    needs_root!();
    let folder = Folder::new();
    fs::write(folder.store(), "not a disk").expect("it can be written");
    let said = refused(
        &command(&folder, DISK)
            .output()
            .expect("the example is built"),
    );
    assert!(said.contains("another disk"), "{said}");
    assert_eq!(
        fs::read(folder.store()).expect("it is there"),
        b"not a disk"
    );
}

/// A disk that would have to be faster than the machine is refused with what the machine can do.
#[test]
fn a_disk_that_is_too_fast_is_refused() {
    needs_root!();
    let folder = Folder::new();
    let fast = Disk {
        service_us: 0,
        ..DISK
    };
    let said = refused(
        &command(&folder, fast)
            .output()
            .expect("the example is built"),
    );
    assert!(said.contains("the floor of this machine is"), "{said}");
    assert!(!is_mounted(&folder.at()));
}

/// However it is asked to end, even with the disk in use.
#[test]
fn a_server_that_is_asked_to_end_leaves_nothing() {
    needs_root!();
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        let folder = Folder::new();
        let mut server = Server::start(&folder, DISK);
        let device = Loop::on(&folder);
        server.signal(signal);
        assert!(server.process.wait().expect("it is a child").success());
        assert!(!is_mounted(&folder.at()));
        assert!(!folder.control().exists());
        drop(device);
    }
}

/// A dead mount must not be in the way of the next server; nothing can take it away before.
#[test]
fn a_killed_server_is_followed_by_the_next() {
    needs_root!();
    let folder = Folder::new();
    Server::start(&folder, DISK).kill();
    let mut next = Server::start(&folder, DISK);
    next.stop();
    assert!(
        !is_mounted(&folder.at()),
        "neither the dead mount nor the new one is left"
    );
}

/// A harness that crashes must not leave a disk that nobody ends.
#[test]
fn a_server_ends_with_its_parent() {
    needs_root!();
    let folder = Folder::new();
    let serve = command(&folder, DISK);
    let words: Vec<String> = [serve.get_program()]
        .into_iter()
        .chain(serve.get_args())
        .map(|word| word.to_str().expect("plain words").to_owned())
        .chain(["die".to_owned()])
        .collect();
    let script = format!("{} & wait", words.join(" "));
    let mut parent = Command::new("sh")
        .args(["-c", &script])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("sh is there");
    let mut line = String::new();
    let output = parent.stdout.take().expect("it is piped");
    BufReader::new(output)
        .read_line(&mut line)
        .expect("it gets ready");
    let ready: serde_json::Value = serde_json::from_str(&line).expect("it is JSON");
    parent.kill().expect("it waits");
    parent.wait().expect("it is a child");
    let process = format!("/proc/{}", ready["pid"]);
    let end = Instant::now() + Duration::from_secs(5);
    while is_mounted(&folder.at()) || fs::exists(&process).unwrap_or(false) {
        if Instant::now() > end {
            run_anyway("umount", &["-l", &text(&folder.at())]);
            panic!("the server goes on without its parent");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Who takes the mount away ends the server: nobody could use it any more.
#[test]
fn a_server_ends_when_it_is_unmounted() {
    needs_root!();
    let folder = Folder::new();
    let mut server = Server::start(&folder, DISK);
    assert_eq!(run_anyway("umount", &[&text(&folder.at())]), Some(0));
    assert!(server.process.wait().expect("it is a child").success());
}
