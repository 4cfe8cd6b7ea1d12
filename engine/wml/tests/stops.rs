//! Signals and other ends: results are kept, and nothing is left behind.

mod common;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use common::{
    Place, READER, personality, processes_with, reader, seconds, signal, wait, wait_until,
    wait_until_they_read,
};

const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn a_signal_leaves_partial_results_and_no_process() {
    let place = Place::new("signal");
    let options = ["--set=scale=0.005", "--warmup=0.2", "--duration=60"];
    let child = place.start(&personality("oltp"), &options);
    wait_until_they_read(&place.text(), LIMIT);
    std::thread::sleep(Duration::from_millis(300));
    wait_until_they_read(&place.text(), LIMIT); // since the warm-up has ended
    signal(&child, libc::SIGTERM);
    assert_eq!(wait(child, LIMIT), 3);
    let report = place.written();
    let run = &report["runs"][0];
    assert_eq!(
        (&run["partial"], &report["partial"]),
        (&true.into(), &true.into())
    );
    assert_eq!(run["reason"], "stopped by SIGTERM");
    assert!(seconds(run, 1) < 30.0);
    assert!(run["measure"]["work_ops"].as_u64().unwrap() > 0);
    assert!(processes_with(&place.text()).is_empty());
}

/// Whatever it does, a signal ends it soon: with a report, or before it had begun.
fn stop_at(nth: u64, delay: Duration) {
    let place = Place::new(&format!("moment{nth}"));
    let sleeper = format!("{}{nth:02}", 71_828_000_000 + u64::from(std::process::id()));
    let text = format!(
        "define fileset name=files, path=$dir, entries=2000, size=1k, dirwidth=100, prealloc
         create files
         sleep 0.2
         system \"sleep {sleeper}.25 & sleep 0.2; kill \\$!\"
         define process name=p, instances=3 {{ thread name=t, instances=5 {{
           flowop read name=r, filesetname=files, iosize=1k, random }} }}
         warmup 0.2
         run 0.4
         system \"sleep {sleeper}\""
    );
    let number = if nth % 2 == 0 {
        libc::SIGINT
    } else {
        libc::SIGTERM
    };
    let child = place.start(&text, &[]);
    std::thread::sleep(delay);
    signal(&child, number);
    let status = wait(child, LIMIT);
    assert!(status == 3 || status == -number, "{status} after {delay:?}");
    if status == 3 {
        let report = place.written();
        assert_eq!(report["partial"], true);
        let reason = report["reason"].as_str().unwrap();
        assert!(reason.starts_with("stopped by SIG"), "{reason}");
    }
    assert!(processes_with(&place.text()).is_empty(), "after {delay:?}");
    // What the shell has started was killed, and is gone once the kernel comes to it.
    let gone = || processes_with(Path::new(&sleeper)).is_empty();
    wait_until(LIMIT, &format!("{sleeper} goes on after {delay:?}"), gone);
}

#[test]
fn a_signal_at_any_moment_leaves_a_report_and_no_process() {
    // The golden section spreads the moments over the 2.5 seconds that the text takes.
    let moments = (0..12_u64).map(|nth| (nth, (nth as f64 * 0.618_034).fract() * 2.5));
    let moments: Vec<_> = moments.collect();
    std::thread::scope(|scope| {
        for part in moments.chunks(3) {
            scope.spawn(move || {
                for &(nth, delay_s) in part {
                    stop_at(nth, Duration::from_secs_f64(delay_s));
                }
            });
        }
    });
}

#[test]
fn a_signal_while_files_are_created_ends_that() {
    let place = Place::new("creating");
    let text = READER.replace("entries=20, size=8k", "entries=500, size=4m");
    let child = place.start(&(text + "run\n"), &[]);
    let tree = place.dir().join("files");
    wait_until(LIMIT, "nothing was created", || tree.exists());
    signal(&child, libc::SIGINT);
    assert_eq!(wait(child, LIMIT), 3);
    let report = place.written();
    assert_eq!(report["reason"], "stopped by SIGINT");
    assert_eq!(report["runs"].as_array().unwrap().len(), 0);
}

#[test]
fn who_reads_along_may_go_and_the_results_stay() {
    let place = Place::new("unread");
    let json = format!("--json={}", place.json().display());
    let text = format!("{READER}echo \"nobody reads this\"\npsrun 0.05 0.3\n");
    let mut command = place.command("run", &text, &[&json]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(place.written()["partial"], false);
}

#[test]
fn a_run_goes_on_after_its_terminal_if_it_was_told_to() {
    let place = Place::new("nohup");
    let json = format!("--json={}", place.json().display());
    let mut command = place.command("run", &(READER.to_owned() + "run 1\n"), &[&json]);
    // SAFETY: signal() is safe between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_IGN);
            libc::signal(libc::SIGCHLD, libc::SIG_IGN);
            Ok(())
        });
    }
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    wait_until_they_read(&place.text(), LIMIT);
    signal(&child, libc::SIGHUP);
    assert_eq!(wait(child, LIMIT), 0);
    assert_eq!(place.written()["partial"], false);
}

