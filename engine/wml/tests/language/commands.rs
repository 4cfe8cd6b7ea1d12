//! What each command does, from top to bottom.

use wml::model::Value;
use wml::model::{Multi, Program, Quit, Run, Statistics, Step};

use super::{MINIMAL, checked, minimal_but, program, program_with, refused, warnings};

fn runs(text: &str) -> Vec<Run> {
    program(text).runs().cloned().collect()
}

/// The minimal text with commands before its run.
fn before_run(commands: &str) -> String {
    minimal_but("run 1", &format!("{commands} run 1"))
}

/// The steps before the only run, which is the last.
fn steps(commands: &str) -> Vec<Step> {
    let Program { mut steps, .. } = program(&before_run(commands));
    assert!(matches!(steps.pop(), Some(Step::Run(_))));
    steps
}

#[test]
fn each_command_is_a_step_in_the_order_of_the_text() {
    let steps =
        steps("create files system \"true\" sync dropcaches sleep 0.5 echo \"hi\" version verify");
    let [
        Step::Create(filesets),
        Step::System(command),
        Step::Sync,
        Step::DropCaches,
        Step::Sleep { duration_s },
        Step::Say(hi),
        Step::Say(version),
        Step::Verify,
    ] = steps.as_slice()
    else {
        panic!("{steps:?}")
    };
    assert_eq!(
        (filesets[0].name.as_str(), command.as_str()),
        ("files", "true")
    );
    assert_eq!((*duration_s, hi.as_str()), (0.5, "hi"));
    assert!(version.starts_with("fsgreen-wml"), "{version}");
}

#[test]
fn shell_commands_see_variables() {
    let steps = steps("set $dir=\"/a b\" system \"ls '${dir}' | wc -l\"");
    assert!(matches!(&steps[0], Step::System(command) if command == "ls '/a b' | wc -l"));
}

#[test]
fn each_run_has_the_values_at_its_command() {
    let text = "set $n=1\n".to_owned()
        + &minimal_but("name=t", "name=t, instances=$n").replace(
            "run 1",
            "run 5 set $n=3 eventgen rate=$n*10 set $t=7 run $t",
        );
    let runs = runs(&text);
    let seen: Vec<_> = runs
        .iter()
        .map(|run| (run.model.thread_count(), run.model.rate, run.duration_s))
        .collect();
    assert_eq!(seen, [(1, 0.0, Some(5.0)), (3, 30.0, Some(7.0))]);
    assert_eq!(runs[0].variables["n"], Value::Number(1.0));
    assert_eq!(program(&text).variables["n"], Value::Number(3.0));
}

#[test]
fn filesets_keep_the_values_that_they_were_created_with() {
    let late = minimal_but("entries=10", "entries=$n");
    let entries = |commands: &str| -> Vec<u64> {
        let text = format!("set $n=1 {}", late.replace("run 1", commands));
        let runs = runs(&text).into_iter();
        runs.map(|run| run.model.filesets[0].entries).collect()
    };
    assert_eq!(entries("set $n=2 run 1 set $n=3 run 1"), [2, 2]);
    assert_eq!(entries("create files set $n=2 run 1"), [1]);
}

#[test]
fn filesets_of_later_definitions_come_behind_the_earlier_ones() {
    let text = MINIMAL.to_owned()
        + "define file name=log, path=/x run 1 create files define file name=end, path=/x run 1";
    let names = |run: &Run| -> Vec<String> {
        let filesets = run.model.filesets.iter();
        filesets.map(|fileset| fileset.name.clone()).collect()
    };
    let names: Vec<_> = runs(&text).iter().map(names).collect();
    assert_eq!(names[0], ["files"]);
    assert_eq!(names[2], ["files", "log", "end"]);
}

#[test]
fn definitions_must_stand_above_the_run_that_uses_them() {
    let (fileset, process) = MINIMAL.split_once("define process").unwrap();
    let process = format!("define process{}", process.replace("run 1", ""));
    refused(&[
        (
            &format!("{fileset} run 1 {process}"),
            "no process is defined above this run",
        ),
        (
            &format!("{process} run 1 {fileset}"),
            "no fileset 'files' is defined above",
        ),
    ]);
    let any_order = format!("{process} {fileset} run 1");
    assert_eq!(runs(&any_order).len(), 1);
    let late =
        format!("{MINIMAL} define process name=q {{ thread name=t {{ flowop hog name=h }} }}");
    assert!(warnings(&late)[0].contains("below the last 'run'"));
}

