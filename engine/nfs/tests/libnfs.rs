//! Clients of others: those of libnfs (Debian: libnfs-utils).

mod common;

use std::process::{Command, Output};

use common::{Folder, MIB};
use nfs::server::Server;

/// What a program says of something that is served; None if the program is not installed.
fn run(program: &str, server: &Server, path: &str) -> Option<Output> {
    let port = server.address.port();
    let address = format!("nfs://127.0.0.1{path}?version=3&nfsport={port}&mountport={port}");
    match Command::new(program).arg(address).output() {
        Ok(output) => Some(output),
        Err(_) => {
            eprintln!("skipped: needs {program} (apt-get install libnfs-utils)");
            None
        }
    }
}

#[test]
fn its_clients_list_folders_and_read_files() {
    let folder = Folder::new();
    std::fs::create_dir(folder.0.join("sub")).expect("a folder");
    let bytes = folder.file("sub/file", 3 * MIB + 17);
    folder.file("other", 5);
    let server = folder.serve();
    let Some(listed) = run("nfs-ls", &server, "/") else {
        return;
    };
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(
        listed.status.success(),
        "{}",
        String::from_utf8_lossy(&listed.stderr)
    );
    assert!(text.contains("sub") && text.contains("other"), "{text}");
    if let Some(read) = run("nfs-cat", &server, "/sub/file") {
        assert!(
            read.stdout == bytes,
            "{}",
            String::from_utf8_lossy(&read.stderr)
        );
    }
    if let Some(read) = run("nfs-cat", &server, "/none") {
        assert!(!read.status.success());
    }
}
