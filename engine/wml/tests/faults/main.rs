//! File systems that are full, read-only or broken: errors are counted by errno and end no run.
//!
//! Each test mounts in a name space of its own, which the kernel removes with its last process.

#[path = "../common/mod.rs"]
mod common;
mod fuse;

use std::process::{Command, Output};

use serde_json::Value;

use common::{Place, flowop, ops, reader};

/// Run the script where it may mount; None if this machine does not allow it.
fn with_own_mounts(script: &str) -> Option<Output> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-ec", script]);
        command.output()
    };
    if !unshare("true").is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no name spaces for users here");
        return None;
    }
    Some(unshare(script).unwrap())
}

/// The first run of a text on a small file system in memory.
fn run_in_memory(place: &Place, text: &str, size: &str) -> Option<Value> {
    let command = place.command("run", text, &["--duration=0.5"]);
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let words: Vec<String> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
    let dir = place.dir();
    let script = format!(
        "mount -t tmpfs -o size={size} tmpfs '{}'; {}",
        dir.display(),
        words.join(" ")
    );
    let output = with_own_mounts(&script)?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
    Some(report["runs"][0].take())
}

#[test]
fn a_full_file_system_is_counted_and_ends_no_run() {
    let place = Place::new("enospc");
    let text = reader("read name=r", "appendfile name=r").replace(", random", "");
    let Some(run) = run_in_memory(&place, &text, "1m") else {
        return;
    };
    assert!(ops(&run, "r") > 0, "the file system was never writable");
    let errors = &flowop(&run, "r")["errors"];
    assert!(errors["ENOSPC"].as_u64().unwrap() > 0, "{errors}");
    assert_eq!(errors.as_object().unwrap().len(), 1, "{errors}");
}

#[test]
fn a_read_only_file_system_is_counted_and_ends_no_run() {
    let place = Place::new("erofs");
    let text = format!(
        "define fileset name=files, path=$dir, entries=20, size=8k, dirwidth=20, prealloc=50
         create files
         system \"mount -o remount,ro $dir\"
         {}
         run",
        "define process name=p { thread name=t {
           flowop createfile name=c, filesetname=files
           flowop statfile name=s, filesetname=files } }"
    );
    let Some(run) = run_in_memory(&place, &text, "1m") else {
        return;
    };
    assert_eq!(ops(&run, "c"), 0);
    assert!(flowop(&run, "c")["errors"]["EROFS"].as_u64().unwrap() > 0);
    assert!(ops(&run, "s") > 0, "reading must still work");
}

#[test]
fn a_disk_that_fails_is_counted_and_ends_no_run() {
    let place = Place::new("eio");
    let test = std::env::current_exe().unwrap();
    let script = format!(
        "PLACE='{}' '{}' --ignored --exact broken_disk",
        place.0.display(),
        test.display()
    );
    let Some(output) = with_own_mounts(&script) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "the inner part of the test above, which gives it a name space"]
fn broken_disk() {
    let place = Place(std::env::var_os("PLACE").unwrap().into());
    let server = fuse::mount(&place.dir()).unwrap();
    std::thread::spawn(move || fuse::serve(server));
    let text = reader("prealloc", "prealloc, trusttree");
    let run = place.run(&text, &["--duration=0.5"]);
    let errors = &flowop(&run, "r")["errors"];
    assert!(errors["EIO"].as_u64().unwrap() > 0, "{errors}");
    assert_eq!(errors.as_object().unwrap().len(), 1, "{errors}");
    assert_eq!(ops(&run, "r"), 0);
}
