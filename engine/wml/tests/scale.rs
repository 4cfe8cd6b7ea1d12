//! Nothing has a fixed limit, and nothing needs to be root.

mod common;

use std::fs;
use std::io;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use common::{
    Place, READER, errors, flowop, is_root, ops, processes_with, reader, signal, wait, wait_until,
};

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn a_thousand_threads_work_in_under_a_megabyte_each() {
    let place = Place::new("threads");
    let text = reader("instances=2 {\n", "instances=500 {\n");
    let child = place.start(&text, &["--duration=60"]);
    let name = place.text();
    wait_until(LIMIT, "it did not start", || {
        processes_with(&name).len() == 3
    });
    let threads = || {
        let of = |pid: &u32| fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
        processes_with(&name).iter().map(of).sum::<usize>()
    };
    wait_until(LIMIT, "not all threads were started", || threads() >= 1000);
    std::thread::sleep(Duration::from_secs(1));
    let used_kib: u64 = processes_with(&name).iter().map(proportional_kib).sum();
    signal(&child, libc::SIGINT);
    assert_eq!(wait(child, LIMIT), 3);
    let report = place.written();
    let run = &report["runs"][0];
    let by_instance = flowop(run, "r")["work_ops_by_instance"].as_array().unwrap();
    assert_eq!(by_instance.len(), 1000);
    assert!(run["measure"]["work_ops"].as_u64().unwrap() > 0);
    assert!(used_kib < 1000 * 1024, "{used_kib} KiB");
}

/// Memory of a process, what it shares in equal parts. KiB.
fn proportional_kib(pid: &u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let line = text.lines().find(|line| line.starts_with("Pss:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_thousand_flowops_in_one_thread_all_work() {
    let place = Place::new("flowops");
    let flowops: String = (0..1000)
        .map(|nth| format!("flowop statfile name=s{nth}, filesetname=files\n"))
        .collect();
    let text = format!(
        "set mode quit alldone
         define fileset name=files, path=$dir, entries=20, size=0, dirwidth=20, prealloc
         define process name=p {{ thread name=t {{
           {flowops} flowop finishoncount name=end, value=5000 }} }}
         run"
    );
    let run = place.run(&text, &[]);
    assert_eq!(run["measure"]["work_ops"], 5000);
    assert!((0..1000).all(|nth| ops(&run, &format!("s{nth}")) == 5));
}

#[test]
fn a_hundred_processes_work_and_all_end() {
    let place = Place::new("processes");
    let text = reader("name=p, instances=2", "name=p, instances=100").replace(
        "random }",
        "random flowop finishoncount name=end, value=20, target=r }",
    );
    let run = place.run(&format!("set mode quit alldone\n{text}"), &[]);
    assert_eq!(errors(&run), 0);
    let by_instance = flowop(&run, "r")["work_ops_by_instance"]
        .as_array()
        .unwrap();
    assert_eq!(by_instance.len(), 200);
    assert!(by_instance.iter().all(|ops| *ops == 20));
    assert!(processes_with(&place.text()).is_empty());
}

#[test]
fn a_million_files_are_created_and_each_is_found() {
    // On a disk a million files take minutes; the test is about the program.
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() || free_inodes(memory) < 1_200_000 {
        eprintln!("skipped: /dev/shm has no room for a million files");
        return;
    }
    let place = Place::below(memory, &format!("fsgreen-wml-test-{}", std::process::id()));
    let text = "
        set mode quit alldone
        define fileset name=files, path=$dir, entries=1000000, size=0, dirwidth=1000, dirgamma=0,
          prealloc, paralloc
        define process name=p { thread name=t, instances=2 {
          flowop statfile name=s, filesetname=files
          flowop finishoncount name=end, value=500000, target=s } }
        run";
    let report = place.report("run", text, &[]);
    assert_eq!(report["prepare"][0]["files"], 1_000_000);
    let run = &report["runs"][0];
    // The rotor gives every file to one thread only.
    assert_eq!((ops(run, "s"), errors(run)), (1_000_000, 0));
    assert_eq!(flowop(run, "s")["skipped"], 0);
}

fn free_inodes(directory: &Path) -> u64 {
    let output = Command::new("df")
        .args(["--output=iavail"])
        .arg(directory)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .nth(1)
        .and_then(|line| line.trim().parse().ok())
        .unwrap_or(0)
}

const NOBODY: u32 = 65534;

/// The same as a plain user.
fn as_plain_user(place: &Place, command: &Command) -> Command {
    let program = place.0.join("fsgreen-wml");
    fs::copy(command.get_program(), &program).unwrap();
    let mut plain = Command::new(program);
    plain.args(command.get_args()).current_dir("/");
    if is_root() {
        chown(place.dir(), Some(NOBODY), Some(NOBODY)).unwrap();
        plain.uid(NOBODY).gid(NOBODY);
    }
    plain
}

/// Build folders may be closed to others, this is not.
fn open_place(test: &str) -> Place {
    let test = format!("fsgreen-{test}-{}", std::process::id());
    Place::below(&std::env::temp_dir(), &test)
}

#[test]
fn a_plain_user_can_run_everything_and_learns_what_was_refused() {
    let text = READER
        .replace("name=p,", "name=p, nice=-5,")
        .replace("name=t,", "name=t, ioprio=7,")
        + "create files sync dropcaches run 0.2\n";
    let place = open_place("plain");
    let command = place.command("run", &text, &[]);
    let output = as_plain_user(&place, &command).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(ops(&report["runs"][0], "r") > 0);
    let notes: Vec<&str> = report["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| note.as_str().unwrap())
        .collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[0].starts_with("caches were not dropped: "),
        "{notes:?}"
    );
    assert!(
        notes[1].starts_with("run 1: 'nice' was refused with E"),
        "{notes:?}"
    );
}

#[test]
fn threads_that_cannot_be_started_are_an_error_that_says_how_many_were_asked_for() {
    if !is_root() {
        eprintln!("skipped: a limit would also count the other processes of this user");
        return;
    }
    let text = reader("instances=2 {\n", "instances=400 {\n");
    let place = open_place("nproc");
    let command = place.command("run", &text, &["--duration=60"]);
    let mut command = as_plain_user(&place, &command);
    // SAFETY: one system call.
    let limited = unsafe {
        command.pre_exec(|| {
            let (rlim_cur, rlim_max) = (200, 200);
            let limit = libc::rlimit { rlim_cur, rlim_max };
            match libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        })
    };
    let output = limited.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("cannot start a thread of 'p', one of 800: "),
        "{said}"
    );
    assert!(said.contains("\n  next:  "), "{said}");
}
