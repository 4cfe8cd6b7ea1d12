//! What a remote keeps, and what people get back of it, without a mount.

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Output};

use common::Home;
use greenfs::branch::folder::Folder;
use greenfs::branch::past::Past;

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).expect("it prints text")
}

fn sync(home: &Home) {
    let mut sync = home.greenfs("sync");
    sync.args(["--flash", "flash", "--remote", "remote"]);
    text(&sync.output().expect("it was built"));
}

fn ask(home: &Home, command: &str, arguments: &[&str]) -> Output {
    let mut greenfs = home.greenfs(command);
    greenfs.args(["--remote", "remote"]).args(arguments);
    greenfs.output().expect("it was built")
}

/// When the remote was last changed, as a text.
fn last(home: &Home) -> String {
    let said = text(&ask(home, "history", &[]));
    let last = said.trim().rsplit(' ').next();
    last.expect("it names a time").to_owned()
}

/// Replace a part of what the remote says that it is.
fn edit(home: &Home, edit: impl FnOnce(String) -> String) {
    let file = home.at("remote/.greenfs/branch.json");
    let before = fs::read_to_string(&file).expect("it was written");
    let after = edit(before.clone());
    assert_ne!(before, after);
    fs::write(&file, after).expect("it is writable");
}

fn number(text: &str, field: &str) -> String {
    let (_, rest) = text.split_once(field).expect("it has the field");
    rest.chars().take_while(char::is_ascii_digit).collect()
}

/// Run a script as somebody who is not root and owns all of it; false where that is not possible.
fn as_plain_user(home: &Home, script: &str) -> bool {
    let is_root = fs::metadata("/proc/self").expect("it is there").uid() == 0;
    if !is_root {
        eprintln!("skipped: needs root to become somebody else");
        return false;
    }
    fs::copy(env!("CARGO_BIN_EXE_greenfs"), home.at("greenfs")).expect("it was built");
    let mut user = Command::new("setpriv");
    user.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    user.args(["sh", "-ec", script]).current_dir(&home.root);
    let output = user.output().expect("setpriv is there");
    assert!(output.status.success(), "{output:?}");
    true
}

fn give(home: &Home) {
    let owned = Command::new("chown")
        .args(["-R", "65534:65534"])
        .arg(&home.root)
        .status();
    owned.expect("chown is there");
}

/// Files of others in a shared folder would stop all that comes after, for ever.
#[test]
fn others_in_a_folder_keep_nothing_from_being_brought() {
    let home = Home::without_mount("history-others");
    give(&home);
    let begun = as_plain_user(
        &home,
        "mkdir flash/folder && echo mine >flash/folder/file && chmod 500 flash/folder
        ./greenfs sync --flash flash --remote remote",
    );
    if !begun {
        return;
    }
    let before = last(&home);
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
    as_plain_user(
        &home,
        "mv flash/folder flash/moved
        ./greenfs sync --flash flash --remote remote
        test \"$(stat -c %a remote/moved)\" = 500",
    );
    let secret = fs::read_to_string(home.at("remote/moved/secret"));
    assert_eq!(secret.expect("it was moved along"), "theirs");
    text(&ask(
        &home,
        "restore",
        &["--at", &before, "folder/file", "--to", "back"],
    ));
    assert_eq!(
        fs::read_to_string(home.at("back")).expect("it is there"),
        "mine\n"
    );
}

/// One file would keep all others from coming back, or half of one would pass for it.
#[test]
fn what_cannot_be_read_is_named_and_the_rest_restored() {
    let home = Home::without_mount("history-unread");
    give(&home);
    let done = as_plain_user(
        &home,
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

/// What came while a large version was copied would be overwritten, or another's work be removed.
#[test]
fn restoring_replaces_nothing_and_clears_nothing() {
    let home = Home::without_mount("history-free");
    fs::write(home.at("flash/file"), "first").expect("it is writable");
    sync(&home);
    let theirs = home.at(".greenfs-restore-of-another");
    fs::create_dir(&theirs).expect("it is writable");
    text(&ask(
        &home,
        "restore",
        &["--at", &last(&home), "file", "--to", "back"],
    ));
    assert!(theirs.is_dir());
    let mut folder = Folder::open(&home.root).expect("it is there");
    for there in ["back", "flash"] {
        let renamed = folder.rename_to_free(Path::new("remote/file"), Path::new(there));
        let kind = renamed.expect_err("something is there").kind();
        assert_eq!(kind, std::io::ErrorKind::AlreadyExists);
    }
    let free = folder.rename_to_free(Path::new("back"), Path::new("free"));
    free.expect("nothing is there");
    assert_eq!(fs::read(home.at("free")).expect("it was renamed"), b"first");
}

/// The first synchronisation by a greenfs with versions would overwrite the last without.
#[test]
fn a_remote_of_the_first_format_gives_back_what_is_overwritten() {
    let home = Home::without_mount("history-format");
    fs::write(home.at("flash/file"), "first").expect("it is writable");
    sync(&home);
    edit(&home, |text| {
        let (text, _) = text.split_once(",\"history\"").expect("it has one");
        format!("{}}}\n", text.replace("\"format\":2", "\"format\":1"))
    });
    fs::write(home.at("flash/file"), "the second").expect("it is writable");
    fs::write(home.at("flash/new"), "new").expect("it is writable");
    sync(&home);
    let versions = text(&ask(&home, "history", &["file"]));
    let lines: Vec<_> = versions.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].ends_with("file, 5 B"),
        "{versions}"
    );
    let since = lines[0].split("  ").next().expect("it names a time");
    text(&ask(
        &home,
        "restore",
        &["--at", since, "file", "--to", "back"],
    ));
    assert_eq!(fs::read(home.at("back")).expect("it is there"), b"first");
    let newer = ask(&home, "restore", &["--at", since, "new", "--to", "none"]);
    assert!(!newer.status.success(), "it was not there yet");
}

