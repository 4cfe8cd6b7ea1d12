//! What a user who is not root meets on a branch: files of others, and folders that are closed.

mod common;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::Command;
use std::thread;

use common::{Home, text};
use greenfs::branch::folder::Folder;
use greenfs::branch::store::Store;

const REMOTE: [&str; 2] = ["--remote", "remote"];

/// Files of others in a shared folder would stop all that comes after, for ever.
#[test]
fn others_in_a_folder_keep_nothing_from_being_brought() {
    let home = Home::without_mount("plain-others");
    home.give();
    let begun = home.as_plain_user(
        "mkdir flash/folder && echo mine >flash/folder/file && chmod 500 flash/folder
        ./greenfs sync --flash flash --remote remote",
    );
    if !begun {
        return;
    }
    let before = home.last(&REMOTE);
    let theirs = home.at("remote/folder/theirs");
    fs::create_dir_all(theirs.join("closed")).expect("it is writable");
    fs::write(theirs.join("file"), "theirs").expect("it is writable");
    fs::write(home.at("remote/folder/secret"), "theirs").expect("it is writable");
    let closed = Command::new("chmod")
        .arg("700")
        .args([theirs.join("closed"), theirs.clone()])
        .arg(home.at("remote/folder/secret"))
        .status();
    assert!(closed.expect("chmod is there").success());
    home.as_plain_user(
        "mv flash/folder flash/moved
        ./greenfs sync --flash flash --remote remote
        test \"$(stat -c %a remote/moved)\" = 500",
    );
    let secret = fs::read_to_string(home.at("remote/moved/secret"));
    assert_eq!(secret.expect("it was moved along"), "theirs");
    let mut restore = home.greenfs("restore");
    restore.args(REMOTE);
    restore.args(["--at", &before, "folder/file", "--to", "back"]);
    text(&restore.output().expect("it was built"));
    assert_eq!(
        fs::read_to_string(home.at("back")).expect("it is there"),
        "mine\n"
    );
}

/// One file would keep all others from coming back, or half of one would pass for it.
#[test]
fn what_cannot_be_read_is_named_and_the_rest_restored() {
    let home = Home::without_mount("plain-unread");
    home.give();
    let done = home.as_plain_user(
        "mkdir -p flash/folder/in && cd flash/folder && echo 1 >one && echo 2 >two && echo 3 >in/three
        cd ../.. && ./greenfs sync --flash flash --remote remote
        chmod 0 remote/folder/one
        at=$(./greenfs history --remote remote | sed 's/.* //')
        code=0; ./greenfs restore --remote remote --at $at folder --to back >said || code=$?
        test $code = 1
        code=0; ./greenfs restore --remote remote --at $at folder/one --to none 2>why || code=$?
        test $code = 1
        chmod 500 back/in && ls -A >left",
    );
    if !done {
        return;
    }
    let read = |name: &str| fs::read_to_string(home.at(name)).expect("it is there");
    let said = read("said");
    assert!(said.contains("2 files, 4 B"), "{said}");
    assert!(
        said.contains("not restored: folder/one: Permission"),
        "{said}"
    );
    assert!(read("why").contains("the history cannot be read"));
    assert_eq!(
        (read("back/two"), read("back/in/three")),
        ("2\n".into(), "3\n".into())
    );
    assert!(!home.at("back/one").exists() && !home.at("none").exists());
    assert!(!read("left").contains("greenfs-restore"));
}

/// What changes in a folder that was brought closed would never be brought, nor anything after it.
#[test]
fn a_folder_that_was_closed_is_no_obstacle() {
    let home = Home::without_mount("plain-closed");
    home.give();
    let begun = home.as_plain_user(
        "mkdir -p flash/outer/inner && cd flash/outer/inner && echo one >file && echo one >gone
        cd ../../.. && ./greenfs sync --flash flash --remote remote",
    );
    if !begun {
        return;
    }
    // Root brings what the user could not look into.
    for folder in ["flash/outer/inner", "flash/outer"] {
        let closed = fs::set_permissions(home.at(folder), Permissions::from_mode(0o000));
        closed.expect("it is there");
    }
    home.sync();
    home.give();
    home.as_plain_user(
        "test $(stat -c %a remote/outer) = 0
        chmod 755 flash/outer && chmod 700 flash/outer/inner && cd flash/outer/inner
        echo two >file && rm gone && echo two >new && chmod 500 . && cd ../../..
        ./greenfs sync --flash flash --remote remote
        test \"$(stat -c %a remote/outer remote/outer/inner | xargs)\" = '755 500'",
    );
    home.same_trees("flash", "remote");
}

