//! A branch on a server, step by step: each does what it does in a folder, and with `--keep` none
//! destroys anything.

mod common;

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use common::Home;
use common::serving::Server;
use greenfs::branch::folder::Folder;
use greenfs::branch::store::{Store, copy_range};
use greenfs::net::Site;
use greenfs::protocol::Attributes;

const PATIENCE: Duration = Duration::from_secs(120);

fn take_keys(home: &Home) {
    // SAFETY: no thread of this test reads the environment meanwhile.
    unsafe { std::env::set_var("GREENFS_KEYS", home.at("keys/client")) };
}

fn claim(home: &Home, server: &Server) -> Site {
    take_keys(home);
    Site::claim(Path::new(&server.url()), PATIENCE).expect("it is served")
}

type Step = Box<dyn Fn(&mut dyn Store) -> io::Result<()>>;

fn step(step: impl Fn(&mut dyn Store) -> io::Result<()> + 'static) -> Step {
    Box::new(step)
}

/// Steps that are done, and steps that are refused.
fn steps() -> Vec<Step> {
    let path = Path::new;
    let dressed = Attributes {
        mode: 0o4751,
        uid: fs_owner().0,
        gid: fs_owner().1,
        size: 0,
        modified_ns: 1_234_567_891_234_567_891,
    };
    vec![
        step(move |on| on.make_folder(path("folder"), 0o751)),
        step(move |on| on.make_folder(path("folder"), 0o751)),
        step(move |on| on.create(path("folder/file"), 0o640)),
        step(move |on| on.create(path("folder/file"), 0o640)),
        step(move |on| on.create(path("none/file"), 0o640)),
        step(move |on| on.write(path("folder/file"), 0, &vec![5; (5 << 20) + 1])),
        step(move |on| on.write(path("folder/file"), 9 << 20, b"behind a hole")),
        step(move |on| on.truncate(path("folder/file"), (10 << 20) + 3)),
        step(move |on| on.create(path("folder/twin"), 0o640)),
        step(move |on| share(on, path("folder/file"), path("folder/twin"))),
        step(move |on| share(on, path("none"), path("folder/twin"))),
        step(move |on| share(on, path("folder/file"), path("none"))),
        step(move |on| share(on, path("folder"), path("folder/twin"))),
        step(move |on| on.dress(path("folder/file"), &dressed)),
        step(move |on| on.symlink(path("link"), "/etc/passwd".as_ref())),
        step(move |on| on.write(path("link"), 0, b"through a link")),
        step(move |on| on.link(path("folder/file"), path("second"))),
        step(move |on| on.rename(path("folder"), path("moved"))),
        step(move |on| on.rename(path("second"), path("moved"))),
        step(move |on| on.remove_folder(path("moved"))),
        step(move |on| on.remove_file(path("second"))),
        step(move |on| on.remove_file(path("second"))),
        step(move |on| on.sync(path("moved/file"))),
        step(move |on| on.sync(path("none"))),
        step(move |on| on.sync_all()),
    ]
}

/// A part of a file that lies on no border of a block, as every branch can do it.
fn share(on: &mut dyn Store, from: &Path, to: &Path) -> io::Result<()> {
    let range = 5000..(3 << 20) + 7;
    match on.share(from, to, range.clone())? {
        true => Ok(()),
        false => copy_range(on, from, to, range),
    }
}

fn fs_owner() -> (u32, u32) {
    use std::os::unix::fs::MetadataExt;
    let own = fs::metadata("/proc/self").expect("it is there");
    (own.uid(), own.gid())
}