#[test]
fn children_do_not_survive_the_program() {
    let place = Place::new("orphans");
    let mut command = place.command("run", &reader("instances=2", "instances=2"), &[]);
    let child = command
        .args(["--duration=60"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let text = place.text();
    wait_until(LIMIT, "it did not start", || {
        processes_with(&text).len() >= 3
    });
    signal(&child, libc::SIGKILL);
    assert_eq!(wait(child, LIMIT), -libc::SIGKILL);
    wait_until(LIMIT, "a child is left", || {
        processes_with(&text).is_empty()
    });
}

/// Wait until a run of several processes works, and send a signal to one of them.
fn signal_a_process(parent: &Child, text: &Path, number: i32) {
    wait_until(LIMIT, "it did not start", || {
        processes_with(text).len() >= 3
    });
    wait_until_they_read(text, LIMIT);
    let mut processes = processes_with(text).into_iter();
    let process = processes.find(|&pid| pid != parent.id()).unwrap();
    // SAFETY: a child of our own child.
    unsafe { libc::kill(process as i32, number) };
}

#[test]
fn a_lost_process_ends_the_run_and_leaves_partial_results() {
    let place = Place::new("lost");
    let child = place.start(&reader("instances=2", "instances=2"), &["--duration=60"]);
    let text = place.text();
    signal_a_process(&child, &text, libc::SIGKILL);
    assert_eq!(wait(child, LIMIT), 3);
    let report = place.written();
    assert_eq!(
        report["runs"][0]["reason"],
        "a process was killed by signal 9"
    );
    assert!(report["runs"][0]["measure"]["work_ops"].as_u64().unwrap() > 0);
    assert!(processes_with(&text).is_empty());
}

#[test]
fn a_process_that_does_not_answer_is_left_behind_by_no_signal() {
    let place = Place::new("stuck");
    let child = place.start(&reader("instances=2", "instances=2"), &["--duration=60"]);
    let text = place.text();
    signal_a_process(&child, &text, libc::SIGSTOP);
    signal(&child, libc::SIGTERM);
    assert_eq!(wait(child, LIMIT), 3);
    let run = &place.written()["runs"][0];
    assert_eq!(run["reason"], "stopped by SIGTERM");
    assert!(run["measure"]["work_ops"].as_u64().unwrap() > 0);
    assert!(processes_with(&text).is_empty());
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

#[test]
fn exit_statuses_tell_a_wrong_text_from_a_wrong_place() {
    let place = Place::new("exit");
    assert_eq!(status(&place.output("check", READER, &[])), 0);
    assert_eq!(status(&place.output("check", "define nothing", &[])), 2);
    assert_eq!(
        status(&place.output("run", READER, &["--duration=soon"])),
        2
    );
    let output = place.output("run", &(READER.to_owned() + "run\n"), &["--prepared"]);
    assert_eq!(status(&output), 1);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no file instead of 8192 bytes"), "{said}");
    assert!(said.contains("\n  next:  prepare it again"), "{said}");
}

#[test]
fn every_command_has_a_help_with_an_example() {
    let place = Place::new("help");
    for command in ["check", "fmt", "prepare", "verify", "run"] {
        let output = place.output(command, "", &["--help"]);
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(
            help.contains(&format!("\nExample: fsgreen-wml {command} ")),
            "{help}"
        );
    }
}

#[test]
fn results_are_written_whole_and_devices_are_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let place = Place::new("null");
    let text = reader("instances=2", "instances=1");
    let output = place.output("run", &text, &["--duration=0.1", "--json=/dev/null"]);
    assert_eq!(status(&output), 0);
    assert!(output.stdout.is_empty());
    let kind = std::fs::metadata("/dev/null").unwrap().file_type();
    assert!(kind.is_char_device());
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_work() {
    let place = Place::new("nowhere");
    let json = format!("--json={}", place.0.join("none/out.json").display());
    let output = place.output("run", &reader("instances=2", "instances=1"), &[&json]);
    assert_eq!(status(&output), 1);
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write"));
    assert_eq!(std::fs::read_dir(place.dir()).unwrap().count(), 0);
}

#[test]
fn foreign_files_are_never_removed() {
    let place = Place::new("foreign");
    let precious = place.dir().join("files/thesis.txt");
    std::fs::create_dir(place.dir().join("files")).unwrap();
    std::fs::write(&precious, "years").unwrap();
    let text = READER.to_owned() + "run\n";
    assert_eq!(status(&place.output("prepare", &text, &[])), 1);
    assert_eq!(std::fs::read(&precious).unwrap(), b"years");
}

#[test]
fn a_file_system_that_is_too_small_is_refused_before_anything_is_written() {
    let place = Place::new("small");
    let output = place.output("prepare", &reader("size=8k", "size=1000t"), &[]);
    assert_eq!(status(&output), 1);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("no space for") && said.contains("next:"),
        "{said}"
    );
    assert_eq!(std::fs::read_dir(place.dir()).unwrap().count(), 0);
}