#[test]
fn a_text_without_a_run_does_its_commands_and_says_so() {
    let text = minimal_but("run 1", "create files");
    assert_eq!(
        warnings(&text),
        ["the text has no 'run', so nothing is measured"]
    );
    assert!(matches!(program(&text).steps.as_slice(), [Step::Create(_)]));
    refused(&[(
        &text.replace("statfile", "statfle"),
        "unknown flowop 'statfle'",
    )]);
}

#[test]
fn the_quit_mode_holds_from_its_command_on() {
    let text = minimal_but(
        "run 1",
        "run 1 set mode quit alldone run 1 set mode quit firstdone run 1 set mode quit timeout run",
    );
    let modes: Vec<_> = runs(&text)
        .iter()
        .map(|run| (run.model.quit, run.duration_s))
        .collect();
    let expected = [
        (Quit::Timeout, Some(1.0)),
        (Quit::AllDone, Some(1.0)),
        (Quit::FirstDone, Some(1.0)),
        (Quit::Timeout, None),
    ];
    assert_eq!(modes, expected);
}

#[test]
fn a_run_that_nothing_ends_is_warned_of() {
    let text = |commands: &str| minimal_but("run 1", commands);
    for endless in [
        "set mode quit firstdone run",
        "set mode quit alldone psrun -1",
    ] {
        assert!(
            warnings(&text(endless))[0].contains("may never end"),
            "{endless}"
        );
    }
    assert!(warnings(&text("set mode quit alldone run 5")).is_empty());
    let goal = super::with_flowops("flowop finishoncount name=end, value=5");
    assert!(warnings(&goal.replace("run 1", "set mode quit alldone run")).is_empty());
}

#[test]
fn psrun_prints_every_period_and_a_negative_one_counts_anew() {
    let seen = |command: &str| {
        let run = runs(&minimal_but("run 1", command)).remove(0);
        (run.statistics.unwrap(), run.duration_s)
    };
    let statistics = |period_s, reset| Statistics { period_s, reset };
    assert_eq!(seen("psrun"), (statistics(10.0, false), None));
    assert_eq!(seen("psrun 2"), (statistics(2.0, false), None));
    assert_eq!(seen("psrun -2 30"), (statistics(2.0, true), Some(30.0)));
    assert_eq!(
        seen("set $p=3 psrun -$p $p"),
        (statistics(3.0, true), Some(3.0))
    );
}

#[test]
fn a_warm_up_belongs_to_the_next_run() {
    let text = minimal_but("run 1", "warmup 2.5 run 1 run 1");
    let warmups: Vec<f64> = runs(&text).iter().map(|run| run.warmup_s).collect();
    assert_eq!(warmups, [2.5, 0.0]);
    let idle = format!("{MINIMAL} warmup 5");
    assert_eq!(warnings(&idle), ["there is no 'run' below this 'warmup'"]);
}

#[test]
fn nothing_below_quit_is_done() {
    let text = minimal_but("run 1", "run 1 quit run 1 echo \"no\"");
    assert_eq!(program(&text).steps.len(), 1);
    assert_eq!(warnings(&text), ["nothing below 'quit' is done"]);
    let repeated = minimal_but("run 1", "foreach $i in 1, 2 { run $i quit } run 1");
    assert_eq!(runs(&repeated).len(), 1);
}

