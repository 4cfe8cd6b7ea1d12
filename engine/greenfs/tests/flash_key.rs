//! The key of a flash folder that its file system encrypts, as far as that needs neither root nor
//! such a file system; tests/test_greenfs_flash_key.py has one.

mod common;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use common::{Home, text};

/// What `greenfs` says when it refuses.
fn refused(home: &Home, command: &str, arguments: &[&str]) -> String {
    let output = home.greenfs(command).args(arguments).output();
    let output = output.expect("it was built");
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).expect("it prints text")
}

/// A key that others read protects nothing, and one that is replaced loses all that it encrypts.
#[test]
fn a_key_is_its_owners_and_replaces_none() {
    let home = Home::without_mount("flash-key");
    let mut make = home.greenfs("flash");
    let said = text(&make.args(["key", "key"]).output().expect("it was built"));
    assert!(said.contains("keep a copy elsewhere"), "{said}");
    let key = fs::read_to_string(home.at("key")).expect("it was made");
    assert_eq!(key.trim_end().len(), 2 * 64);
    let mode = fs::metadata(home.at("key")).expect("it is there");
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);

    let said = refused(&home, "flash", &["key", "key"]);
    assert!(said.contains("name a file that is not there yet"), "{said}");
    let still = fs::read_to_string(home.at("key")).expect("it is there");
    assert_eq!(still, key);
}

/// A damaged key, or one of something else, would encrypt what nothing opens later.
#[test]
fn what_is_no_key_is_refused() {
    let home = Home::without_mount("no-flash-key");
    let status = ["--flash", "flash", "--flash-key", "key"];
    let of_a_pool = "ab".repeat(32);
    let cut = "ab".repeat(63);
    for content in [
        "",
        "no key",
        &of_a_pool,
        &cut,
        &"AB".repeat(64),
        "\0\u{fffd}",
    ] {
        fs::write(home.at("key"), content).expect("it is writable");
        fs::set_permissions(home.at("key"), Permissions::from_mode(0o600)).expect("it is ours");
        let said = refused(&home, "status", &status);
        assert!(said.contains("this is no key"), "{content:?}: {said}");
    }
    fs::remove_file(home.at("key")).expect("it is there");
    let said = refused(&home, "sync", &status);
    assert!(said.contains("the key cannot be read"), "{said}");
    assert!(!home.at("flash/.greenfs").exists(), "nothing was begun");
}

/// Somebody would believe that a folder had been closed that anybody reads.
#[test]
fn a_folder_in_plain_text_is_not_said_to_be_locked() {
    let home = Home::without_mount("flash-lock");
    let said = refused(&home, "flash", &["lock", "flash"]);
    assert!(said.contains("no key encrypts this folder"), "{said}");
    assert!(said.contains("--flash-key"), "{said}");
}
