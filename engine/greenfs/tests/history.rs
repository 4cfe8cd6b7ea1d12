//! What a remote keeps, and what people get back of it, without a mount.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::{Home, text};
use greenfs::branch::folder::Folder;
use greenfs::branch::past::Past;

fn ask(home: &Home, command: &str, arguments: &[&str]) -> Output {
    let mut greenfs = home.greenfs(command);
    greenfs.args(["--remote", "remote"]).args(arguments);
    greenfs.output().expect("it was built")
}

/// When the remote was last changed, as a text.
fn last(home: &Home) -> String {
    home.last(&["--remote", "remote"])
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

/// What came while a large version was copied would be overwritten, or another's work be removed.
#[test]
fn restoring_replaces_nothing_and_clears_nothing() {
    let home = Home::without_mount("history-free");
    fs::write(home.at("flash/file"), "first").expect("it is writable");
    home.sync();
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

/// What a restore in a mounted volume makes on its way would take room for ever.
#[test]
fn what_is_being_restored_has_no_versions() {
    let home = Home::without_mount("history-steps");
    let step = ".greenfs-restore-1-0";
    fs::create_dir(home.at("flash").join(step)).expect("it is writable");
    for data in ["1", "22"] {
        fs::write(home.at("flash").join(step).join("file"), data).expect("it is writable");
        home.sync();
    }
    let names = || {
        let branch = Folder::open(&home.at("remote")).expect("it is there");
        let now = Past {
            branch: &branch,
            at_us: i64::MAX,
        };
        let root = now.root().expect("it is there");
        let children = now.children(&root).expect("it can be read");
        let names: Vec<_> = children.into_iter().map(|(name, _)| name).collect();
        names
    };
    assert!(names().is_empty());
    fs::rename(home.at("flash").join(step), home.at("flash/back")).expect("it is there");
    home.sync();
    assert_eq!(names(), ["back"]);
    let kept = fs::read_dir(home.at("remote/.greenfs/history")).expect("it is there");
    let kept: Vec<_> = kept
        .map(|name| name.expect("it can be read").file_name())
        .collect();
    assert_eq!(kept, ["back"]);
    let never = ask(&home, "history", &[step]);
    let why = String::from_utf8_lossy(&never.stderr).into_owned();
    assert!(why.contains("nothing was ever there"), "{why}");
}

/// Who does what the message says would no longer find any version, unawares.
#[test]
fn who_may_move_it_aside_is_told_what_goes_with_it() {
    let home = Home::without_mount("history-aside");
    fs::write(home.at("flash/file"), "first").expect("it is writable");
    home.sync();
    let first = last(&home);
    let copied = Command::new("cp")
        .args(["-a", "flash", "older"])
        .current_dir(&home.root)
        .status();
    assert!(copied.expect("cp is there").success());
    for data in ["the second", "the third", "the fourth one"] {
        fs::write(home.at("flash/file"), data).expect("it is writable");
        home.sync();
    }
    let said = |flash: &str, role: &str| {
        let mut sync = home.greenfs("sync");
        sync.args(["--flash", flash, role, "remote"]);
        let output = sync.output().expect("it was built");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stdout).expect("it prints text")
    };
    let identity = fs::read(home.at("remote/.greenfs/branch.json")).expect("it was written");
    let older = said("older", "--remote");
    let other = said("flash", "--disk");
    fs::write(home.at("remote/.greenfs/branch.json"), "{").expect("it is writable");
    let damaged = said("flash", "--remote");
    fs::write(home.at("remote/.greenfs/branch.json"), identity).expect("it is writable");
    fs::write(home.at("flash/.greenfs/checkpoint"), "0").expect("it is writable");
    let flash = home.greenfs("status").args(["--flash", "flash"]).output();
    let flash = String::from_utf8(flash.expect("it was built").stderr).expect("it prints text");
    for (said, why) in [
        (older, "flash is a copy"),
        (other, "not its disk"),
        (damaged, "this is no branch"),
        (flash, "the checkpoint is damaged"),
    ] {
        assert!(
            said.contains(why) && said.contains("earlier versions"),
            "{said}"
        );
    }
    fs::create_dir(home.at("aside")).expect("it is writable");
    fs::rename(home.at("remote/.greenfs"), home.at("aside/.greenfs")).expect("it is there");
    let mut restore = home.greenfs("restore");
    restore.args(["--remote", "aside", "--at", &first, "file", "--to", "back"]);
    let aside = restore.output();
    text(&aside.expect("it was built"));
    assert_eq!(fs::read(home.at("back")).expect("it is there"), b"first");
}

/// The first synchronisation by a greenfs with versions would overwrite the last without.
#[test]
fn a_remote_of_the_first_format_gives_back_what_is_overwritten() {
    let home = Home::without_mount("history-format");
    fs::write(home.at("flash/file"), "first").expect("it is writable");
    home.sync();
    edit(&home, |text| {
        let (text, _) = text.split_once(",\"history\"").expect("it has one");
        format!("{}}}\n", text.replace("\"format\":2", "\"format\":1"))
    });
    fs::write(home.at("flash/file"), "the second").expect("it is writable");
    fs::write(home.at("flash/new"), "new").expect("it is writable");
    home.sync();
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
    home.sync();
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
    home.sync();
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
    home.sync();
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
    home.sync();
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
