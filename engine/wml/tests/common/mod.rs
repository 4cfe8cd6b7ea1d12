//! A place to run the program in, and a look at its report.

#![allow(dead_code, reason = "every test uses a part")]

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Four readers in two processes, without end.
pub const READER: &str = "
define fileset name=files, path=$dir, entries=20, size=8k, dirwidth=20, prealloc
define process name=p, instances=2 { thread name=t, instances=2 {
  flowop read name=r, filesetname=files, iosize=1k, random } }
";

/// The text with one of its flowops or attributes replaced, to be run once.
pub fn reader(from: &str, to: &str) -> String {
    assert!(READER.contains(from), "{from}");
    READER.replace(from, to) + "run\n"
}

/// One of those that ship with fsgreen.
pub fn personality(name: &str) -> String {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fsgreen/workloads/personalities"
    );
    fs::read_to_string(format!("{folder}/{name}.f")).unwrap()
}

/// A directory of its own for each test, removed at the end.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new(test: &str) -> Self {
        Self::below(Path::new(env!("CARGO_TARGET_TMPDIR")), test)
    }

    pub fn below(folder: &Path, test: &str) -> Self {
        let folder = folder.join(test);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("dir")).unwrap();
        Self(folder)
    }

    pub fn dir(&self) -> PathBuf {
        self.0.join("dir")
    }

    pub fn json(&self) -> PathBuf {
        self.0.join("out.json")
    }

    pub fn text(&self) -> PathBuf {
        self.0.join("text.f")
    }

    pub fn command(&self, command: &str, text: &str, options: &[&str]) -> Command {
        fs::write(self.text(), text).unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_fsgreen-wml"));
        program.arg(command).arg(self.text()).args(options);
        program.arg(format!("--set=dir={}", self.dir().display()));
        // A shell starts background jobs with Ctrl-C ignored, and they pass that on.
        unsafe {
            program.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                Ok(())
            });
        }
        program
    }

    pub fn output(&self, command: &str, text: &str, options: &[&str]) -> Output {
        self.command(command, text, options).output().unwrap()
    }

    /// The report of a command that must succeed.
    pub fn report(&self, command: &str, text: &str, options: &[&str]) -> Value {
        self.said(command, text, options).0
    }

    /// The report, and what was printed for people.
    pub fn said(&self, command: &str, text: &str, options: &[&str]) -> (Value, String) {
        let output = self.output(command, text, options);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        (serde_json::from_slice(&output.stdout).unwrap(), said)
    }

    /// The results of the only run of a text.
    pub fn run(&self, text: &str, options: &[&str]) -> Value {
        let mut report = self.report("run", text, options);
        let runs = report["runs"].as_array_mut().unwrap();
        assert_eq!(runs.len(), 1);
        runs.remove(0)
    }

    /// Start a run whose report goes to [`Self::json`].
    pub fn start(&self, text: &str, options: &[&str]) -> Child {
        let json = format!("--json={}", self.json().display());
        let mut command = self.command("run", text, options);
        command.arg(json).stderr(Stdio::null()).spawn().unwrap()
    }

    /// The report that was written.
    pub fn written(&self) -> Value {
        serde_json::from_slice(&fs::read(self.json()).unwrap()).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn flowop<'a>(run: &'a Value, name: &str) -> &'a Value {
    let flowops = run["measure"]["flowops"].as_array().unwrap();
    flowops
        .iter()
        .find(|flowop| flowop["flowop"] == name)
        .unwrap()
}

pub fn ops(run: &Value, name: &str) -> u64 {
    flowop(run, name)["work_ops"].as_u64().unwrap()
}

/// Errors of all flowops.
pub fn errors(run: &Value) -> u64 {
    let flowops = run["measure"]["flowops"].as_array().unwrap();
    let counts = flowops
        .iter()
        .flat_map(|flowop| flowop["errors"].as_object().unwrap().values());
    counts.map(|count| count.as_u64().unwrap()).sum()
}

pub fn sum(values: &Value) -> u64 {
    let values = values.as_array().unwrap();
    values.iter().map(|value| value.as_u64().unwrap()).sum()
}

/// Seconds of a phase: 0 is the warm-up, 1 what was measured.
pub fn seconds(run: &Value, phase: usize) -> f64 {
    let phase = &run["phases"][phase];
    let at = |name: &str| phase[name].as_u64().unwrap() as f64;
    (at("end_ns") - at("start_ns")) / 1e9
}

/// Exit status, or the negative number of the signal that ended it.
pub fn wait(mut child: Child, limit: Duration) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    let mut status = None;
    wait_until(limit, "it did not end", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    let status = status.unwrap();
    let signal = || -status.signal().unwrap();
    status.code().unwrap_or_else(signal)
}

pub fn wait_until(limit: Duration, otherwise: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < limit, "{otherwise}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processes whose command line has this in it.
pub fn processes_with(part: &Path) -> Vec<u32> {
    let part = part.as_os_str().as_encoded_bytes();
    let items = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    items
        .filter(|item| {
            let line = fs::read(item.path().join("cmdline")).unwrap_or_default();
            line.windows(part.len()).any(|found| found == part)
        })
        .filter_map(|item| item.file_name().to_str()?.parse().ok())
        .collect()
}

/// Wait until the processes with this in their command line have read a mebibyte since now: threads
/// read only once all of them were started, however long the machine takes for that.
pub fn wait_until_they_read(part: &Path, limit: Duration) {
    let read_b = || {
        let of = |pid: u32| -> Option<u64> {
            let counts = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
            let read = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
            read?.parse().ok()
        };
        processes_with(part).into_iter().filter_map(of).sum::<u64>()
    };
    let before_b = read_b();
    wait_until(limit, "nothing is read", || {
        read_b() >= before_b + (1 << 20)
    });
}

pub fn signal(child: &Child, number: i32) {
    // SAFETY: our own child, not yet waited for.
    unsafe { libc::kill(child.id() as i32, number) };
}

pub fn is_root() -> bool {
    // SAFETY: touches no memory.
    unsafe { libc::geteuid() == 0 }
}
