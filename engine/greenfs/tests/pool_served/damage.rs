//! What a disk damages, or has no room for.

use super::*;

/// Who does what `check` says would not have the file back.
#[test]
fn what_is_damaged_comes_anew() {
    let home = home("pool-anew");
    fs::create_dir(home.at("kept")).expect("it is writable");
    let data = Numbers(9).bytes(90_000);
    fs::write(home.at("flash/folder/file"), data).expect("it is writable");
    let server = Server::new(&home, &["--pool", "pool", "--keep", "kept"]);
    synced(&home, "flash", &server);
    for folder in fs::read_dir(home.at("pool/chunks")).expect("it is there") {
        let folder = folder.expect("it can be read").path();
        for chunk in fs::read_dir(folder).expect("it is there") {
            let place = chunk.expect("it can be read").path();
            let mut bytes = fs::read(&place).expect("it is there");
            bytes[7] ^= 4;
            fs::write(place, bytes).expect("it is writable");
        }
    }
    let checked = command(&home, &["pool", "check", "pool"]);
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    let said = String::from_utf8(checked.stdout).expect("it prints text");
    assert!(said.contains("remote/folder/file: chunk"), "{said}");
    for line in said.lines().filter(|line| line.starts_with('/')) {
        let (place, _) = line.split_once(": ").expect("it names a place");
        fs::remove_file(place).expect("it is there");
    }
    answer(
        &home,
        &["fsck", "--flash", "flash", "--remote", &server.url()],
    );
    let said = text(&command(&home, &["pool", "check", "pool"]));
    assert!(said.contains("all are whole"), "{said}");
    is_served(&home, &server, "back");
    // What the server has of its own there is no client's.
    rescued(&home, &["pool", "kept", "kept-back"]);
    rescued(&home, &["pool", "remote", "remote-back"]);
}

/// A place where nothing stays mounted.
struct Unmounted(PathBuf);

impl Drop for Unmounted {
    fn drop(&mut self) {
        // It may not have been mounted.
        let _ = mounting::place::detach(&self.0);
    }
}

/// A client would be told that something is safe which did not fit.
#[test]
fn a_full_disk_is_said_and_outlived() {
    let home = home("pool-full");
    let pool = Unmounted(home.at("pool"));
    let mount = |options: &str| {
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", options, "greenfs-test"])
            .arg(&pool.0);
        mount.output().is_ok_and(|said| said.status.success())
    };
    if !mount("size=3m") {
        eprintln!("skipped: needs root to mount a small file system");
        return;
    }
    let server = Server::new(&home, &["--pool", "pool"]);
    let mut numbers = Numbers(0xF111);
    for name in ["one", "two"] {
        let data = numbers.bytes(2 << 20);
        fs::write(home.at("flash/folder").join(name), data).expect("it is writable");
    }
    let full = sync(&home, "flash", &server);
    assert_eq!(full.status.code(), Some(1), "{full:?}");
    let said = [full.stdout, full.stderr].concat();
    assert!(
        String::from_utf8_lossy(&said).contains("No space left"),
        "{said:?}"
    );
    assert!(!home.at("remote/folder/one").exists());
    assert!(mount("remount,size=64m"));
    synced(&home, "flash", &server);
    if rescued(&home, &["pool", "remote", "back"]) {
        same(&home, "flash/folder", "back/folder");
    }
}
