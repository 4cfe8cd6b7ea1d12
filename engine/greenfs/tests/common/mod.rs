//! Mounts for tests.

#![allow(dead_code, reason = "every test uses a part")]

pub mod lossy;
pub mod serving;
pub mod tapping;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

/// Why nothing can be mounted here; none if it can.
pub fn why_not() -> Option<&'static str> {
    if !Path::new("/dev/fuse").exists() {
        return Some("needs /dev/fuse (modprobe fuse)");
    }
    let has_helper = Command::new("fusermount3").arg("-V").output().is_ok();
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    (!is_root && !has_helper).then_some("needs root, or fusermount3 (apt install fuse3)")
}

/// Why a plain user can mount nothing here, though root may; none if that can be.
pub fn why_not_as_plain_user() -> Option<&'static str> {
    if Command::new("fusermount3").arg("-V").output().is_err() {
        return Some("needs fusermount3 (apt install fuse3)");
    }
    let device = fs::metadata("/dev/fuse").expect("it is there");
    (device.mode() & 0o006 != 0o006).then_some("/dev/fuse is root's alone (chmod 666 /dev/fuse)")
}

/// Whether a program does what it is asked.
pub fn does(program: &str, options: &[&str], last: &Path) -> bool {
    let status = Command::new(program).args(options).arg(last).status();
    status.is_ok_and(|ended| ended.success())
}

/// What a program prints that does what it was asked.
pub fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).expect("it prints text")
}

/// Lines that are told of two trees that differ, and the letters of each.
const TOLD: (usize, usize) = (10, 200);

