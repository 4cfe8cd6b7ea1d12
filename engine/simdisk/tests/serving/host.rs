//! A server, a loop device on its disk and a mount, which all go at the end of a test.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub use crate::blocks::{Aligned, mark, write_block};

/// Why a test cannot be made here, if so; a person can then do something about it.
pub fn cannot() -> Option<&'static str> {
    // SAFETY: touches no memory.
    if unsafe { libc::geteuid() } != 0 {
        return Some("skipped: needs root for loop devices and mounts (sudo cargo test)");
    }
    if !Path::new("/dev/fuse").exists() {
        return Some("skipped: needs /dev/fuse (modprobe fuse)");
    }
    if !Path::new("/dev/loop-control").exists() {
        return Some("skipped: needs loop devices (modprobe loop)");
    }
    None
}

/// Leave a test that cannot be made, saying why.
#[macro_export]
macro_rules! needs_root {
    () => {
        if let Some(why) = $crate::host::cannot() {
            eprintln!("{why}");
            return;
        }
    };
}

/// A folder of one test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let nth = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("simdisk-test-{}-{nth}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(path.join("at")).expect("a folder can be made");
        fs::create_dir_all(path.join("mnt")).expect("a folder can be made");
        Self(path)
    }

    pub fn at(&self) -> PathBuf {
        self.0.join("at")
    }

    pub fn store(&self) -> PathBuf {
        self.0.join("store")
    }

    pub fn control(&self) -> PathBuf {
        self.0.join("control")
    }

    pub fn mount_point(&self) -> PathBuf {
        self.0.join("mnt")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A server that a test has killed left its mount.
        if is_mounted(&self.at()) {
            run_anyway("umount", &["-l", &text(&self.at())]);
        }
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn text(path: &Path) -> String {
    path.to_str()
        .expect("test folders have plain names")
        .to_owned()
}

pub fn is_mounted(path: &Path) -> bool {
    let table = fs::read_to_string("/proc/self/mounts").expect("/proc is there");
    let path = text(path);
    table
        .lines()
        .any(|line| line.split(' ').nth(1) == Some(&path))
}

pub fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program} is missing: {error}"));
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

pub fn run_anyway(program: &str, arguments: &[&str]) -> Option<i32> {
    let output = Command::new(program).args(arguments).output();
    output.ok().and_then(|output| output.status.code())
}

/// The disk that a server of a test serves.
#[derive(Clone, Copy)]
pub struct Disk {
    pub megabytes: u32,
    pub service_us: u32,
    pub write: &'static str,
    pub clock: &'static str,
}

/// Quick enough for a test, slow enough for many requests to wait at once.
pub const DISK: Disk = Disk {
    megabytes: 64,
    service_us: 100,
    write: "back",
    clock: "real",
};

/// A server that answers no order for so long has hung.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Server {
    pub process: Child,
    pub ready: Value,
    control: BufReader<UnixStream>,
}

pub fn command(folder: &Folder, disk: Disk) -> Command {
    let tests = std::env::current_exe().expect("this program has a path");
    let built = tests
        .ancestors()
        .nth(2)
        .expect("it lies in target/PROFILE/deps");
    let mut command = Command::new(built.join("examples/fixed-disk"));
    command
        .args([folder.at(), folder.store(), folder.control()])
        .arg(disk.megabytes.to_string())
        .arg(disk.service_us.to_string())
        .args([disk.write, disk.clock])
        .stdout(Stdio::piped());
    command
}

impl Server {
    pub fn start(folder: &Folder, disk: Disk) -> Self {
        Self::run(folder, command(folder, disk))
    }

    pub fn run(folder: &Folder, mut command: Command) -> Self {
        // Where the tests outlive their terminal, the end of one is ignored, and that is passed on.
        // SAFETY: signal() is safe between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGHUP, libc::SIG_DFL);
                Ok(())
            });
        }
        let mut process = command.spawn().expect("the program is built");
        let mut line = String::new();
        let output = process.stdout.take().expect("it is piped");
        let read = BufReader::new(output).read_line(&mut line);
        let Ok(ready) = serde_json::from_str(&line) else {
            let _ = process.kill();
            let status = process.wait();
            panic!("the server did not get ready: {read:?} {line} {status:?}");
        };
        let socket = UnixStream::connect(folder.control()).expect("a server that is ready listens");
        let patience = socket.set_read_timeout(Some(PATIENCE));
        patience.expect("a minute is a possible time");
        Self {
            process,
            ready,
            control: BufReader::new(socket),
        }
    }

    pub fn send(&mut self, line: &[u8]) -> Value {
        let mut answer = String::new();
        self.control.get_mut().write_all(line).expect("it listens");
        self.control.get_mut().write_all(b"\n").expect("it listens");
        self.control.read_line(&mut answer).expect("it answers");
        serde_json::from_str(&answer).expect("it answers in JSON")
    }

    /// Give an order that is carried out.
    pub fn order(&mut self, order: Value) -> Value {
        let answer = self.send(order.to_string().as_bytes());
        assert_eq!(answer["ok"], json!(true), "{order}: {answer}");
        answer
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: touches no memory; the process is a child that was not waited for.
        unsafe { libc::kill(self.process.id() as i32, signal) };
    }

    /// Pull the plug.
    pub fn kill(&mut self) {
        self.signal(libc::SIGKILL);
        self.process.wait().expect("it is a child");
    }

    /// Ask for the end, and see that it comes.
    pub fn stop(&mut self) {
        self.signal(libc::SIGTERM);
        let status = self.process.wait().expect("it is a child");
        assert!(status.success(), "{status}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal(libc::SIGTERM);
        let end = Instant::now() + Duration::from_secs(5);
        while matches!(self.process.try_wait(), Ok(None)) {
            if Instant::now() > end {
                let _ = self.process.kill();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Open for direct I/O.
pub fn open(path: &Path) -> File {
    let mut options = File::options();
    let options = options.read(true).write(true).custom_flags(libc::O_DIRECT);
    options.open(path).expect("the disk is there")
}

/// A loop device with direct I/O.
pub struct Loop(pub String);

impl Loop {
    pub fn on(folder: &Folder) -> Self {
        let disk = text(&folder.at().join("disk"));
        let device = run("losetup", &["--find", "--show", "--direct-io=on", &disk]);
        let name = device.trim_start_matches("/dev/");
        let setting = format!("/sys/block/{name}/queue/read_ahead_kb");
        fs::write(setting, "128").expect("root may write there");
        Self(device)
    }

    pub fn open(&self) -> File {
        open(Path::new(&self.0))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        run_anyway("losetup", &["-d", &self.0]);
    }
}

/// A file system that is mounted.
pub struct Mount(pub PathBuf);

impl Mount {
    pub fn of(device: &Loop, folder: &Folder) -> Self {
        let point = folder.mount_point();
        run("mount", &[&device.0, &text(&point)]);
        Self(point)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if run_anyway("umount", &[&text(&self.0)]) != Some(0) {
            run_anyway("umount", &["-l", &text(&self.0)]);
        }
    }
}