#[test]
fn foreach_repeats_its_commands_with_each_value() {
    let text = minimal_but(
        "run 1",
        "foreach $size in 1k, 2k*2 { foreach $n in 1, 2 { echo \"$size $n\" run $n } }",
    );
    let said: Vec<String> = program(&text)
        .steps
        .into_iter()
        .filter_map(|step| match step {
            Step::Say(text) => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["1024 1", "1024 2", "4096 1", "4096 2"]);
    let durations: Vec<_> = runs(&text)
        .iter()
        .map(|run| run.duration_s.unwrap())
        .collect();
    assert_eq!(durations, [1.0, 2.0, 1.0, 2.0]);
}

#[test]
fn a_definition_in_foreach_keeps_the_value_of_its_turn() {
    let text = "
        foreach $i in 1, 2 {
          define file name=\"log$i\", path=/x, size=$i*1k, prealloc
          define process name=\"p$i\", instances=$i {
            thread name=t { flowop read name=r, filesetname=\"log$i\", iosize=1k } }
        }
        run 1";
    let model = runs(text).remove(0).model;
    let sizes: Vec<f64> = model.filesets.iter().map(|f| f.size.mean()).collect();
    assert_eq!(sizes, [1024.0, 2048.0]);
    assert_eq!(model.process_count(), 3);
    assert_eq!(model.processes[1].threads[0].flowops[0].fileset, Some(1));
}

#[test]
fn an_override_of_a_foreach_variable_replaces_its_values() {
    let text = minimal_but("run 1", "foreach $t in 1, 2, 3 { run $t }");
    let program = program_with(&text, &[("t", "9")]);
    let durations: Vec<_> = program.runs().map(|run| run.duration_s).collect();
    assert_eq!(durations, [Some(9.0)]);
    assert!(checked(&text, &[("t", "9")]).diagnostics.is_empty());
}

#[test]
fn texts_that_run_away_are_refused() {
    let values = vec!["1"; 200].join(", ");
    let text = format!("foreach $a in {values} {{ foreach $b in {values} {{ echo $b }} }}");
    refused(&[(&text, "'foreach' repeats more than 10000 commands")]);
    let deep = "foreach $a in 1 { ".repeat(50) + &"}".repeat(50);
    refused(&[(&deep, "too many 'foreach' in one another")]);
}

#[test]
fn lists_name_what_is_defined_above() {
    let steps = steps("list fileset list flowop");
    let [Step::Say(filesets), Step::Say(flowops)] = steps.as_slice() else {
        panic!("{steps:?}")
    };
    assert!(
        filesets.contains("files in /x: 10 files of 1024 bytes"),
        "{filesets}"
    );
    assert!(flowops.contains("p/t, 1 times") && flowops.contains("s: statfile on files"));
}

#[test]
fn clients_of_several_machines_meet() {
    let text =
        before_run("enable lathist enable multi master=\"10.0.0.1\", client=c domultisync value=3");
    let program = program(&text);
    let multi = Multi {
        master: "10.0.0.1".into(),
        client: "c".into(),
    };
    assert_eq!((program.lathist, program.multi), (true, Some(multi)));
    assert!(matches!(program.steps[0], Step::Meet { value: 3 }));
    refused(&[
        (
            &before_run("domultisync value=1"),
            "needs an 'enable multi' above",
        ),
        (
            &before_run("enable multi master=h"),
            "needs the attribute 'client'",
        ),
    ]);
}

#[test]
fn what_is_left_of_version_1_4_is_warned_of_and_does_no_harm() {
    for (command, expected) in [
        (
            "usage \"set \\$dir=<dir>\"",
            "'usage' has no effect: use 'echo'",
        ),
        ("load webserver", "'load' has no effect"),
        ("stats clear", "'stats' has no effect"),
        ("stats dump \"x.out\"", "'stats' has no effect"),
        ("stats directory /tmp/x", "'stats' has no effect"),
        ("shutdown processes", "'shutdown' has no effect"),
        ("create processes", "each run starts its processes"),
        ("create fileset", "done as 'create files'"),
        ("create filesets", "done as 'create files'"),
        ("set mode nousestats", "'nousestats' has no effect"),
        ("debug 3", "'debug' has no effect"),
    ] {
        let found = warnings(&before_run(command));
        assert_eq!(found.len(), 1, "{command}: {found:?}");
        assert!(found[0].contains(expected), "{command}: {found:?}");
        let creates = command.starts_with("create fileset");
        assert_eq!(steps(command).len(), usize::from(creates), "{command}");
    }
}
