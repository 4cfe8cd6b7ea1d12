//! Servers that are killed while they work.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use super::*;

/// Some files are written anew, some changed, some renamed, some removed.
fn change(home: &Home, numbers: &mut Numbers) {
    let folder = home.at("flash/folder");
    for _ in 0..numbers.below(12) + 1 {
        let place = folder.join(numbers.below(20).to_string());
        match numbers.below(6) {
            0 => drop(fs::remove_file(place)),
            1 => drop(fs::rename(
                folder.join(numbers.below(20).to_string()),
                place,
            )),
            2 => {
                let mut options = fs::OpenOptions::new();
                let file = options.append(true).create(true).open(place);
                let size_b = numbers.below(3000);
                let written = file.and_then(|mut file| file.write_all(&numbers.bytes(size_b)));
                written.expect("it is writable");
            }
            _ => {
                let size_b =
                    [numbers.below(2000), numbers.below(700_000)][numbers.below(2) as usize];
                fs::write(place, numbers.bytes(size_b)).expect("it is writable");
            }
        }
    }
}

/// What a client was told to be safe would be gone, or half of it there.
#[test]
fn a_server_that_is_killed_loses_nothing() {
    let home = home("pool-killed");
    fs::create_dir(home.at("kept")).expect("it is writable");
    let options = ["--pool", "pool", "--pool-key", "key", "--keep", "kept"];
    text(&command(&home, &["pool", "key", "key"]));
    let mut server = Server::new(&home, &options);
    let mut numbers = Numbers(0x5EED);
    let mut kills = 0;
    for round in 0..14 {
        change(&home, &mut numbers);
        let mut child = home.greenfs("sync");
        child.args(["--flash", "flash", "--remote", &server.url()]);
        let child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("it was built");
        thread::sleep(Duration::from_millis(numbers.below(60)));
        server.kill();
        kills += usize::from(!child.wait().expect("it ends").success());
        server = Server::at(&home, &server.address, &options);
        let said = text(&command(
            &home,
            &["pool", "check", "pool", "--pool-key", "key"],
        ));
        assert!(said.contains("all are whole"), "{said}");
        if round % 4 > 0 {
            continue;
        }
        // What was told to be safe is there after the next kill, and nothing of it is another's.
        synced(&home, "flash", &server);
        server.kill();
        server = Server::at(&home, &server.address, &options);
        is_served(&home, &server, &format!("back{round}"));
    }
    assert!(kills > 0, "no synchronisation was interrupted");
    synced(&home, "flash", &server);
    let done = answer(
        &home,
        &["fsck", "--flash", "flash", "--remote", &server.url()],
    );
    assert!(done.contains("holds all; 0 B copied"), "{done}");
    if rescued(&home, &["pool", "remote", "back", "key"]) {
        same(&home, "flash/folder", "back/folder");
    }
}

/// `pool check` would call the file of a client damaged, and no sweep go on, until that client is back.
#[test]
fn a_server_that_is_killed_amid_a_recipe_leaves_none() {
    let home = home("pool-amid");
    let options = ["--pool", "pool"];
    let data = Numbers(0xA31D).bytes(16 << 20);
    fs::write(home.at("flash/folder/one"), &data).expect("it is writable");
    // Who started this test may ignore the signal, as Python does: then a write would fail instead.
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_DFL) };
    let mut server = Server::new(&home, &options);
    synced(&home, "flash", &server);
    let recipe_b = fs::metadata(home.at("remote/folder/one")).expect("it is there");
    assert!(recipe_b.len() > 6000);
    // The kernel ends the server once a file is larger; chunks are there already.
    let limited = Command::new("prlimit")
        .args(["--fsize=6000", "--pid", &server.process.id().to_string()])
        .status();
    if !limited.is_ok_and(|status| status.success()) {
        eprintln!("skipped: needs prlimit (apt install util-linux)");
        return;
    }
    fs::write(home.at("flash/folder/two"), &data).expect("it is writable");
    // A busy machine may be silent for so long that it counts as away, before it comes to the recipe.
    let ended = (0..20).find_map(|_| {
        let broken = sync(&home, "flash", &server);
        assert_eq!(broken.status.code(), Some(1), "{broken:?}");
        server.process.try_wait().expect("it was started")
    });
    let ended = ended.expect("it comes to the recipe");
    assert_eq!(ended.signal(), Some(libc::SIGXFSZ));
    let said = text(&command(&home, &["pool", "check", "pool"]));
    assert!(said.contains("all are whole"), "{said}");
    text(&command(&home, &["pool", "sweep", "pool", "--yes"]));
    server = Server::at(&home, ANY, &options);
    synced(&home, "flash", &server);
    is_served(&home, &server, "back");
}
