//! What is asked of this machine: files of the kernel, and programs that may not answer.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::sys;

/// Where programs for disks lie; plain users and services may not look there.
const FOR_ROOT: [&str; 2] = ["/usr/sbin", "/sbin"];

/// A disk starts within half of it.
const LIMIT: Duration = Duration::from_secs(30);

const TICK: Duration = Duration::from_millis(20);

/// What a program leaves behind may hold its output open: it is waited for so long.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The longest answer. Bytes.
const ANSWER_MOST_B: u64 = 1 << 20;

/// Where to ask.
#[derive(Clone, Debug)]
pub struct Machine {
    /// What is mounted as /sys and as /proc.
    pub sys: PathBuf,
    pub proc: PathBuf,
    /// Where programs are looked for, as in `PATH`.
    pub programs: OsString,
    /// A program that has not ended by then is killed.
    pub limit: Duration,
}

/// What a program said.
pub struct Said {
    pub status: ExitStatus,
    pub text: String,
    pub errors: String,
}

impl Machine {
    /// This one.
    pub fn here() -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        let named = env::split_paths(&path).filter(|folder| folder.is_absolute());
        let all = named.chain(FOR_ROOT.map(PathBuf::from));
        Self {
            sys: "/sys".into(),
            proc: "/proc".into(),
            programs: env::join_paths(all).unwrap_or_default(),
            limit: LIMIT,
        }
    }

    /// What a file in /sys says; none if there is none.
    pub fn says(&self, file: impl AsRef<Path>) -> Option<String> {
        let said = fs::read_to_string(self.sys.join(file)).ok()?;
        Some(said.trim().to_owned())
    }

    /// Run a program to its end.
    ///
    /// # Errors
    /// If it is not there, or does not end in time; in words.
    pub fn run(&self, program: &str, arguments: &[&OsStr]) -> Result<Said, String> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => format!("{program} is not installed"),
            _ => format!("{program}: {error}"),
        };
        let mut command = Command::new(program);
        command.args(arguments).env("PATH", &self.programs);
        command.env("LC_ALL", "C").stdin(Stdio::null());
        // A key that ends a mount is not meant for it.
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command.spawn().map_err(failed)?;
        let (text, errors) = (listen(child.stdout.take()), listen(child.stderr.take()));
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                let heard = |words: Receiver<Vec<u8>>| {
                    let words = words.recv_timeout(LAST_WORDS).unwrap_or_default();
                    String::from_utf8_lossy(&words).into_owned()
                };
                return Ok(Said {
                    status,
                    text: heard(text),
                    errors: heard(errors),
                });
            }
            if begun.elapsed() > self.limit {
                abandon(child);
                let limit_s = self.limit.as_secs_f64();
                return Err(format!("{program} has not ended within {limit_s} s"));
            }
            thread::sleep(TICK);
        }
    }

    /// Run a program that must succeed. Returns what it said.
    ///
    /// # Errors
    /// As [`Machine::run`], and if it fails: in its own words.
    pub fn succeed(&self, program: &str, arguments: &[&OsStr]) -> Result<String, String> {
        let said = self.run(program, arguments)?;
        if said.status.success() {
            return Ok(said.text);
        }
        let words = if said.errors.trim().is_empty() {
            said.text
        } else {
            said.errors
        };
        let last = words.trim().lines().next_back().unwrap_or("");
        Err(match last.trim() {
            "" => format!("{program} failed: {}", said.status),
            last => format!("{program} failed: {last}"),
        })
    }
}

fn listen(output: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (tell, told) = channel();
    thread::spawn(move || {
        let mut words = Vec::new();
        if let Some(output) = output {
            let _ = output.take(ANSWER_MOST_B).read_to_end(&mut words);
        }
        // Who asked may not wait any more.
        let _ = tell.send(words);
    });
    told
}

/// Kill a program with all that it has started; they may take their time to end.
fn abandon(mut child: Child) {
    let _ = sys::kill_group(&child);
    thread::spawn(move || child.wait());
}
