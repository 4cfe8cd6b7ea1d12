//! Texts of several commands: each has its effect, in its place, and results of all runs are kept.

mod common;

use std::fs;
use std::os::unix::process::CommandExt;

use common::{Place, READER, ops, reader, seconds};

fn last_step(text: &str) -> String {
    format!("{READER}{text}\n")
}

#[test]
fn commands_work_in_the_order_of_the_text_and_the_output_holds_only_results() {
    let place = Place::new("order");
    let text = "
        system \"ls $dir > $dir/before; echo on the output\"
        define fileset name=files, path=$dir, entries=3, size=1k, dirwidth=20, prealloc
        create files
        system \"ls $dir > $dir/after\"
        sync
        echo \"now for $dir\"
        define process name=p { thread name=t { flowop statfile name=s, filesetname=files } }
        run 0.1";
    let (report, said) = place.said("run", text, &[]);
    let listed = |name: &str| fs::read_to_string(place.dir().join(name)).unwrap();
    assert_eq!(listed("before"), "before\n");
    assert_eq!(listed("after"), "after\nbefore\nfiles\n");
    assert!(said.contains("on the output\n"), "{said}");
    assert!(said.contains(&format!("now for {}\n", place.dir().display())));
    assert_eq!(report["runs"].as_array().unwrap().len(), 1);
    assert_eq!(report["notes"].as_array().unwrap().len(), 0);
}

#[test]
fn several_runs_go_on_with_the_same_files_and_have_results_of_their_own() {
    let place = Place::new("several");
    let text = "
        set mode quit alldone
        define fileset name=files, path=$dir, entries=30, size=1k, dirwidth=20, prealloc=100
        define process name=p { thread name=t {
          flowop deletefile name=d, filesetname=files
          flowop finishoncount name=end, value=$n } }
        set $n=10
        run
        set $n=20
        run";
    let report = place.report("run", text, &[]);
    let done = |nth: usize| ops(&report["runs"][nth], "d");
    assert_eq!((done(0), done(1)), (10, 20));
    assert_eq!(report["runs"][1]["name"], "run 2");
    assert_eq!(report["runs"][0]["variables"]["n"], 10);
    assert_eq!(report["variables"]["n"], 20);
    assert_eq!(report["prepare"].as_array().unwrap().len(), 1);
    let left = fs::read_dir(place.dir().join("files")).unwrap();
    let files = left.map(|directory| fs::read_dir(directory.unwrap().path()).unwrap().count());
    assert_eq!(files.sum::<usize>(), 0);
}