/// See that two folders hold the same, each without its `.greenfs`.
pub fn same_trees(one: &Path, other: &Path) {
    let diff = Command::new("diff")
        .args(["-r", "--no-dereference", "--exclude=.greenfs"])
        .args([one, other])
        .output()
        .expect("diff is there");
    let said = [diff.stdout, diff.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lines = said.lines().take(TOLD.0);
    let first: Vec<String> = lines
        .map(|line| line.chars().take(TOLD.1).collect())
        .collect();
    assert!(diff.status.success(), "{first:#?}");
}

/// A volume that is mounted by a process of this test, gone at the end.
pub struct Home {
    pub root: PathBuf,
    daemon: Option<Child>,
}

impl Home {
    /// Folders, not mounted yet. None, with the reason printed, where nothing can be mounted.
    pub fn new(name: &str) -> Option<Self> {
        if let Some(why) = why_not() {
            eprintln!("skipped: {why}");
            return None;
        }
        Some(Self::without_mount(name))
    }

    /// Folders for what needs no mount.
    pub fn without_mount(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("greenfs-m-{}-{name}", std::process::id()));
        for folder in ["flash", "remote", "disk", "mnt"] {
            fs::create_dir_all(root.join(folder)).expect("there is a folder for temporary files");
        }
        let daemon = None;
        Self { root, daemon }
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// A file or folder as programs see it.
    pub fn mnt(&self, path: &str) -> PathBuf {
        self.at("mnt").join(path)
    }

    pub fn greenfs(&self, command: &str) -> Command {
        let mut greenfs = Command::new(env!("CARGO_BIN_EXE_greenfs"));
        greenfs.current_dir(&self.root).arg(command);
        greenfs.env("GREENFS_KEYS", self.at("keys/client"));
        greenfs
    }

    /// Mount with these options, in a process that can be killed.
    pub fn mount(&mut self, options: &[&str]) {
        let mut greenfs = self.greenfs("mount");
        greenfs
            .args(["--foreground", "--flash", "flash"])
            .args(options)
            .arg("mnt");
        let mut daemon = greenfs
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was built");
        let mut said = String::new();
        let output = daemon.stdout.take().expect("it is piped");
        BufReader::new(output)
            .read_line(&mut said)
            .expect("it prints text");
        assert!(said.starts_with("mounted"), "{said}");
        self.daemon = Some(daemon);
    }

    /// How often the daemon has read anything, as a request of the kernel. None, with the reason
    /// printed, where the kernel does not count that.
    pub fn reads(&self) -> Option<u64> {
        let pid = self.daemon.as_ref().expect("it is mounted").id();
        let counts = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
        let reads = counts.lines().find_map(|line| line.strip_prefix("syscr: "));
        if reads.is_none() {
            eprintln!("skipped: needs a kernel that counts reads (CONFIG_TASK_IO_ACCOUNTING)");
        }
        reads.map(|reads| reads.parse().expect("it is a number"))
    }

    /// Send the daemon a signal by its name.
    pub fn signal(&self, signal: &str) {
        let pid = self.daemon.as_ref().expect("it is mounted").id();
        let sent = Command::new("kill")
            .args(["-s", signal, &pid.to_string()])
            .status();
        assert!(sent.expect("kill is there").success());
    }

    /// Kill the daemon: nothing it holds in memory is left.
    pub fn kill(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            daemon.kill().expect("it runs");
            daemon.wait().expect("it was killed");
        }
    }

    pub fn umount(&mut self) {
        self.leave();
        self.wait_for_end();
    }

    /// Have the mount taken away; whether flash was left in order tells the end of the daemon.
    pub fn leave(&mut self) {
        let mut umount = self.greenfs("umount");
        umount.arg("mnt");
        let is_busy = |output: &Output| String::from_utf8_lossy(&output.stderr).contains("busy");
        let mut output = umount.output().expect("it was built");
        // What another test is just starting has the files of this one open until it runs.
        while is_busy(&output) {
            thread::sleep(Duration::from_millis(20));
            output = umount.output().expect("it was built");
        }
        text(&output);
    }

    /// Wait until the daemon has come to its end.
    pub fn wait_for_end(&mut self) {
        assert!(self.ends_well());
    }

    /// Wait until the daemon has come to its end. Returns whether it left all in order.
    pub fn ends_well(&mut self) -> bool {
        let daemon = self.daemon.take();
        daemon.is_none_or(|mut daemon| daemon.wait().expect("it ends").success())
    }

    /// What `greenfs status` prints.
    pub fn status(&self) -> String {
        let mut status = self.greenfs("status");
        status.args(["--flash", "flash"]);
        text(&status.output().expect("it was built"))
    }

    /// Bring the remote up, without a mount.
    pub fn sync(&self) {
        let mut sync = self.greenfs("sync");
        sync.args(["--flash", "flash", "--remote", "remote"]);
        text(&sync.output().expect("it was built"));
    }

    /// When the remote was last changed, as a text; `of` are the arguments that name it.
    pub fn last(&self, of: &[&str]) -> String {
        let said = self.greenfs("history").args(of).output();
        let said = text(&said.expect("it was built"));
        let last = said.trim().rsplit(' ').next();
        last.expect("it names a time").to_owned()
    }

    /// Give all of it to a user who is not root.
    pub fn give(&self) {
        let owned = Command::new("chown")
            .args(["-R", "65534:65534"])
            .arg(&self.root)
            .status();
        owned.expect("chown is there");
    }

    /// Have a copy of the program that a plain user can get at. Another process makes it: what this one has
    /// open to write to, a child of another thread has, too, until it runs, and could not be executed then.
    pub fn copy_program(&self) {
        let program = env!("CARGO_BIN_EXE_greenfs");
        let copied = Command::new("cp").arg(program).arg(&self.root).status();
        assert!(copied.expect("cp is there").success());
    }

    /// Run a script as that user; false, with the reason printed, where that is not possible.
    pub fn as_plain_user(&self, script: &str) -> bool {
        let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
        if !is_root {
            eprintln!("skipped: needs root to become somebody else");
            return false;
        }
        self.copy_program();
        let mut user = Command::new("setpriv");
        user.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        user.args(["sh", "-ec", script]).current_dir(&self.root);
        text(&user.output().expect("setpriv is there"));
        true
    }

    /// Wait until the status says this.
    pub fn wait_for(&self, said: &str) {
        while !self.status().contains(said) {
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn same_trees(&self, one: &str, other: &str) {
        same_trees(&self.at(one), &self.at(other));
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.kill();
        for folder in ["mnt", "flash", "remote"] {
            let _ = mounting::place::detach(&self.at(folder));
        }
        let _ = fs::remove_dir_all(&self.root);
    }
}