/// A file would be open to a group from which it was kept.
#[test]
fn another_group_may_do_nothing_with_what_is_restored() {
    let home = Home::without_mount("plain-group");
    home.give();
    let begun = home.as_plain_user(
        "echo secret >flash/file && chmod 664 flash/file
        ./greenfs sync --flash flash --remote remote",
    );
    if !begun {
        return;
    }
    chown(home.at("remote/file"), None, Some(0)).expect("this is root");
    home.as_plain_user(
        "at=$(./greenfs history --remote remote | sed 's/.* //')
        ./greenfs restore --remote remote --at $at file --to back
        test \"$(stat -c %a:%g back)\" = 604:65534",
    );
}

/// A folder of somebody else would keep a branch from being compared, for ever.
#[test]
fn folders_of_others_are_left_and_named() {
    let home = Home::without_mount("plain-left");
    home.give();
    let begun = home.as_plain_user(
        "echo mine >flash/file && ./greenfs sync --flash flash --remote remote && rm remote/file",
    );
    if !begun {
        return;
    }
    for (folder, mode) in [("closed", 0o700), ("open", 0o755)] {
        let folder = home.at("remote").join(folder);
        fs::create_dir(&folder).expect("it is writable");
        fs::write(folder.join("file"), "theirs").expect("it is writable");
        fs::set_permissions(folder, Permissions::from_mode(mode)).expect("it is there");
    }
    home.as_plain_user(
        "code=0; ./greenfs fsck --flash flash --remote remote >said || code=$?
        test $code = 2 && cat remote/file && test ! -e remote/.greenfs/kept",
    );
    let said = fs::read_to_string(home.at("said")).expect("it is there");
    for folder in ["closed", "open"] {
        assert!(
            said.contains(&format!("left what others made of {folder}:")),
            "{said}"
        );
        let theirs = fs::read_to_string(home.at("remote").join(folder).join("file"));
        assert_eq!(theirs.expect("it was left"), "theirs");
    }
}

/// In a folder that hands down a group that is not his, a user could not have files of some size.
#[test]
fn a_folder_that_hands_down_its_group_takes_files() {
    let home = Home::without_mount("plain-setgid");
    home.give();
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() != 0) {
        eprintln!("skipped: needs root to become somebody else");
        return;
    }
    let (folder, group, data) = (home.at("remote"), 12345, vec![7; 9000]);
    for folder in [folder.join(".greenfs"), folder.clone()] {
        fs::create_dir_all(&folder).expect("this is root");
        chown(&folder, Some(65534), Some(group)).expect("this is root");
    }
    fs::set_permissions(&folder, Permissions::from_mode(0o2770)).expect("this is root");
    let fill = {
        let (folder, data) = (folder.clone(), data.clone());
        move || {
            // SAFETY: they touch no memory; this thread alone is somebody else from here on.
            unsafe {
                libc::setfsgid(65534);
                libc::setfsuid(65534);
            }
            let mut folder = Folder::open(&folder)?;
            folder.create(Path::new("file"), 0o640)?;
            folder.fill(Path::new("file"), &data)
        }
    };
    let filled = thread::spawn(fill).join().expect("it does not panic");
    filled.expect("its owner may write it");
    let file = folder.join("file");
    assert_eq!(fs::read(&file).expect("it is there"), data);
    let found = fs::metadata(file).expect("it is there");
    assert_eq!((found.uid(), found.gid()), (65534, group));
    assert_eq!(found.mode() & 0o7777, 0o640);
}
