//! What fails is counted, once and by its errno, and never ends a run: a full disk, a read-only
//! file system, a device that fails.

#[path = "../common/mod.rs"]
mod common;

mod device;

use std::fs;
use std::process::Command;

use serde_json::Value;

use common::{Place, errors, flowop, is_root, ops};

/// The results of a run in a mount namespace of its own, after the commands before it. None, with
/// a word to people, where this user may not have one.
fn run_mounted(place: &Place, before: &str, text: &str, options: &[&str]) -> Option<Value> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(if is_root() { &["-m"][..] } else { &["-rm"] });
        command.args(["sh", "-ec", script]);
        command
            .env("DIR", place.dir())
            .env("TEXT", place.text())
            .env("WML", env!("CARGO_BIN_EXE_fsgreen-wml"));
        command
    };
    let possible = unshare("mount -t tmpfs none \"$DIR\"").output();
    if !possible.is_ok_and(|output| output.status.success()) {
        eprintln!(
            "skipped: this user may not mount; run the tests as root, or as root \
             sysctl kernel.unprivileged_userns_clone=1"
        );
        return None;
    }
    fs::write(place.text(), text).unwrap();
    let script = format!(
        "{before}; exec \"$WML\" run \"$TEXT\" --set=dir=\"$DIR\" --json=\"$TEXT.json\" --max-errors=100% {}",
        options.join(" ")
    );
    let output = unshare(&script).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let json = fs::read(place.text().with_extension("f.json")).unwrap();
    let report: Value = serde_json::from_slice(&json).unwrap();
    Some(report["runs"][0].clone())
}

fn failed(run: &Value, name: &str, errno: &str) -> u64 {
    flowop(run, name)["errors"][errno].as_u64().unwrap_or(0)
}

#[test]
fn a_full_disk_is_counted_and_reads_go_on() {
    let place = Place::new("enospc");
    let text = "
        define fileset name=files, path=$dir, entries=4, size=64k, dirwidth=4, prealloc
        define process name=p { thread name=t {
          flowop appendfile name=append, filesetname=files, fd=1, iosize=64k
          flowop fallocate name=allocate, fd=1, iosize=1m
          flowop read name=read, filesetname=files, fd=2, iosize=4k, random
          flowop finishoncount name=end, value=200, target=read } }
        run 60\n";
    let mount = "mount -t tmpfs -o size=2m none \"$DIR\"";
    let Some(run) = run_mounted(&place, mount, text, &[]) else {
        return;
    };
    assert_eq!(run["partial"], false);
    assert_eq!(ops(&run, "read"), 200);
    for name in ["append", "allocate"] {
        let enospc = failed(&run, name, "ENOSPC");
        assert!(enospc > 0, "{run}");
        assert_eq!(ops(&run, name) + enospc, 200, "each op once");
    }
}

#[test]
fn a_read_only_file_system_refuses_every_change_and_no_look() {
    let place = Place::new("erofs");
    let changes = [
        ("openfile", ", filesetname=files, fd=1"),
        ("createfile", ", filesetname=files, fd=1"),
        ("deletefile", ", filesetname=files"),
        ("renamefile", ", filesetname=files"),
        ("linkfile", ", filesetname=files"),
        ("symlinkfile", ", filesetname=files"),
        ("truncatefile", ", filesetname=files, iosize=1k"),
        ("chmodfile", ", filesetname=files"),
        ("setxattr", ", filesetname=files"),
        ("makedir", ", filesetname=files"),
        ("removedir", ", filesetname=files"),
    ];
    let flowops =
        changes.map(|(operation, rest)| format!("flowop {operation} name={operation}{rest}\n"));
    let text = format!(
        "define fileset name=files, path=$dir, entries=40, leafdirs=40, size=4k, dirwidth=4, prealloc=50
         define process name=p {{ thread name=t {{ {}
           flowop statfile name=stat, filesetname=files
           flowop listdir name=list, filesetname=files
           flowop finishoncount name=end, value=100 }} }}
         run 60\n",
        flowops.concat()
    );
    let before = "mount -t tmpfs none \"$DIR\"
        \"$WML\" prepare \"$TEXT\" --set=dir=\"$DIR\" > /dev/null
        mount -o remount,bind,ro \"$DIR\"";
    let Some(run) = run_mounted(&place, before, &text, &["--prepared"]) else {
        return;
    };
    for (name, _) in changes {
        assert_eq!(ops(&run, name), 0, "{name}");
        assert_eq!(failed(&run, name, "EROFS"), 50, "{name}: {run}");
    }
    assert_eq!((ops(&run, "stat"), ops(&run, "list")), (50, 50));
    assert_eq!(errors(&run), 50 * changes.len() as u64);
}

#[test]
fn a_kernel_without_io_uring_is_told_before_the_run() {
    let place = Place::new("no-uring");
    let text = "
        define fileset name=files, path=$dir, entries=4, size=64k, dirwidth=4, prealloc
        define process name=p { thread name=t {
          flowop uringread name=read, filesetname=files, iosize=4k, random } }
        run 60\n";
    place.report("prepare", text, &[]);
    for (errno, next) in [
        ("ENOSYS", "Linux 5.6"),
        ("EPERM", "kernel.io_uring_disabled=0"),
    ] {
        let run = place.command("run", text, &["--prepared"]);
        let mut strace = Command::new("strace");
        strace.args([
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            "trace=io_uring_setup",
            "-e",
        ]);
        strace.arg(format!("inject=io_uring_setup:error={errno}"));
        let Ok(output) = strace.arg(run.get_program()).args(run.get_args()).output() else {
            eprintln!("skipped: there is no strace to refuse it; apt install strace");
            return;
        };
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains("refuses an io_uring") && said.contains(next),
            "{said}"
        );
    }
}