/// What a protection holds that is built on these steps would not hold over the network.
fn each_step_does_what_it_does_here(home: &Home) {
    let server = Server::new(home, &[]);
    let mut there = claim(home, &server);
    let mut here = Folder::open(&home.at("disk")).expect("it is there");
    for (nth, step) in steps().iter().enumerate() {
        let code = |done: io::Result<()>| done.map_err(|error| error.raw_os_error());
        assert_eq!(code(step(&mut there)), code(step(&mut here)), "step {nth}");
        for path in [
            "",
            "folder/file",
            "folder/twin",
            "moved/file",
            "second",
            "link",
            "none",
            "moved/file/in",
        ] {
            let look = |on: &dyn Store| {
                let found = on.look(Path::new(path)).expect("it can be looked at");
                found.map(|found| (found.kind, found.attributes.size, found.attributes.mode))
            };
            assert_eq!(look(&there), look(&here), "{path} after step {nth}");
        }
    }
    let read = |on: &dyn Store| on.read(Path::new("moved/file"), 17, 20 << 20);
    assert!(read(&there).expect("it can be read") == read(&here).expect("it can be read"));
    home.same_trees("remote", "disk");

    // More names than go into one frame.
    let long = "n".repeat(245);
    for number in 0..4500 {
        fs::write(home.at(&format!("remote/moved/{long}{number}")), "").expect("it is writable");
    }
    let listed =
        |on: &dyn Store| BTreeSet::from_iter(on.list(Path::new("moved")).expect("it is one"));
    let here = Folder::open(&home.at("remote")).expect("it is there");
    assert_eq!(listed(&there), listed(&here));

    // A device would be one of the server's machine.
    assert!(
        there
            .make_other(Path::new("device"), libc::S_IFBLK | 0o600, 0x700)
            .is_err()
    );

    // Who only looks changes nothing; nobody else claims it meanwhile.
    let url = server.url();
    let mut looking = Site::open(Path::new(&url), PATIENCE).expect("it is served");
    assert!(looking.remove_file(Path::new("moved/file")).is_err());
    assert!(
        looking
            .look(Path::new("moved/file"))
            .expect("it answers")
            .is_some()
    );
    let refused = Site::claim(Path::new(&url), PATIENCE).map(drop);
    let fault = refused.expect_err("it is claimed");
    assert!(fault.what.contains("another greenfs"), "{fault}");
}

/// A server that has much to do would be taken for one that is away.
fn a_step_that_takes_long_is_waited_for(home: &Home) {
    let server = Server::at(home, "127.0.0.1:0", &[]);
    let url = server.url();
    let pipe = home.at("remote/pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo is there").success());
    take_keys(home);
    let code = |patience: Duration| {
        let there = Site::open(Path::new(&url), patience).ok()?;
        let read = thread::spawn(move || there.read(Path::new("pipe"), 0, 1).map(drop));
        thread::sleep(patience * 3 / 2);
        // Only now can the server open it; it then finds that a pipe has no places to read from.
        drop(OpenOptions::new().read(true).write(true).open(&pipe));
        read.join()
            .expect("it does not panic")
            .err()?
            .raw_os_error()
    };
    // A busy machine may be silent for longer.
    let mut patience = [2, 4, 8, 16].map(Duration::from_secs).into_iter();
    assert!(patience.any(|patience| code(patience) == Some(libc::ESPIPE)));
}

fn whole(folder: &Path) -> BTreeSet<Vec<u8>> {
    let files = fs::read_dir(folder).expect("it is there");
    let read = |file: PathBuf| fs::read(file).expect("it can be read");
    files
        .map(|file| read(file.expect("a file").path()))
        .collect()
}

