//! The program's commands for virtual time, as a user types them.

use std::process::{Command, Output};

fn simdisk(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_fsgreen-simdisk");
    let output = Command::new(program).args(arguments).output();
    output.expect("the program starts")
}

fn printed(arguments: &[&str]) -> String {
    let output = simdisk(arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {told}");
    String::from_utf8(output.stdout).expect("text")
}

fn refused(arguments: &[&str]) -> String {
    let output = simdisk(arguments);
    assert!(!output.status.success(), "{arguments:?} was not refused");
    String::from_utf8(output.stderr).expect("text")
}

/// Who does not know a command finds out from the program alone.
#[test]
fn every_command_has_help_with_an_example() {
    for command in ["disks", "show", "readers", "writes", "replay", "nfs"] {
        assert!(printed(&["--help"]).contains(&format!("fsgreen-simdisk {command}")));
        let help = printed(&[command, "--help"]);
        assert!(
            help.contains(&format!("Example: fsgreen-simdisk {command}")),
            "{help}"
        );
    }
}

/// What is shown can be copied, and what is listed can be shown.
#[test]
fn every_listed_disk_is_shown() {
    for line in printed(&["disks"]).lines() {
        let name = line.split_whitespace().next().expect("a name");
        assert!(printed(&["show", name]).contains("[sources]"), "{name}");
    }
    assert!(refused(&["show", "wd300bb"]).contains("fsgreen-simdisk disks"));
}

/// A table for people says that it is simulated; JSON is one line.
#[test]
fn readers_are_simulated() {
    let asked = ["readers", "wd200bb", "--readers", "2", "--total-mib", "8"];
    let table = printed(&[&asked[..], &["--scheduler", "n-cscan"]].concat());
    assert!(
        table.contains("simulated") && table.contains("n-cscan"),
        "{table}"
    );
    assert!(table.contains("J in all"), "{table}");
    let json = printed(&[&asked[..], &["--placement", "spread", "--json"]].concat());
    let report: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        report["experiment"]["work"]["readers"]["placement"],
        "spread"
    );
    assert_eq!(
        json,
        printed(&[&asked[..], &["--placement", "spread", "--json"]].concat())
    );
}

/// The log of one simulation is the trace of another.
#[test]
fn a_log_is_replayed() {
    let asked = ["readers", "wd200bb", "--total-mib", "4", "--json", "--log"];
    let report: serde_json::Value = serde_json::from_str(&printed(&asked)).expect("JSON");
    let name = format!("simdisk-trace-{}.csv", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, report["log"].as_str().expect("text")).expect("room for a trace");
    let path = file.to_str().expect("a path in UTF-8");
    let again = printed(&["replay", "wd200bb", path, "--json", "--log"]);
    std::fs::remove_file(&file).expect("it is there");
    let again: serde_json::Value = serde_json::from_str(&again).expect("JSON");
    assert_eq!(again["log"], report["log"]);
}

/// A slip on the command line is told with the next step.
#[test]
fn slips_on_the_command_line_are_told() {
    for (arguments, word) in [
        (&["readers"][..], "which DISK"),
        (&["readers", "wd200bb", "--reader", "4"], "--reader"),
        (&["readers", "wd200bb", "--readers", "many"], "many"),
        (&["readers", "wd200bb", "--policy", "best"], "best"),
        (&["readers", "wd200bb", "extra"], "extra"),
        (&["replay", "wd200bb"], "file"),
        (&["disks", "all"], "all"),
        (&["writes", "wd200bb", "--write-kib", "0"], "write_kib"),
        (&["writes", "wd200bb", "--state", "steady"], "hard disk"),
    ] {
        let told = refused(arguments);
        assert!(told.contains(word) && told.contains("next:"), "{told}");
    }
}

/// A course that asks for a small SSD must learn how small it may be.
#[test]
fn a_small_ssd_is_simulated_or_the_least_is_told() {
    let told = refused(&["writes", "x25-m-g2", "--sectors", "100000"]);
    let (_, after) = told.split_once("ask for ").expect("the least");
    let least = after.split(' ').next().expect("a number");
    let table = printed(&["writes", "x25-m-g2", "--sectors", least, "--total-mib", "8"]);
    assert!(table.contains("write amplification"), "{table}");
}