#[test]
fn later_runs_do_not_repeat_the_random_numbers_of_the_first() {
    let place = Place::new("repeat");
    let written = |runs: &str| {
        let text = "
            set mode quit alldone
            set $size=randvar(mean=50k, min=1)
            define fileset name=files, path=$dir, entries=1, size=1k, dirwidth=20, prealloc
            define process name=p { thread name=t {
              flowop appendfile name=a, filesetname=files, iosize=$size
              flowop finishoncount name=end, value=50 } }\n"
            .to_owned();
        let report = place.report("run", &(text + runs), &["--seed=3"]);
        let runs = report["runs"].as_array().unwrap().iter();
        runs.map(|run| run["measure"]["write_b"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    let twice = written("run\nrun");
    assert_ne!(twice[0], twice[1]);
    assert_eq!(
        written("run")[0],
        twice[0],
        "the first run depends on what follows"
    );
}

#[test]
fn the_memory_of_a_finished_run_is_given_back() {
    let place = Place::new("memory");
    // The series of a run without a planned end takes 2 MB for each thread.
    let text = reader("instances=2 { thread", "instances=32 { thread").replace(
        "random }",
        "random flowop finishoncount name=end, value=1 }",
    );
    let text = format!("set mode quit alldone\n{text}{}", "run\n".repeat(29));
    let mut command = place.command("run", &text, &[]);
    let limit = libc::rlimit {
        rlim_cur: 1 << 30,
        rlim_max: 1 << 30,
    };
    // SAFETY: one system call.
    let limited = unsafe {
        command.pre_exec(
            move || match libc::setrlimit(libc::RLIMIT_AS, &raw const limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            },
        )
    };
    let output = limited.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["runs"].as_array().unwrap().len(), 30);
}

#[test]
fn a_fileset_keeps_the_values_that_it_was_created_with() {
    let place = Place::new("kept");
    let text = "
        set $n=10
        define fileset name=files, path=$dir, entries=$n, size=1k, dirwidth=20, prealloc
        create files
        set $n=20
        define process name=p { thread name=t { flowop statfile name=s, filesetname=files } }
        run 0.1";
    let report = place.report("run", text, &[]);
    assert_eq!(report["filesets"][0]["entries"], 10);
    assert_eq!(report["prepare"][0]["files"], 10);
    assert_eq!(report["runs"][0]["measure"]["flowops"][0]["skipped"], 0);
}

#[test]
fn a_system_command_that_fails_is_noted_and_the_text_goes_on() {
    let place = Place::new("system");
    let text =
        last_step("system \"exit 3\" system \"kill -9 $$$$\" run 0.1").replace("$$$$", "\\$\\$");
    let report = place.report("run", &text, &[]);
    assert_eq!(report["notes"][0], "system \"exit 3\" ended with status 3");
    assert_eq!(
        report["notes"][1],
        "system \"kill -9 $$\" was ended by signal 9"
    );
    assert_eq!(report["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn verify_accepts_what_was_created_and_finds_what_has_changed() {
    let place = Place::new("verify");
    let unchanged = last_step("create files verify run 0.1 verify");
    place.report("run", &unchanged, &[]);
    let verify = || place.output("verify", &last_step("run"), &[]);
    let verified = verify();
    assert_eq!(verified.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&verified.stdout).contains("1 fileset as prepared"));

    let changed = reader("read name=r", "appendfile name=r") + "verify\n";
    let changed = changed.replace(
        "random }",
        "random flowop finishoncount name=end, value=5 }",
    );
    let output = place.output("run", &changed, &["--duration=60"]);
    assert_eq!(output.status.code(), Some(3));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        report["reason"]
            .as_str()
            .unwrap()
            .contains("is not as prepared")
    );
    assert!(
        ops(&report["runs"][0], "r") > 0,
        "the run before it is lost"
    );
    assert_eq!(report["runs"][0]["partial"], false);
    assert_eq!(verify().status.code(), Some(1));
    let none = place.output("verify", READER, &[]);
    assert_eq!(none.status.code(), Some(1), "nothing was looked at");
}

#[test]
fn a_text_without_a_run_does_its_other_commands() {
    let place = Place::new("norun");
    let (report, said) = place.said("run", &last_step("create files"), &[]);
    assert_eq!(report["runs"].as_array().unwrap().len(), 0);
    assert_eq!(report["prepare"][0]["files"], 20);
    assert!(said.contains("warning"), "{said}");
}

#[test]
fn prepare_creates_the_filesets_of_all_runs() {
    let place = Place::new("all");
    let more = "define fileset name=more, path=$dir, entries=4, size=1k, dirwidth=20, prealloc\n";
    let text = last_step("run 0.1") + more + "run 0.1\n";
    let report = place.report("prepare", &text, &[]);
    let names: Vec<&str> = report["prepare"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fileset| fileset["fileset"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["files", "more"]);
    let run = place.report("run", &text, &["--prepared"]);
    assert_eq!(run["prepare"].as_array().unwrap().len(), 0);
    assert_eq!(run["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn the_command_line_overrides_the_times_of_every_run() {
    let place = Place::new("times");
    let text = last_step("warmup 0.3 run 50 run 60");
    let report = place.report("run", &text, &["--duration=0.2"]);
    let phases = |nth: usize| [0, 1].map(|phase| seconds(&report["runs"][nth], phase));
    assert_eq!(phases(0), [0.3, 0.2]);
    assert_eq!(phases(1), [0.0, 0.2]);
    let report = place.report("run", &text, &["--duration=0.2", "--warmup=0.1"]);
    assert_eq!(report["runs"][1]["configuration"]["warmup_s"], 0.1);
}

#[test]
fn results_say_where_they_were_measured_and_what_was_asked_for() {
    let place = Place::new("where");
    let report = place.report("run", &last_step("run 0.1"), &["--seed=11"]);
    assert_eq!(
        (&report["schema"], &report["seed"]),
        (&2.into(), &11.into())
    );
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(report["host"]["kernel"], kernel.trim());
    assert!(report["host"]["cpus_count"].as_u64().unwrap() > 0);
    let fileset = &report["filesets"][0];
    let root = place.dir().join("files");
    assert_eq!(fileset["root"], root.to_str().unwrap());
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mount = &fileset["mount"];
    let known = mounts.lines().any(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        mount["source"] == words[0] && mount["type"] == words[2]
    });
    assert!(known, "{mount}");
    let configuration = &report["runs"][0]["configuration"];
    assert_eq!(configuration["duration_s"], 0.1);
    assert_eq!(configuration["processes"][0]["instances"], 2);
    assert_eq!(configuration["filesets"][0]["entries"], 20);
}
