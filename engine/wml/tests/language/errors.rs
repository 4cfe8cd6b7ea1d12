//! Where errors are found and how they read.

use super::{minimal_but, refused, rendered, with_flowops};

#[test]
fn a_syntax_error_shows_its_line_with_a_caret() {
    let text = "set $a=1\ndefine fileset name=files path=/x\n";
    let expected = [
        "x.f:2:27: error: unknown command 'path'; is a ',' missing before it?",
        "  define fileset name=files path=/x",
        "                            ^^^^",
    ];
    assert_eq!(rendered(text), expected.join("\n"));
}

#[test]
fn behind_a_syntax_error_the_next_commands_are_read_on() {
    let text = "set $a 5
define process name=p
{
  thread name=t
  {
    flowop read name=r iosize=1k
  }
}
set $b=\"open
foreach $c in 1, 2 {
  sleep ,
  set $d=(1
}
run )
";
    let said = rendered(text);
    let found: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("error: "))
        .collect();
    let expected = [
        "x.f:1:8: error: expected '=', found a number",
        "x.f:6:24: error: expected 'flowop' or '}', found 'iosize'; is a ',' missing before it?",
        "x.f:9:8: error: this string has no closing quote",
        "x.f:11:9: error: expected a value, found ','",
        "x.f:13:1: error: expected ')', found '}'",
        "x.f:14:5: error: expected a command, found ')'",
    ];
    assert_eq!(found, expected, "{said}");
}

#[test]
fn a_text_full_of_errors_gets_a_readable_number_of_them() {
    let said = rendered(&"set 5\n".repeat(1000));
    assert_eq!(said.matches("error: ").count(), 20);
}

