//! Turns: several runs can take turns, each of which stands still while it is not its own.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::Value;

use common::{Place, READER, processes_with, signal, sum, wait};

const LIMIT: Duration = Duration::from_secs(60);

/// A run whose caller this is.
struct Taker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    results: PathBuf,
}

impl Taker {
    fn new(place: &Place, text: &str, options: &[&str]) -> Self {
        let mut command = place.command("run", text, options);
        command
            .arg("--turns")
            .arg(format!("--json={}", place.json().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            results: place.json(),
            child,
        }
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn ask(&mut self, words: &str) {
        writeln!(self.input.as_mut().unwrap(), "{words}").unwrap();
    }

    fn turn(&mut self, seconds: f64) -> Value {
        self.ask(&seconds.to_string());
        self.line()
    }

    /// No more turns; the report, and the status.
    fn end(mut self) -> (Value, i32) {
        drop(self.input.take());
        self.ended()
    }

    /// The same of one that ends by itself. Nothing but answers was on the standard output.
    fn ended(mut self) -> (Value, i32) {
        let status = wait(self.child, LIMIT);
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        let results = fs::read_to_string(self.results).unwrap();
        (serde_json::from_str(&results).unwrap(), status)
    }
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap()
}

#[test]
fn work_is_done_in_turns_and_none_between_them() {
    let place = Place::new("turns");
    let mut taker = Taker::new(&place, &(READER.to_owned() + "run\n"), &["--interval=0.05"]);
    let turns: Vec<Value> = (0..3)
        .map(|_| {
            let turn = taker.turn(0.2);
            std::thread::sleep(Duration::from_millis(150));
            turn
        })
        .collect();
    let (report, status) = taker.end();
    assert_eq!(status, 0);
    let run = &report["runs"][0];
    assert_eq!(run["turns"].as_array().unwrap(), &turns);
    assert_eq!(run["partial"], false);
    for pair in turns.windows(2) {
        assert!(number(&pair[1], "start_ns") >= number(&pair[0], "end_ns") + 140_000_000);
    }
    let worked_s: f64 = turns
        .iter()
        .map(|turn| turn["duration_s"].as_f64().unwrap())
        .sum();
    let measured_s = run["measure"]["duration_s"].as_f64().unwrap();
    assert!(
        measured_s >= 0.6 && measured_s <= worked_s,
        "{measured_s} {worked_s}"
    );
    // The series and the total hold what the turns hold, but for ops that were under way.
    let in_turns: u64 = turns.iter().map(|turn| number(turn, "work_ops")).sum();
    let total = number(&run["measure"], "work_ops");
    assert_eq!(sum(&run["measure"]["series"]["work_ops"]), total);
    assert!(
        in_turns > 0 && total >= in_turns && total - in_turns <= 4 * 3,
        "{total} {in_turns}"
    );
    // An op that is under way at the end of a turn may be in its count and not yet in its bytes.
    for turn in &turns {
        let read_b = 1024 * number(turn, "work_ops");
        assert!(
            number(turn, "read_b").abs_diff(read_b) <= 1024 * 4,
            "{turn}"
        );
    }
    assert_eq!(number(&run["measure"], "read_b"), 1024 * total);
}

#[test]
fn a_warm_up_is_a_turn_like_others_and_counts_nothing() {
    let place = Place::new("turns-warm");
    let text = READER.to_owned() + "run\n";
    let mut taker = Taker::new(&place, &text, &["--warmup=30"]);
    assert_eq!(number(&taker.turn(0.1), "work_ops"), 0);
    let (report, status) = taker.end();
    assert_eq!(status, 0);
    assert_eq!(number(&report["runs"][0]["measure"], "work_ops"), 0);
}

#[test]
fn a_limit_of_the_rate_knows_nothing_of_the_pauses() {
    let place = Place::new("turns-rate");
    let text = READER.replace("} }", "flowop opslimit name=limit } }");
    let mut taker = Taker::new(
        &place,
        &("eventgen rate=200\n".to_owned() + &text + "run\n"),
        &[],
    );
    let mut ops = 0;
    let mut worked_s = 0.0;
    for _ in 0..3 {
        let turn = taker.turn(0.4);
        ops += number(&turn, "work_ops");
        worked_s += turn["duration_s"].as_f64().unwrap();
        std::thread::sleep(Duration::from_millis(400));
    }
    taker.end();
    // Were the pauses budget, it would be twice as many.
    assert!(
        (ops as f64) < 200.0 * worked_s * 1.3 + 10.0,
        "{ops} in {worked_s} s"
    );
}

#[test]
fn what_is_no_length_ends_the_run_with_what_was_done() {
    for words in ["soon", "-1", "0", "nan", "inf", "1e99", ""] {
        let place = Place::new("turns-wrong");
        let mut taker = Taker::new(&place, &(READER.to_owned() + "run\n"), &[]);
        taker.turn(0.05);
        taker.ask(words);
        let (report, status) = taker.end();
        assert_eq!(status, 3, "{words}");
        let reason = report["runs"][0]["reason"].as_str().unwrap();
        assert_eq!(
            reason,
            format!("'{words}' is not a length of a turn in seconds")
        );
        assert_eq!(report["runs"][0]["turns"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_signal_between_turns_leaves_a_report_and_no_process() {
    let place = Place::new("turns-signal");
    let mut taker = Taker::new(&place, &(READER.to_owned() + "run\n"), &[]);
    taker.turn(0.05);
    signal(&taker.child, libc::SIGTERM);
    let (report, status) = taker.ended();
    assert_eq!(report["runs"][0]["reason"], "stopped by SIGTERM");
    assert_eq!(status, 3);
    assert!(processes_with(&place.text()).is_empty());
}

#[test]
fn a_run_that_gets_no_turn_does_no_work() {
    let place = Place::new("turns-none");
    let taker = Taker::new(&place, &(READER.to_owned() + "run\n"), &[]);
    let (report, status) = taker.end();
    assert_eq!(status, 0);
    assert_eq!(number(&report["runs"][0]["measure"], "work_ops"), 0);
}

/// Who reads the answers would have to tell the results from them.
#[test]
fn turns_and_results_do_not_share_the_standard_output() {
    let place = Place::new("turns-mixed");
    for options in [&["--turns"][..], &["--turns", "--json=-"]] {
        let output = place.output("run", &(READER.to_owned() + "run\n"), options);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("the results need a file"), "{said}");
        assert!(said.contains("next:  the same with --json"), "{said}");
        assert!(output.stdout.is_empty());
    }
}
