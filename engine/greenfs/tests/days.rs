//! The program `greenfs days`: the policy that mounts use, on days that a table tells.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn days(options: &[&str], table: &str) -> Output {
    let mut greenfs = Command::new(env!("CARGO_BIN_EXE_greenfs"))
        .arg("days")
        .arg("-")
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it was built");
    let mut input = greenfs.stdin.take().expect("it is piped");
    input.write_all(table.as_bytes()).expect("it reads");
    drop(input);
    greenfs.wait_with_output().expect("it ends")
}

fn woken(options: &[&str], table: &str) -> Vec<String> {
    let output = days(options, table);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("it prints text");
    text.lines().skip(1).map(str::to_owned).collect()
}

/// What the night brings would be told of another day, or with other bytes.
#[test]
fn a_file_that_changes_twice_is_copied_once_at_night() {
    let table = "run,at_s,what,file,size_b\n\
                 a,36000,change,1,500\na,40000,change,1,700\na,40000,change,2,50\n\
                 a,172800,end,,\nb,36000,end,,\n";
    assert_eq!(woken(&[], table), ["a,97200,quiet,750"]);
}

/// A disk that is new is filled at once, and only with --new is it so.
#[test]
fn a_new_disk_is_woken_at_once() {
    assert_eq!(woken(&["--new"], "a,60,end,,\n"), ["a,0,new,0"]);
}

/// Short ways without a network would wake the disk of whoever carries it.
#[test]
fn the_disk_sleeps_while_the_remote_is_away_for_minutes() {
    let away = |s: u64| {
        format!(
            "a,36000,away,,\na,36010,change,1,9\na,{},back,,\na,80000,end,,\n",
            36000 + s
        )
    };
    assert_eq!(woken(&[], &away(600)), Vec::<String>::new());
    assert_eq!(woken(&[], &away(1200)), ["a,36960,unprotected,9"]);
}

/// A table of a person with a slip would give spin-ups of other days.
#[test]
fn a_wrong_line_is_named() {
    for (table, what) in [
        ("a,1,change,x,1\n", "line 1"),
        ("a,9,away,,\na,1,back,,\n", "before the one above"),
        ("a,1,sleep,,\n", "this is no event"),
        ("a,18446744073709551615,end,,\n", "after a hundred years"),
    ] {
        let output = days(&[], table);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(what), "{said}");
    }
}
