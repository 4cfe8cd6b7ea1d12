//! Servers with a pool: real sockets, processes that are killed, disks that are full; and the way back
//! without greenfs.

#[path = "../common/mod.rs"]
mod common;
mod damage;
mod kills;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use common::serving::Server;
use common::{Home, text};
use greenfs::branch::folder::Folder;
use greenfs::branch::store::Store;

const ANY: &str = "127.0.0.1:0";

/// Numbers that are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }

    fn bytes(&mut self, size_b: u64) -> Vec<u8> {
        (0..size_b).map(|_| self.below(256) as u8).collect()
    }
}

fn home(name: &str) -> Home {
    let home = Home::without_mount(name);
    for folder in ["pool", "flash/folder"] {
        fs::create_dir(home.at(folder)).expect("it is writable");
    }
    home
}

fn command(home: &Home, words: &[&str]) -> Output {
    let mut greenfs = home.greenfs(words[0]);
    greenfs.args(&words[1..]).output().expect("it was built")
}

fn sync(home: &Home, flash: &str, server: &Server) -> Output {
    command(home, &["sync", "--flash", flash, "--remote", &server.url()])
}

/// What a command says that asks a server, once it is done: a busy machine may be silent for too long.
fn answer(home: &Home, words: &[&str]) -> String {
    loop {
        let output = command(home, words);
        if output.status.success() {
            return text(&output);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn synced(home: &Home, flash: &str, server: &Server) {
    answer(home, &["sync", "--flash", flash, "--remote", &server.url()]);
}

/// Get what a folder served back, without greenfs; false, with the reason printed, where that is not
/// possible.
fn rescued(home: &Home, words: &[&str]) -> bool {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("rescue.py");
    let needs = if words.len() > 3 {
        "import cryptography"
    } else {
        ""
    };
    let can = Command::new("python3").args(["-c", needs]).output();
    if !can.is_ok_and(|said| said.status.success()) {
        eprintln!(
            "skipped: needs python3, and cryptography in it for a key (pip install cryptography)"
        );
        return false;
    }
    let mut python = Command::new("python3");
    let said = python
        .arg(script)
        .args(words)
        .current_dir(&home.root)
        .output();
    text(&said.expect("it was there"));
    true
}

fn same(home: &Home, one: &str, other: &str) {
    home.same_trees(one, other);
    let modified = |place: &Path| {
        let found = fs::metadata(place).expect("it is there");
        (found.mtime(), found.mtime_nsec(), found.mode())
    };
    for entry in fs::read_dir(home.at(one)).expect("it is there") {
        let name = entry.expect("it can be read").file_name();
        let places = [one, other].map(|folder| home.at(folder).join(&name));
        assert_eq!(modified(&places[0]), modified(&places[1]), "{name:?}");
    }
}

/// See that a server gives back what flash has; it is put there.
fn is_served(home: &Home, server: &Server, back: &str) {
    let url = server.url();
    let history = answer(home, &["history", "--remote", &url]);
    let last = history.trim().rsplit(' ').next().expect("it names a time");
    let restore = [
        "restore", "--remote", &url, "--at", last, "folder", "--to", back,
    ];
    answer(home, &restore);
    same(home, "flash/folder", back);
}

/// Clients would share less than they have in common; or one would get what is another's.
#[test]
fn several_servers_have_one_pool() {
    let home = home("pool-several");
    let mut numbers = Numbers(0xC0FFEE);
    let common = numbers.bytes(900_000);
    let pool = ["--pool", "pool"];
    let mut servers = vec![Server::new(&home, &pool)];
    for nth in 1..3 {
        let (remote, flash) = (format!("remote{nth}"), format!("flash{nth}/folder"));
        fs::create_dir(home.at(&remote)).expect("it is writable");
        fs::create_dir_all(home.at(&flash)).expect("it is writable");
        servers.push(Server::of(&home, &remote, ANY, &pool));
    }
    let flashes = ["flash", "flash1", "flash2"];
    for (flash, server) in flashes.iter().zip(&servers) {
        fs::write(home.at(flash).join("folder/common"), &common).expect("it is writable");
        fs::write(home.at(flash).join("folder/own"), numbers.bytes(5000)).expect("it is writable");
        synced(&home, flash, server);
    }
    fs::write(home.at("flash/folder/own"), "later").expect("it is writable");
    synced(&home, "flash", &servers[0]);
    let said = text(&command(&home, &["pool", "check", "pool"]));
    assert!(
        said.contains("in 3 folders") && said.contains("all are whole"),
        "{said}"
    );
    let chunks_b = said
        .split("chunks of ")
        .nth(1)
        .and_then(|rest| rest.split(',').next());
    assert_eq!(chunks_b, Some("915.0 kB"), "{said}");
    let refused = command(&home, &["pool", "sweep", "pool"]);
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("a server uses"),
        "{refused:?}"
    );

    // Earlier versions are there, too; in time all of it is needed no more.
    let url = servers[0].url();
    let history = answer(&home, &["history", "--remote", &url, "folder/own"]);
    let first = history
        .lines()
        .find_map(|line| line.strip_suffix("  file, 5.0 kB"));
    let first = first.expect("it has a version").trim();
    let restore = [
        "restore",
        "--remote",
        &url,
        "--at",
        first,
        "folder/own",
        "--to",
        "own",
    ];
    answer(&home, &restore);
    assert_eq!(
        fs::metadata(home.at("own")).expect("it is there").len(),
        5000
    );
    servers.clear();
    text(&command(&home, &["pool", "sweep", "pool", "--yes"]));
    for (flash, remote) in flashes.iter().zip(["remote", "remote1", "remote2"]) {
        let back = format!("{remote}-back");
        if rescued(&home, &["pool", remote, &back]) {
            same(&home, &format!("{flash}/folder"), &format!("{back}/folder"));
            // It is a branch again, of plain files.
            let done = command(&home, &["sync", "--flash", flash, "--remote", &back]);
            assert!(text(&done).contains("holds all; 0 B copied"), "{done:?}");
        }
    }
    for options in [
        &[][..],
        &["--pool", "remote/inner"],
        &["--pool", "pool", "--pool-key", "own"],
        &["--pool", "pool", "--keep", "remote/inner"],
    ] {
        fs::create_dir_all(home.at("remote/inner")).expect("it is writable");
        let mut serve = home.greenfs("serve");
        serve.args(["remote", "--cert", "keys/server/cert.pem", "--listen", ANY]);
        serve
            .args(["--key", "keys/server/key.pem", "--clients", "keys/ca.pem"])
            .args(options);
        let refused = serve.output().expect("it was built");
        assert_eq!(refused.status.code(), Some(1), "{options:?}: {refused:?}");
    }
    // Who is refused leaves nothing that the pool would have to know.
    let said = text(&command(&home, &["pool", "check", "pool"]));
    assert!(said.contains("in 3 folders"), "{said}");
}

/// One folder that is deep enough would keep all files of a pool from being got back.
#[test]
fn a_path_that_is_longer_than_the_kernel_takes_is_got_back() {
    let home = home("pool-deep");
    let mut path = PathBuf::from("folder");
    let mut flash = Folder::open(&home.at("flash")).expect("it is there");
    for _ in 0..30 {
        path.push("x".repeat(200));
        flash.make_folder(&path, 0o755).expect("it is writable");
    }
    for name in ["file", "twin"] {
        let made = flash.create(&path.join(name), 0o644);
        made.and_then(|()| flash.write(&path.join(name), 0, b"deep"))
            .expect("it is writable");
    }
    let other = path.join("other");
    flash.link(&path.join("file"), &other).expect("it is there");
    let server = Server::new(&home, &["--pool", "pool"]);
    synced(&home, "flash", &server);
    if rescued(&home, &["pool", "remote", "back"]) {
        let back = Folder::open(&home.at("back")).expect("it was made");
        for name in ["file", "twin", "other"] {
            let read = back.read(&path.join(name), 0, 10);
            assert_eq!(read.expect("it is there"), b"deep");
        }
    }
}

/// Who names a file of theirs as the place would lose it.
#[test]
fn a_rescue_replaces_nothing() {
    let home = home("pool-mine");
    fs::write(home.at("remote/file"), "no recipe").expect("it is writable");
    fs::write(home.at("mine"), "mine").expect("it is writable");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("rescue.py");
    let mut python = Command::new("python3");
    python.arg(script).args(["pool", "remote/file", "mine"]);
    let Ok(said) = python.current_dir(&home.root).output() else {
        eprintln!("skipped: needs python3");
        return;
    };
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(errors.contains("is there already"), "{errors}");
    assert_eq!(said.status.code(), Some(1));
    let mine = fs::read_to_string(home.at("mine")).expect("it is there");
    assert_eq!(mine, "mine");
}

/// What its owner may not read would look changed at every look, and be copied again; or it would pass
/// for damaged, and keep all from being swept.
#[test]
fn a_server_without_root_knows_files_that_it_may_not_read() {
    let home = home("pool-closed");
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() != 0) {
        eprintln!("skipped: needs root to have a server that is somebody else");
        return;
    }
    fs::write(home.at("flash/folder/file"), Numbers(1).bytes(70_000)).expect("it is writable");
    home.copy_program();
    home.give();
    let script = "chmod 0 flash/folder/file
        setpriv --reuid=65534 --regid=65534 --clear-groups ./greenfs certificates keys
        setpriv --reuid=65534 --regid=65534 --clear-groups ./greenfs serve remote \
            --listen 127.0.0.1:0 --cert keys/server/cert.pem --key keys/server/key.pem \
            --clients keys/ca.pem --pool pool >said & server=$!
        trap 'kill $server' EXIT
        until grep -q serving said; do sleep 0.05; done
        remote=greenfs://$(sed 's/.* //' said)
        export GREENFS_KEYS=keys/client
        until ./greenfs sync --flash flash --remote $remote; do sleep 0.05; done
        ./greenfs fsck --flash flash --remote $remote
        stat -c %a remote/folder/file
        chmod 0 remote/folder
        setpriv --reuid=65534 --regid=65534 --clear-groups ./greenfs pool check pool
        stat -c %a remote/folder remote/folder/file";
    let mut shell = Command::new("sh");
    let said = shell.args(["-ec", script]).current_dir(&home.root).output();
    let said = text(&said.expect("sh is there"));
    let lines: Vec<_> = said.lines().rev().collect();
    assert!(lines[5].contains("holds all; 0 B copied"), "{said}");
    assert_eq!(lines[..3], ["0", "0", "all are whole"], "{said}");
    assert_eq!(lines[4], "0", "{said}");
}