/// Who has the client's key would destroy what the server is to protect.
fn what_a_client_destroys_is_kept(home: &Home) {
    fs::create_dir_all(home.at("kept")).expect("it is writable");
    fs::create_dir_all(home.at("remote/.greenfs/history/a")).expect("it is writable");
    let names = [
        "a",
        "b",
        "c",
        "d",
        ".greenfs/history/a/before",
        ".greenfs/branch.json",
    ];
    for name in names {
        fs::write(home.at("remote").join(name), format!("precious {name}"))
            .expect("it is writable");
    }
    let server = Server::at(home, "127.0.0.1:0", &["--keep", "kept"]);
    let mut client = claim(home, &server);
    let path = Path::new;
    client.remove_file(path("a")).expect("it looks done");
    client.rename(path("c"), path("b")).expect("it looks done");
    client
        .write(path("b"), 0, b"worthless")
        .expect("it looks done");
    client.truncate(path("d"), 0).expect("it looks done");
    let before = path(".greenfs/history/a/before");
    client.remove_file(before).expect("it looks done");
    let own = path(".greenfs/branch.json");
    client.write(own, 0, b"new").expect("it is for that");
    // Nothing becomes what is not kept.
    client
        .make_folder(path(".greenfs/stage"), 0o700)
        .expect("it is for that");
    for to in [".greenfs/plan", ".greenfs/branch.json", ".greenfs/stage/d"] {
        assert!(client.rename(path("b"), path(to)).is_err(), "{to}");
        assert!(client.link(path("b"), path(to)).is_err(), "{to}");
    }
    assert!(client.rename(path(".greenfs"), path("other")).is_err());

    // What one file is given of another one is a change, too.
    fs::write(home.at("remote/f"), "precious f").expect("it is writable");
    let shared = client.share(path("b"), path("f"), 0..9);
    assert!(shared.expect("it looks done"));
    assert!(whole(&home.at("kept")).contains(b"precious f".as_slice()));

    // What fails destroys nothing: nothing is kept that could change, and the log does not end with a lie.
    fs::write(home.at("remote/e"), "precious e").expect("it is writable");
    client.make_folder(path("full"), 0o700).expect("it is done");
    let before = whole(&home.at("kept"));
    assert!(client.rename(path("none"), path("e")).is_err());
    assert_eq!(whole(&home.at("kept")), before);
    assert!(client.rename(path("full"), path("e")).is_err());
    let log = fs::read_to_string(home.at("kept/log")).expect("it is there");
    let last = log.lines().last().expect("it says something");
    assert!(
        last.ends_with(r#""what":"not done","path":"full","to":"e"}"#),
        "{last}"
    );
    assert!(!whole(&home.at("kept")).contains(b"precious e".as_slice()));

    let kept = whole(&home.at("kept"));
    for name in &names[..5] {
        assert!(
            kept.contains(format!("precious {name}").as_bytes()),
            "{name}"
        );
    }
    let log = fs::read_to_string(home.at("kept/log")).expect("it is there");
    assert!(
        log.contains(r#""what":"removed","path":"a","kept":"#),
        "{log}"
    );
    assert!(
        log.contains(r#""what":"renamed","path":"c","to":"b""#),
        "{log}"
    );
    assert!(!log.contains("branch.json"), "{log}");
}

/// What was just written, and lies in no file yet, would go without a trace.
fn what_goes_into_a_pool_is_kept(home: &Home) {
    for folder in ["pool", "kept-of-pool"] {
        fs::create_dir(home.at(folder)).expect("it is writable");
    }
    let options = ["--pool", "pool", "--keep", "kept-of-pool"];
    let server = Server::at(home, "127.0.0.1:0", &options);
    let mut client = claim(home, &server);
    let path = Path::new("file");
    client.create(path, 0o600).expect("nothing is there");
    client.write(path, 0, b"precious").expect("it is writable");
    client.remove_file(path).expect("it looks done");
    let log = fs::read_to_string(home.at("kept-of-pool/log")).expect("it is there");
    assert!(
        log.contains(r#""what":"removed","path":"file","kept":"#),
        "{log}"
    );
}

/// One test, for the keys are in the environment of the process.
#[test]
fn a_branch_on_a_server() {
    let home = Home::without_mount("steps");
    for act in [
        each_step_does_what_it_does_here,
        a_step_that_takes_long_is_waited_for,
        what_a_client_destroys_is_kept,
        what_goes_into_a_pool_is_kept,
    ] {
        act(&home);
        for folder in ["remote", "disk"] {
            fs::remove_dir_all(home.at(folder)).expect("it is there");
            fs::create_dir(home.at(folder)).expect("it is writable");
        }
    }
}
