//! What a text means, and what is said about a wrong one.

use std::collections::BTreeMap;

use wml::lang::ast::Expression;
use wml::lang::{Checked, Severity, check, parse_value};
use wml::model::{Model, Operation};
use wml::random::Amount;

const MINIMAL: &str = "
define fileset name=files, path=/x, entries=10, dirwidth=20, prealloc
define process name=p { thread name=t { flowop statfile name=s, filesetname=files } }
";

fn checked(text: &str, overrides: &[(&str, &str)]) -> Checked {
    let overrides: BTreeMap<String, Expression> = overrides
        .iter()
        .map(|(name, value)| ((*name).to_owned(), parse_value(value)))
        .collect();
    check(text, &overrides)
}

fn model(text: &str, overrides: &[(&str, &str)]) -> Model {
    let checked = checked(text, overrides);
    let program = checked
        .program
        .unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    program.runs().next().expect("a run").model.clone()
}

/// All findings as people see them.
fn rendered(text: &str) -> String {
    let checked = checked(text, &[]);
    let lines: Vec<String> = checked
        .diagnostics
        .iter()
        .map(|d| d.render("x.f", text).to_string())
        .collect();
    lines.join("\n")
}

/// The minimal text with one thing replaced.
fn minimal_but(from: &str, to: &str) -> String {
    assert!(MINIMAL.contains(from), "{from}");
    MINIMAL.replace(from, to)
}

#[test]
fn a_syntax_error_shows_its_line_with_a_caret() {
    let text = "set $a=1\ndefine fileset name=files path=/x\n";
    let expected = [
        "x.f:2:27: error: unknown command 'path'",
        "  define fileset name=files path=/x",
        "                            ^^^^",
    ];
    assert_eq!(rendered(text), expected.join("\n"));
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
            "no fileset 'file' is defined above; did you",
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
    ] {
        let said = rendered(&minimal_but(from, to));
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn words_of_the_language_that_are_missing_here_are_named_as_such() {
    for (from, to) in [
        ("statfile", "listdir"),
        ("prealloc", "prealloc, leafdirs=3"),
        ("define process", "usage \"x\" define process"),
        ("define process", "set mode quit alldone define process"),
    ] {
        let said = rendered(&minimal_but(from, to));
        assert!(said.contains("not supported yet"), "{said}");
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
fn contradictions_between_objects_are_errors() {
    let gate = "thread name=t { flowop semblock name=g, value=10, highwater=9 }";
    for (from, to, expected) in [
        ("prealloc", "prealloc=0", "statfile finds no file"),
        (
            "statfile name=s, filesetname=files",
            "closefile name=s",
            "opens a file into slot 0",
        ),
        ("statfile name=s", "read name=s", "read needs an iosize"),
        (
            "thread name=t {",
            &format!("{gate} thread name=u {{"),
            "a highwater of 9 never lets",
        ),
        (
            "statfile name=s",
            "statfile name=s flowop sempost name=q, target=g, filesetname=files",
            "there is no semblock 'g'",
        ),
        (
            "statfile name=s",
            "delay name=s flowop statfile name=s",
            "two flowops 's'",
        ),
    ] {
        let said = rendered(&minimal_but(from, to));
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn variables_are_bound_late_overridden_and_computed() {
    let text = "set $n=100 set $scale=1 set $entries=$n*$scale/(1+1)\n".to_owned()
        + &minimal_but("entries=10", "entries=${entries}").replace("/x", "\"$dir/sub\"");
    let model = |overrides: &[(&str, &str)]| self::model(&text, overrides).filesets.remove(0);
    assert_eq!(model(&[("dir", "/a b")]).entries, 50);
    assert_eq!(model(&[("dir", "/a b")]).path, "/a b/sub");
    assert_eq!(model(&[("dir", "/x"), ("scale", "0.1")]).entries, 5);
    assert_eq!(model(&[("dir", "/x"), ("entries", "1k")]).entries, 1024);
}

#[test]
fn an_unset_or_unknown_variable_is_an_error_and_an_unused_one_a_warning() {
    let said = rendered(&minimal_but("/x", "$dir"));
    assert!(
        said.contains("$dir is not set: pass --set dir=VALUE"),
        "{said}"
    );
    let checked = checked(&format!("set $entries=4\n{MINIMAL}"), &[("entrees", "4")]);
    let by = |severity| {
        checked
            .diagnostics
            .iter()
            .find(|d| d.severity == severity)
            .unwrap()
    };
    assert!(
        by(Severity::Error)
            .message
            .ends_with("did you mean 'entries'?")
    );
    assert_eq!(by(Severity::Warning).message, "$entries is never used");
    assert!(
        self::checked(&format!("set $entries=4\n{MINIMAL}"), &[])
            .program
            .is_some()
    );
}

#[test]
fn random_variables_keep_their_mean_and_minimum() {
    let text = format!("set $size=randvar(type=gamma, mean=32k, min=1k)\n{MINIMAL}")
        .replace("entries=10", "entries=10, size=$size");
    let Amount::Random(size) = &model(&text, &[]).filesets[0].size else {
        panic!()
    };
    assert_eq!((size.mean, size.minimum), (32768.0, 1024.0));
}

#[test]
fn the_personalities_have_the_published_parameters() {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fsgreen/workloads/personalities"
    );
    for (name, files, size_b, depth, threads) in [
        ("webserver", 20_000, 32768.0, 3.3, 100),
        ("fileserver", 50_000, 262_144.0, 3.6, 100),
        ("varmail", 50_000, 16384.0, 0.8, 100),
        ("oltp", 10, 536_870_912.0, 0.3, 211),
    ] {
        let text = std::fs::read_to_string(format!("{folder}/{name}.f")).unwrap();
        let model = model(&text, &[("dir", "/x")]);
        let fileset = &model.filesets[0];
        assert_eq!(
            (fileset.entries, fileset.size.mean()),
            (files, size_b),
            "{name}"
        );
        let formula = (files as f64).ln() / fileset.dirwidth.mean().ln();
        assert!((formula - depth).abs() < 0.05, "{name}: depth {formula}");
        assert_eq!(model.thread_count(), threads, "{name}");
        assert_eq!(model.rate, 0.0);
        assert!(
            checked(&text, &[("dir", "/x")]).diagnostics.is_empty(),
            "{name}"
        );
        let limits = model
            .flowops()
            .filter(|(_, f)| f.operation == Operation::OpsLimit)
            .count();
        let threads: usize = model.processes.iter().map(|p| p.threads.len()).sum();
        assert_eq!(
            limits, threads,
            "{name}: a load level would not limit every thread"
        );
    }
}