/// In an hour of autumn, another version would come back than the one that was printed.
#[test]
fn an_hour_that_comes_twice_is_told_apart() {
    let home = Home::without_mount("history-autumn");
    fs::write(home.at("flash/file"), "x").expect("it is writable");
    sync(&home);
    // Half past two, in summer and in winter time.
    let (summer_us, winter_us) = (1_792_888_200_000_000_i64, 1_792_891_800_000_000_i64);
    edit(&home, |text| {
        let since = number(&text, "\"since_us\":");
        let text = text.replace(&since, &summer_us.to_string());
        let last = number(&text, "\"last_us\":");
        text.replace(
            &format!("\"last_us\":{last}"),
            &format!("\"last_us\":{winter_us}"),
        )
    });
    let mut history = home.greenfs("history");
    history.args(["--remote", "remote"]);
    history.env("TZ", "CET-1CEST,M3.5.0,M10.5.0/3");
    let said = text(&history.output().expect("it was built"));
    let times: Vec<_> = said
        .split([' ', ';', '\n'])
        .filter(|word| word.starts_with("2026-"))
        .collect();
    let is_half_past_two = |time: &&str| time.starts_with("2026-10-25T02:30");
    assert_eq!(times.len(), 2, "{said}");
    assert_eq!(
        times.iter().filter(|time| is_half_past_two(time)).count(),
        1,
        "{said}"
    );
    assert_eq!(
        times.iter().filter(|time| time.ends_with('Z')).count(),
        1,
        "{said}"
    );
}

/// The last version could not be named while the clock is behind the one that it was kept by.
#[test]
fn a_clock_that_went_ahead_once_hides_nothing() {
    let home = Home::without_mount("history-ahead");
    fs::write(home.at("flash/file"), "x").expect("it is writable");
    sync(&home);
    edit(&home, |text| {
        let last = number(&text, "\"last_us\":");
        let ahead = last.parse::<i64>().expect("it is a number") + 3_600_000_000;
        text.replace(
            &format!("\"last_us\":{last}"),
            &format!("\"last_us\":{ahead}"),
        )
    });
    text(&ask(
        &home,
        "restore",
        &["--at", &last(&home), "file", "--to", "back"],
    ));
    let future = ask(
        &home,
        "restore",
        &["--at", "9999-01-01", "file", "--to", "none"],
    );
    let why = String::from_utf8_lossy(&future.stderr).into_owned();
    assert!(why.contains("until now, not of 9999"), "{why}");
}

/// A version would be half of the next one.
#[test]
fn what_is_replaced_while_it_is_copied_is_copied_again() {
    let home = Home::without_mount("history-between");
    fs::create_dir(home.at("flash/folder")).expect("it is writable");
    fs::write(home.at("flash/folder/file"), "first").expect("it is writable");
    sync(&home);
    let branch = Folder::open(&home.at("remote")).expect("it is there");
    let text = fs::read_to_string(home.at("remote/.greenfs/branch.json")).expect("it is there");
    let at_us = number(&text, "\"last_us\":")
        .parse()
        .expect("it is a number");
    let past = Past {
        branch: &branch,
        at_us,
    };
    let found = ["folder/file", "folder"].map(|path| {
        let spot = past.find(Path::new(path)).expect("it can be read");
        spot.expect("it is there")
    });
    fs::remove_dir_all(home.at("flash/folder")).expect("it is there");
    fs::create_dir(home.at("flash/folder")).expect("it is writable");
    fs::write(home.at("flash/folder/file"), "the second").expect("it is writable");
    fs::write(home.at("flash/folder/new"), "new").expect("it is writable");
    sync(&home);
    let mut to = Folder::open(&home.root).expect("it is there");
    for (spot, place) in found.iter().zip(["file", "folder"]) {
        past.copy(spot, &mut to, Path::new(place))
            .expect("there is room");
    }
    let file = fs::read(home.at("file")).expect("it is there");
    assert_eq!(String::from_utf8_lossy(&file), "first");
    let file = fs::read(home.at("folder/file")).expect("it is there");
    assert_eq!(String::from_utf8_lossy(&file), "first");
    assert!(!home.at("folder/new").exists());
}