#[test]
fn unknown_words_suggest_the_nearest() {
    for (from, to, expected) in [
        (
            "statfile",
            "statfil",
            "unknown flowop 'statfil'; did you mean 'statfile'?",
        ),
        (
            "entries",
            "entrys",
            "a fileset has no attribute 'entrys'; did you mean 'entries'?",
        ),
        (
            "filesetname=files",
            "filesetname=file",
            "no fileset 'file' is defined above; did you mean 'files'?",
        ),
        (
            "define process",
            "defin process",
            "unknown command 'defin'; did you mean 'define'?",
        ),
        (
            "define process",
            "define proces",
            "cannot define 'proces'; did you mean 'process'?",
        ),
        (
            "run 1",
            "set mode quit aldone run 1",
            "'aldone' is none of timeout, firstdone, alldone; did you mean 'alldone'?",
        ),
        ("run 1", "set mode quitt alldone", "did you mean 'quit'?"),
        ("run 1", "list filset", "did you mean 'fileset'?"),
        ("run 1", "enable lathst", "did you mean 'lathist'?"),
        ("run 1", "create file5", "did you mean 'files'?"),
        (
            "run 1",
            "set $x=randvar(type=unifrom)",
            "did you mean 'uniform'?",
        ),
        (
            "run 1",
            "set $x=cvar(type=cvar-gama)",
            "did you mean 'gamma'?",
        ),
        (
            "run 1",
            "set $x=cvar(type=normal, parameters=men:3)",
            "there is no parameter 'men'; did you mean 'mean'?",
        ),
        (
            "filesetname=files",
            "filesetname=files, select=rotr",
            "did you mean 'rotor'?",
        ),
    ] {
        let said = rendered(&minimal_but(from, to));
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn every_wrong_attribute_is_reported_at_its_value() {
    let text = minimal_but("entries=10, dirwidth=20", "entries=0, dirwidth=\"wide\"");
    let said = rendered(&text);
    assert!(
        said.contains("x.f:2:45: error: 'entries' must be at least 1"),
        "{said}"
    );
    assert!(
        said.contains("x.f:2:57: error: 'dirwidth' must be a number"),
        "{said}"
    );
    assert_eq!(said.matches("error:").count(), 2, "{said}");
}

#[test]
fn errors_of_several_objects_and_runs_are_reported_once_and_in_order() {
    let text = minimal_but("/x", "$dir")
        .replace("statfile", "foo")
        .replace("run 1", "run 1 run 2 sleep -1");
    let said = rendered(&text);
    let found: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("error: "))
        .collect();
    assert_eq!(found.len(), 3, "{said}");
    assert!(found[0].contains(":2:") && found[1].contains(":3:") && found[2].contains(":4:"));
}

#[test]
fn one_slip_is_one_error() {
    for (from, to) in [
        ("define fileset", "set $n=1/0 set $m=$n+1 define fileset"),
        ("entries", "entreis"),
        ("fileset name=files", "fileset name=5"),
        ("/x", "$dir"),
        ("entries=10", "entries=$none"),
        ("name=p", "instances=0, name=p"),
        (
            "statfile name=s, filesetname=files",
            "openfile name=s, fd=1 flowop closefile name=c, fd=1",
        ),
        ("run 1", "run \"now\""),
    ] {
        let said = rendered(&minimal_but(from, to));
        assert_eq!(said.matches("error: ").count(), 1, "{to}: {said}");
    }
}

#[test]
fn a_wrong_flowop_inside_a_composite_one_is_named_by_its_use() {
    let text = "define flowop name=twice, $size=1k { flowop read name=r, filesetname=files, iosize=$size }\n"
        .to_owned()
        + &with_flowops("flowop twice name=a flowop twice name=b, $size=0");
    let said = rendered(&text);
    assert!(
        said.contains("x.f:1:45: error: b.r: read needs an iosize"),
        "{said}"
    );
    assert!(!said.contains("a.r"), "{said}");
}

#[test]
fn an_unset_or_unknown_variable_is_an_error_and_an_unused_one_a_warning() {
    refused(&[(
        &minimal_but("/x", "$dir"),
        "$dir is not set: pass --set dir=VALUE",
    )]);
    let text = format!("set $entries=4\n{}", super::MINIMAL);
    let found = super::checked(&text, &[("entrees", "4")]).diagnostics;
    let messages: Vec<&str> = found.iter().map(|d| d.message.as_str()).collect();
    assert!(
        messages[0].ends_with("did you mean 'entries'?"),
        "{messages:?}"
    );
    assert_eq!(messages[1..], ["$entries is never used"]);
    assert!(super::checked(&text, &[]).program.is_some());
}

#[test]
fn numbers_out_of_range_are_refused() {
    for (from, to, expected) in [
        (
            "run 1",
            "run 0",
            "'run' takes a number of seconds from 0.001",
        ),
        ("run 1", "run -1", "'run' takes a number of seconds from 0"),
        ("run 1", "run 99g", "from 0 to 10000000000"),
        (
            "run 1",
            "psrun 0 5",
            "from 0.01 to 10000000000, or its negative",
        ),
        ("run 1", "psrun 5 (-5)", "'psrun' takes a number of seconds"),
        ("run 1", "debug 11", "a level from 0 to 10"),
        (
            "run 1",
            "eventgen rate=-5 run 1",
            "'rate' must not be negative",
        ),
        ("name=p", "name=p, instances=0", "so nothing is started"),
        ("name=p", "name=p, nice=20", "'nice' must be at most 19"),
        ("name=t", "name=t, ioprio=9", "'ioprio' must be at most 8"),
        ("name=s", "name=s, fd=129", "'fd' must be at most 128"),
        ("name=s", "name=s, value=-1", "'value' must not be negative"),
        (
            "prealloc",
            "prealloc=101",
            "'prealloc' must be between 0 and 100",
        ),
        (
            "prealloc",
            "prealloc, compress=101",
            "'compress' must be between",
        ),
        (
            "entries=10",
            "entries=5000000000",
            "'entries' must be at most",
        ),
    ] {
        refused(&[(&minimal_but(from, to), expected)]);
    }
}

#[test]
fn a_hundred_thousand_findings_are_told_as_fast_as_one() {
    let text: String = (0..100_000).map(|n| format!("set $v{n}={n}\n")).collect();
    let found = super::checked(&text, &[]).diagnostics;
    assert!(found.len() >= 100_000);
    let source = wml::lang::Source::new("x.f", &text);
    let last = source.render(found.last().unwrap());
    assert!(
        last.starts_with("x.f:100000:5: warning: $v99999 is never used"),
        "{last}"
    );
    assert!(found.iter().all(|one| !source.render(one).is_empty()));
}
