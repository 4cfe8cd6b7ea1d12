//! A run in which nothing was done is no success.

mod common;

use serde_json::Value;

use common::{Place, errors, flowop, ops, reader, seconds};

/// The report of a run with this status, which says these words.
fn ended(place: &Place, text: &str, options: &[&str], status: i32, words: &[&str]) -> Value {
    let output = place.output("run", text, options);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(status), "{said}");
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
    serde_json::from_slice(&output.stdout).unwrap()
}

const NOTHING: [&str; 3] = [
    "note: run 1: nothing was done in ",
    "a run did nothing",
    "next:",
];

#[test]
fn without_a_file_that_fits_operations_are_skipped_and_the_run_has_failed() {
    let place = Place::new("idle-skipped");
    let text = reader(
        "read name=r, filesetname=files, iosize=1k, random",
        "createfile name=r, filesetname=files flowop closefile name=c",
    );
    for end in ["", "set mode quit alldone\n"] {
        let text = text.replace("run\n", &format!("{end}run\n"));
        let report = ended(&place, &text, &["--duration=0.3"], 4, &NOTHING);
        let run = &report["runs"][0];
        assert_eq!(ops(run, "r") + ops(run, "c") + errors(run), 0);
        let skipped = |name| flowop(run, name)["skipped"].as_u64().unwrap();
        let found_none = skipped("r") + skipped("c");
        assert!(skipped("r") > 0);
        let note = report["notes"][0].as_str().unwrap();
        assert!(
            note.ends_with(&format!("{found_none} operations found no file")),
            "{note}"
        );
        assert_eq!(report["partial"], false);
    }
}

#[test]
fn a_run_that_is_over_before_its_first_operation_has_failed() {
    let place = Place::new("idle-late");
    let text = reader("flowop read", "flowop delay name=d, value=60 flowop read");
    let report = ended(&place, &text, &["--duration=0.2"], 4, &NOTHING);
    assert_eq!(report["runs"][0]["measure"]["work_ops"], 0);
}

#[test]
fn what_has_no_work_to_do_or_works_in_one_of_two_runs_is_told_apart() {
    let place = Place::new("idle-else");
    let hog = reader(
        "read name=r, filesetname=files, iosize=1k, random",
        "hog name=r, value=9",
    );
    let report = ended(&place, &hog, &["--duration=0.1"], 0, &[]);
    assert_eq!(report["notes"], serde_json::json!([]));
    let failing = reader("prealloc", "prealloc, writeonly");
    let allowed = ["--duration=0.1", "--max-errors=100%"];
    ended(&place, &failing, &allowed, 0, &[]);
    let second = reader("flowop read", "flowop delay name=d, value=0.2 flowop read");
    let both = second.replace("run\n", "run 0.1\nrun 1\n");
    let report = ended(&place, &both, &[], 4, &NOTHING);
    assert!(ops(&report["runs"][1], "r") > 0 && seconds(&report["runs"][1], 1) > 0.9);
}
