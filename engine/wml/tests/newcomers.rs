//! What people try first, and what they are told.

mod common;

use std::fs;
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::Value;

use common::{Place, READER, flowop, ops, reader, signal, wait, wait_until_they_read};

fn program(words: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_fsgreen-wml"));
    program.args(words).output().unwrap()
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// An output with this status, that says these words.
fn says(output: &Output, wanted: i32, words: &[&str]) {
    let said = said(output);
    assert_eq!(status(output), wanted, "{said}");
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn whatever_goes_wrong_the_next_step_is_told() {
    let place = Place::new("next-step");
    let fails = reader("prealloc", "prealloc, writeonly");
    let absent = place.0.join("absent").display().to_string();
    let outputs = [
        program(&["run", &absent]),
        program(&["run", &absent, "--sed"]),
        place.output("check", &reader("read name", "raed name"), &[]),
        place.output("run", READER, &[]),
        place.output("run", &fails, &["--duration=0.2"]),
        place.output(
            "run",
            &reader(
                "define fileset",
                "system \"kill -TERM \\$PPID\"\n define fileset",
            ),
            &[],
        ),
    ];
    for (output, wanted) in outputs.iter().zip([1, 2, 2, 2, 4, 3]) {
        says(output, wanted, &["fsgreen-wml: ", "\n  next:  "]);
    }
}

#[test]
fn the_command_line_of_filebench_gets_a_hint() {
    let place = Place::new("hint");
    fs::write(place.text(), READER).unwrap();
    let file = place.text().display().to_string();
    let next = format!("\n  next:  fsgreen-wml run {file}");
    says(&program(&["-f", &file]), 2, &["without -f", &next]);
    says(&program(&[&file]), 2, &["what is to be done with", &next]);
    for command in ["check", "fmt", "prepare", "verify", "run"] {
        let next = format!("\n  next:  fsgreen-wml {command} {file}");
        says(&program(&[command, "-f", &file]), 2, &["without -f", &next]);
    }
    says(
        &program(&["check", "-f"]),
        2,
        &["missing argument", "--help"],
    );
    says(&program(&["rnu", &file]), 2, &["rnu", "--help"]);
    says(&program(&["run"]), 2, &["which FILE.f?", "--help"]);
}

#[test]
fn a_text_without_a_run_is_run_for_as_long_as_asked_and_refused_without_a_time() {
    let place = Place::new("no-run");
    let output = place.output("run", READER, &[]);
    says(&output, 2, &["has no 'run'", "--duration 60"]);
    let nothing = "echo $dir\n";
    let output = place.output("run", nothing, &["--duration=1"]);
    says(
        &output,
        2,
        &["defines no process", "add a 'define process'"],
    );
    place.report("prepare", READER, &[]);
    let run = place.run(READER, &["--duration=0.2", "--prepared"]);
    assert!(ops(&run, "r") > 0);
    assert_eq!(run["configuration"]["duration_s"], 0.2);
    // What stands in a text has the last word.
    let two = place.report(
        "run",
        &format!("{READER} run 0.1 run 0.1"),
        &["--duration=0.1"],
    );
    assert_eq!(two["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn two_programs_never_work_in_one_tree() {
    let place = Place::new("lock");
    let run = place.start(&reader("iosize=1k", "iosize=1k"), &["--duration=60"]);
    wait_until_they_read(&place.text(), Duration::from_secs(60));
    let text = fs::read_to_string(place.text()).unwrap();
    for command in ["run", "prepare", "verify"] {
        let output = place.output(command, &text, &[]);
        says(
            &output,
            1,
            &["another fsgreen-wml works in", "choose another"],
        );
    }
    signal(&run, libc::SIGTERM);
    assert_eq!(wait(run, Duration::from_secs(60)), 3);
    assert_eq!(
        place.written()["runs"][0]["measure"]["flowops"][0]["errors"],
        Value::Object(Default::default())
    );
    assert_eq!(status(&place.output("run", &text, &["--duration=0.1"])), 0);
}

#[test]
fn a_tree_within_one_that_is_in_use_is_in_use_too() {
    let place = Place::new("lock-within");
    let run = place.start(&reader("iosize=1k", "iosize=1k"), &["--duration=60"]);
    wait_until_they_read(&place.text(), Duration::from_secs(60));
    let within = fs::read_dir(place.dir()).unwrap().next().unwrap().unwrap();
    let text = place.0.join("within.f");
    fs::write(&text, READER).unwrap();
    let dir = format!("--set=dir={}", within.path().display());
    let output = program(&["prepare", &text.display().to_string(), &dir]);
    says(
        &output,
        1,
        &["another fsgreen-wml works in", "choose another"],
    );
    signal(&run, libc::SIGTERM);
    assert_eq!(wait(run, Duration::from_secs(60)), 3);
}

#[test]
fn results_take_the_place_of_results_alone() {
    let place = Place::new("json-else");
    let text = reader("iosize=1k", "iosize=1k");
    let itself = format!("--json={}", place.text().display());
    for command in ["run", "prepare"] {
        let output = place.output(command, &text, &[&itself]);
        says(
            &output,
            1,
            &["is a file without results in it", "a new file"],
        );
        assert_eq!(fs::read_to_string(place.text()).unwrap(), text);
    }
    let json = format!("--json={}", place.json().display());
    fs::write(place.json(), "").unwrap();
    for _ in 0..2 {
        let options = [json.as_str(), "--duration=0.1"];
        assert_eq!(status(&place.output("run", &text, &options)), 0);
        assert_eq!(place.written()["runs"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn results_have_a_place_before_the_work_begins() {
    let place = Place::new("json");
    let text = reader("iosize=1k", "iosize=1k");
    let folder = format!("--json={}", place.dir().display());
    says(
        &place.output("run", &text, &[&folder]),
        1,
        &["is a folder", "results.json"],
    );
    assert!(
        fs::read_dir(place.dir()).unwrap().next().is_none(),
        "nothing was made"
    );
    let mut command = place.command("run", &text, &["--json=-", "--duration=0.1"]);
    let output = command.current_dir(place.dir()).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["runs"].as_array().unwrap().len(), 1);
    assert!(!place.dir().join("-").exists());
}

#[test]
fn a_run_that_mostly_fails_has_a_status_and_a_note_of_its_own() {
    let place = Place::new("failing");
    let text = reader("prealloc", "prealloc, writeonly");
    let output = place.output("run", &text, &["--duration=0.2"]);
    says(&output, 4, &["operations failed, mostly with EBADF"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["partial"], false);
    assert!(
        report["notes"][0]
            .as_str()
            .unwrap()
            .contains("--max-errors")
    );
    for (most, wanted) in [("100%", 0), ("0", 4), ("1000000000", 0), ("0.1%", 4)] {
        let most = format!("--max-errors={most}");
        let output = place.output("run", &text, &["--duration=0.2", &most]);
        assert_eq!(status(&output), wanted, "{most}");
    }
    says(
        &place.output("run", &text, &["--max-errors=few"]),
        2,
        &["no percentage"],
    );
}

#[test]
fn a_flowop_that_mostly_fails_is_not_hidden_by_those_that_do_not() {
    let place = Place::new("failing-flowop");
    let other = "define fileset name=other, path=$dir, entries=20, size=8k, dirwidth=20, prealloc,
                   writeonly
                 define process";
    let many = "random, iters=50
                flowop read name=bad, filesetname=other, fd=1, iosize=1k
                flowop finishoncount name=end, value=200, target=r }";
    let text = reader("random }", many).replace("define process", other);
    let output = place.output("run", &text, &[]);
    says(
        &output,
        4,
        &[
            "'bad' of thread 't' of 'p': ",
            "operations failed, mostly with EBADF",
        ],
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["notes"].as_array().unwrap().len(), 1, "one failed");
    // A number is of all operations.
    for (most, wanted) in [("100%", 0), ("99.9%", 4), ("0", 4), ("1000000000", 0)] {
        let most = format!("--max-errors={most}");
        assert_eq!(
            status(&place.output("run", &text, &[&most])),
            wanted,
            "{most}"
        );
    }
}

#[test]
fn what_this_machine_has_no_room_for_is_told_by_check_and_before_any_file_is_made() {
    let place = Place::new("no-room");
    let many = reader("instances=2 {\n", "instances=1000000 {\n");
    let output = place.output("check", &many, &[]);
    let words = [
        "warning: not on this machine: ",
        "are allowed",
        "next:  sysctl ",
    ];
    says(&output, 0, &words);
    says(&place.output("run", &many, &[]), 1, &words[1..]);
    assert!(fs::read_dir(place.dir()).unwrap().next().is_none());
    let large = reader("instances=2 {\n", "instances=1000, memsize=1t {\n");
    says(
        &place.output("check", &large, &[]),
        0,
        &[
            "the buffers of its 2000 threads take up to 2048000.0 GiB",
            "this machine has",
        ],
    );
    let small = reader("iosize=1k", "iosize=1k");
    assert_eq!(said(&place.output("check", &small, &[])), "");
}

#[test]
fn a_run_that_comes_to_a_standstill_says_when() {
    let place = Place::new("standstill");
    let text = reader(
        "random }",
        "random flowop semblock name=never, value=1 }
         thread name=other { flowop sempost name=post, value=1, target=never, iters=0 }",
    );
    let report = place.report("run", &text, &["--duration=2.5"]);
    let note = report["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with("run 1: nothing was done after 0."),
        "{note}"
    );
    assert!(note.ends_with("of 2.5 s"), "{note}");
}

#[test]
fn old_texts_may_be_latin_or_begin_with_a_mark() {
    let place = Place::new("latin");
    let text = reader("define fileset", "# \u{e9}t\u{e9}\ndefine fileset");
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let marked = format!("\u{feff}{text}").into_bytes();
    for bytes in [latin, marked] {
        fs::write(place.text(), bytes).unwrap();
        let file = place.text().display().to_string();
        let output = program(&["check", &file, "--set=dir=/x"]);
        says(&output, 0, &[]);
        let output = program(&["fmt", &file]);
        assert!(
            String::from_utf8(output.stdout)
                .unwrap()
                .contains("# \u{e9}t\u{e9}")
        );
    }
}

#[test]
fn a_place_that_cannot_hold_the_tree_is_told_as_what_it_is() {
    let place = Place::new("place");
    let text = reader("path=$dir", "path=$file");
    let file = format!("--set=file={}", place.text().display());
    let text = format!("{text} echo $dir");
    says(
        &place.output("run", &text, &[&file]),
        1,
        &["is a file, not a directory"],
    );
    let below = format!("{file}/below");
    says(
        &place.output("run", &text, &[&below]),
        1,
        &["text.f is a file, not a directory"],
    );
    let nowhere = format!("--set=file={}", place.0.join("nowhere").display());
    says(&place.output("run", &text, &[&nowhere]), 1, &["mkdir -p"]);
}

#[test]
fn each_flowop_has_its_percentiles() {
    let place = Place::new("percentiles");
    let run = place.run(&reader("iosize=1k", "iosize=1k"), &["--duration=0.3"]);
    let latency = &flowop(&run, "r")["latency"];
    let percentiles = latency["percentiles_ns"].as_object().unwrap();
    let values: Vec<u64> = ["50", "90", "99", "99.9", "99.99"]
        .iter()
        .map(|name| percentiles[*name].as_u64().unwrap())
        .collect();
    assert!(values.is_sorted() && values[0] > 0, "{values:?}");
    assert!(*values.last().unwrap() <= latency["max_ns"].as_u64().unwrap());
}
