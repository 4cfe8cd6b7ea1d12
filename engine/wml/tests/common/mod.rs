//! A place to run the program in, and a look at its report.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A directory of its own for each test, removed at the end.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new(test: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("dir")).unwrap();
        Self(folder)
    }

    pub fn dir(&self) -> PathBuf {
        self.0.join("dir")
    }

    pub fn command(&self, command: &str, text: &str, options: &[&str]) -> Command {
        let file = self.0.join("text.f");
        fs::write(&file, text).unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_fsgreen-wml"));
        program.arg(command).arg(file).args(options);
        program.arg(format!("--set=dir={}", self.dir().display()));
        program
    }

    pub fn output(&self, command: &str, text: &str, options: &[&str]) -> Output {
        self.command(command, text, options).output().unwrap()
    }

    /// The report of a command that must succeed.
    pub fn report(&self, command: &str, text: &str, options: &[&str]) -> Value {
        let output = self.output(command, text, options);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn flowop<'a>(report: &'a Value, name: &str) -> &'a Value {
    let flowops = report["measure"]["flowops"].as_array().unwrap();
    flowops
        .iter()
        .find(|flowop| flowop["flowop"] == name)
        .unwrap()
}

pub fn ops(report: &Value, name: &str) -> u64 {
    flowop(report, name)["work_ops"].as_u64().unwrap()
}
