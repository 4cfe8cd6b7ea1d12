//! The system calls of each thread, as strace sees them.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::Place;

/// What is traced; the question mark lets a machine be without one of them.
const CALLS: &str = "?open,openat,close,read,pread64,write,pwrite64,pwritev2,lseek,fadvise64,\
    ?stat,?newfstatat,?fstat,?unlink,?rename,?link,?symlink,?chmod,?mkdir,?rmdir,getdents64,\
    truncate,ftruncate,fallocate,fsync,fdatasync,setxattr,fsetxattr,getxattr,fgetxattr,\
    copy_file_range";

/// The calls that each thread made on files below the directory, without the descriptors' numbers
/// and results; in the order of the threads' start. None where there is no strace.
fn trace(place: &Place, text: &str, seed: u32) -> Option<Vec<Vec<String>>> {
    let possible = Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .output();
    if !possible.is_ok_and(|output| output.status.success()) {
        eprintln!(
            "skipped: there is no strace that may trace; apt install strace, or allow ptrace"
        );
        return None;
    }
    let seed = format!("--seed={seed}");
    place.report("prepare", text, &[&seed]);
    // One call of a kind may fail: a file has no attribute yet.
    let options = ["--prepared", "--max-errors=100%", &seed];
    let command = place.command("run", text, &options);
    let traces = place.0.join("trace");
    fs::create_dir(&traces).unwrap();
    let mut strace = Command::new("strace");
    strace
        .args(["-ff", "-e", "signal=none", "-e"])
        .arg(format!("trace={CALLS}"))
        .arg("-o")
        .arg(traces.join("t"));
    let output = strace
        .arg(command.get_program())
        .args(command.get_args())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut threads: Vec<(u64, Vec<String>)> = fs::read_dir(&traces)
        .unwrap()
        .map(|item| {
            let path = item.unwrap().path();
            let id = path.extension().unwrap().to_str().unwrap().parse().unwrap();
            (id, calls(&fs::read_to_string(&path).unwrap(), &place.dir()))
        })
        .collect();
    threads.sort_unstable();
    // The first is the parent, which looks at the tree.
    let threads = threads.into_iter().skip(1).map(|(_, calls)| calls);
    Some(threads.filter(|calls| !calls.is_empty()).collect())
}

fn calls(trace: &str, directory: &Path) -> Vec<String> {
    let directory = format!("{}/", directory.display());
    let lines = trace.lines().map(|line| line.replace(&directory, ""));
    let mut at_work = false;
    lines
        .filter(|line| {
            at_work |= line.contains("\"files");
            at_work && line.contains('(')
        })
        .filter_map(|line| call(&line))
        .collect()
}

/// The name of a call and those of its arguments that a text decides.
fn call(line: &str) -> Option<String> {
    let (name, rest) = line.split_once('(')?;
    let path = || rest.split('"').nth(1).unwrap_or_default();
    let numbers = || {
        let end = rest.rfind(") ").unwrap_or(rest.len());
        let mut numbers: Vec<&str> = rest[..end].rsplit(", ").collect();
        numbers.reverse();
        numbers
    };
    Some(match name {
        "close" | "fsync" => name.to_owned(),
        "pread64" | "pwrite64" => {
            let numbers = numbers();
            format!(
                "{name} {} at {}",
                numbers[numbers.len() - 2],
                numbers[numbers.len() - 1]
            )
        }
        "stat" | "newfstatat" | "fstat" => format!("stat {}", path()),
        _ => format!("{name} {}", path()),
    })
}

/// Names without what follows them.
fn names(calls: &[String]) -> Vec<&str> {
    calls
        .iter()
        .map(|call| call.split(' ').next().unwrap())
        .collect()
}

const TEXT: &str = "
    define fileset name=files, path=$dir, entries=16, size=64k, dirwidth=4, prealloc
    define process name=p { thread name=t, instances=2 {
      flowop openfile name=open, filesetname=files, fd=1, select=uniform
      flowop read name=read, fd=1, iosize=1k, random, iters=2
      flowop write name=write, fd=1, iosize=2k, random
      flowop fsync name=sync, fd=1
      flowop closefile name=close, fd=1
      flowop statfile name=stat, filesetname=files, select=sequential
      flowop finishoncount name=end, value=5, target=stat } }
    run 60\n";

#[test]
fn every_thread_does_what_the_text_says_in_its_order_and_nothing_else() {
    let place = Place::new("sequence");
    let Some(threads) = trace(&place, TEXT, 1) else {
        return;
    };
    assert_eq!(threads.len(), 2, "{threads:?}");
    let pass = [
        "openat", "pread64", "pread64", "pwrite64", "fsync", "close", "stat",
    ];
    for calls in &threads {
        assert_eq!(names(calls), pass.repeat(5));
        let stats: Vec<&String> = calls
            .iter()
            .filter(|call| call.starts_with("stat"))
            .collect();
        let mut in_order = stats.clone();
        in_order.sort();
        in_order.dedup();
        assert_eq!(stats, in_order, "each thread goes on through the files");
        for call in calls.iter().filter(|call| call.starts_with('p')) {
            let (size, offset) = call.split_once(' ').unwrap().1.split_once(" at ").unwrap();
            let (size, offset): (u64, u64) = (size.parse().unwrap(), offset.parse().unwrap());
            assert!(offset % size == 0 && offset + size <= 65536, "{call}");
        }
    }
}

#[test]
fn one_seed_gives_each_thread_the_same_operations_and_another_seed_others() {
    let mut traces = Vec::new();
    for (nth, seed) in [7, 7, 8].into_iter().enumerate() {
        let place = Place::new(&format!("sequence-{nth}"));
        let Some(threads) = trace(&place, TEXT, seed) else {
            return;
        };
        traces.push(threads);
    }
    assert_eq!(traces[0], traces[1], "the same seed");
    for (one, other) in traces[0].iter().zip(&traces[2]) {
        assert_ne!(one, other, "another seed");
    }
    assert_ne!(traces[0][0], traces[0][1], "two threads do the same");
}

/// Flowops, and the system calls of one op of each.
const EACH: &[(&str, &[&str])] = &[
    ("openfile filesetname=files, fd=4", &["openat"]),
    ("readwholefile fd=4, iosize=8k", &["read", "read"]),
    ("readwholefile fd=4, iosize=8k", &["lseek", "read", "read"]),
    ("closefile fd=4", &["close"]),
    (
        "readwholefile filesetname=files, fd=4, iosize=8k",
        &["openat", "read", "read"],
    ),
    ("closefile fd=4", &["close"]),
    (
        "openfile filesetname=files, fd=1, noreadahead",
        &["openat", "fadvise64"],
    ),
    ("read fd=1, iosize=1k", &["read"]),
    (
        "readwholefile fd=1, iosize=4k",
        &["lseek", "read", "read", "read"],
    ),
    ("write fd=1, iosize=1k", &["write"]),
    ("appendfile fd=1, iosize=1k", &["pwritev2"]),
    ("fdatasync fd=1", &["fdatasync"]),
    ("truncatefile fd=1, iosize=4k", &["ftruncate"]),
    ("fallocate fd=1, iosize=4k", &["stat", "fallocate"]),
    ("statfile fd=1", &["stat"]),
    ("setxattr fd=1", &["fsetxattr"]),
    ("getxattr fd=1", &["fgetxattr"]),
    ("mmapread fd=1, iosize=1k, iters=3", &["stat"]),
    ("createfile filesetname=files, fd=2", &["openat"]),
    (
        "copyfilerange srcfd=1, fd=2",
        &["copy_file_range", "copy_file_range"],
    ),
    (
        "writewholefile srcfd=1, fd=2, iosize=3k",
        &["write", "write", "write"],
    ),
    ("fsyncset filesetname=files", &["fsync", "fsync"]),
    ("closefile fd=2", &["close"]),
    ("deletefile fd=1", &["unlink"]),
    ("closefile fd=1", &["close"]),
    (
        "read filesetname=files, fd=3, iosize=1k, random",
        &["openat", "pread64"],
    ),
    ("deletefile filesetname=files", &["unlink"]),
    ("renamefile filesetname=files", &["rename"]),
    ("linkfile filesetname=files", &["link"]),
    ("symlinkfile filesetname=files", &["symlink"]),
    ("chmodfile filesetname=files", &["chmod"]),
    ("setxattr filesetname=files", &["setxattr"]),
    ("getxattr filesetname=files", &["getxattr"]),
    ("truncatefile filesetname=files, iosize=1k", &["truncate"]),
    ("makedir filesetname=files", &["mkdir"]),
    ("removedir filesetname=files", &["rmdir"]),
    ("fsyncdir filesetname=files", &["openat", "fsync", "close"]),
    (
        "listdir filesetname=files",
        &["openat", "getdents64", "getdents64", "close"],
    ),
    ("closefile fd=3", &["close"]),
];

#[test]
fn each_flowop_makes_its_system_calls_and_no_others() {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("skipped: the names are those of the system calls of x86-64");
        return;
    }
    let flowops = EACH.iter().enumerate().map(|(nth, (flowop, _))| {
        let (operation, attributes) = flowop.split_once(' ').unwrap();
        format!("flowop {operation} name=f{nth}, {attributes}\n")
    });
    let text = format!(
        "define fileset name=files, path=$dir, entries=40, leafdirs=20, size=8k, dirwidth=4,
           prealloc=50
         define process name=p {{ thread name=t {{ {}
           flowop finishoncount name=end, value=1, target=f{} }} }}
         run 60\n",
        flowops.collect::<String>(),
        EACH.len() - 1,
    );
    let place = Place::new("sequence-each");
    let Some(threads) = trace(&place, &text, 1) else {
        return;
    };
    let expected: Vec<&str> = EACH.iter().flat_map(|(_, calls)| *calls).copied().collect();
    assert_eq!(names(&threads[0]), expected);
}
