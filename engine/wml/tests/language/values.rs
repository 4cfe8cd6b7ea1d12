//! Variables, arithmetic, random and custom variables.

use wml::model::{Program, Step};
use wml::random::{Amount, Custom, Distribution, Kind, Segment, Shape};

use super::{MINIMAL, minimal_but, model, program, program_with, refused};

/// The sizes of the files of a text that sets `$size`.
fn size(set: &str) -> Amount {
    let text = format!(
        "set $size={set}\n{}",
        minimal_but("entries=10", "entries=10, size=$size")
    );
    model(&text, &[]).filesets[0].size.clone()
}

fn random(set: &str) -> Distribution {
    match size(set) {
        Amount::Random(distribution) => distribution,
        other => panic!("{other:?}"),
    }
}

fn custom(set: &str) -> Custom {
    match size(set) {
        Amount::Custom(custom) => custom,
        other => panic!("{other:?}"),
    }
}

fn said(text: &str) -> Vec<String> {
    said_by(program(text))
}

fn said_by(program: Program) -> Vec<String> {
    let said = program.steps.into_iter().filter_map(|step| match step {
        Step::Say(text) => Some(text),
        _ => None,
    });
    said.collect()
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
fn an_object_sees_the_last_value_above_its_run() {
    let text = "set $n=1\n".to_owned() + &minimal_but("entries=10", "entries=$n");
    assert_eq!(
        model(&text.replace("run 1", "set $n=2 run 1"), &[]).filesets[0].entries,
        2
    );
}

#[test]
fn numbers_have_suffixes_fractions_and_signs_and_words_are_not_reserved() {
    let text = "echo 1.5k echo 1T echo -3*-(2-4) echo true echo random echo \"${a}b $c\"";
    let text = format!("set $a=-0.5 set $c=run\n{text}\n{MINIMAL}");
    let expected = ["1536", "1099511627776", "-6", "true", "random", "-0.5b run"];
    assert_eq!(said(&text), expected);
}

#[test]
fn dollars_and_line_ends_are_written_with_a_backslash() {
    assert_eq!(said(r#"echo "\$a\n\"b\" # c""#), ["$a\n\"b\" # c"]);
}

#[test]
fn random_variables_have_the_moments_that_they_say() {
    let size = random("randvar(type=gamma, mean=32k, min=1k, gamma=500, round=512, seed=7)");
    let expected = Distribution {
        shape: Shape::Gamma(0.5),
        mean: 32768.0,
        minimum: 1024.0,
        maximum: None,
        round: 512.0,
        seed: Some(7),
    };
    assert_eq!(size, expected);
    let uniform = random("randvar(type=uniform, min=10, max=30, seed=0, randsrc=urandom)");
    assert_eq!((&uniform.shape, uniform.mean), (&Shape::Uniform, 20.0));
    assert_eq!((uniform.maximum, uniform.seed), (Some(30.0), None));
    assert_eq!(
        random("randvar(mean=4k, randsrc=rand48)").shape,
        Shape::Gamma(1.5)
    );
    assert_eq!(
        random("randvar(min=100)").mean,
        101.5,
        "the gamma value above the minimum"
    );
}

#[test]
fn a_table_of_probabilities_keeps_its_rows_and_its_mean() {
    let table = "randtable={{50, 0, 2k}, {30, 2k, 4k}, {20, 8k, 8k}}";
    let size = random(&format!("randvar(type=tabular, {table})"));
    let Shape::Tabular(rows) = &size.shape else {
        panic!("{size:?}")
    };
    let second = Segment {
        percent: 30.0,
        minimum: 2048.0,
        maximum: 4096.0,
    };
    assert_eq!((rows.len(), rows[1]), (3, second));
    let mean = 0.5 * 1024.0 + 0.3 * 3072.0 + 0.2 * 8192.0;
    assert!((size.mean - mean).abs() < 1e-9, "{}", size.mean);
    let scaled = random(&format!("randvar({table}, mean=1m, min=1k)"));
    assert_eq!((scaled.mean, scaled.minimum), (1048576.0, 1024.0));
    assert!(
        matches!(scaled.shape, Shape::Tabular(_)),
        "the table says the type"
    );
}

#[test]
fn the_original_s_spelling_of_random_variables_is_understood() {
    let text = "define randvar name=$size, type=uniform, mean=8k\n".to_owned()
        + &minimal_but("entries=10", "entries=10, size=$size");
    assert_eq!(model(&text, &[]).filesets[0].size.mean(), 8192.0);
    assert!(super::warnings(&text)[0].contains("set $size=randvar(...)"));
}

#[test]
fn custom_variables_have_types_parameters_and_bounds() {
    let all =
        custom("cvar(type=cvar-normal, parameters=mean:4k;sigma:10, min=-5, max=8k, round=8)");
    let expected = Custom {
        kind: Kind::Normal {
            mean: 4096.0,
            sigma: 10.0,
        },
        minimum: Some(-5.0),
        maximum: Some(8192.0),
        round: 8.0,
    };
    assert_eq!(all, expected);
    for (set, kind) in [
        (
            "uniform",
            Kind::Uniform {
                lower: 0.0,
                upper: 1.0,
            },
        ),
        (
            "cvar-normal",
            Kind::Normal {
                mean: 0.0,
                sigma: 1.0,
            },
        ),
        (
            "lognormal",
            Kind::LogNormal {
                shape: 1.0,
                scale: 1.0,
            },
        ),
        ("exponential", Kind::Exponential { mean: 1.0 }),
        (
            "cvar-gamma",
            Kind::Gamma {
                mean: 4096.0,
                gamma: 1.5,
            },
        ),
        (
            "erlang",
            Kind::Erlang {
                shape: 1.0,
                rate: 1.0,
            },
        ),
        (
            "weibull",
            Kind::Weibull {
                shape: 1.0,
                scale: 1.0,
            },
        ),
        (
            "triangular",
            Kind::Triangular {
                lower: 0.0,
                upper: 1.0,
                mode: 0.5,
            },
        ),
    ] {
        assert_eq!(custom(&format!("cvar(type={set})")).kind, kind);
    }
    let quoted = custom("cvar(type=triangular, parameters=\"lower:-1; upper: 3;mode:1.5;\")");
    let (lower, upper, mode) = (-1.0, 3.0, 1.5);
    assert_eq!(quoted.kind, Kind::Triangular { lower, upper, mode });
}

#[test]
fn impossible_distributions_are_refused() {
    for (set, expected) in [
        ("randvar(type=uniform)", "needs a 'mean' or a 'max'"),
        ("randvar(mean=1k, min=2k)", "the mean is below the minimum"),
        ("randvar(mean=2k, max=1k)", "the maximum is below the mean"),
        (
            "randvar(mean=2k, gamma=0)",
            "the gamma shape must be above 0",
        ),
        ("randvar(type=tabular, mean=1)", "needs a 'randtable'"),
        (
            "randvar(type=gamma, randtable={{100, 1, 2}})",
            "belongs to type=tabular",
        ),
        (
            "randvar(randtable={{50, 1, 2}})",
            "sum to 50 rather than to 100",
        ),
        (
            "randvar(randtable={{100, 2, 1}})",
            "maximum of this row is below",
        ),
        ("randvar(randtable={{100, 2}})", "a row of a randtable is"),
        (
            "randvar(randtable={{100, 0, 0}})",
            "the mean of this table is 0",
        ),
        ("randvar(randtable={{100, x, 0}})", "must be a number"),
        ("randvar(randtable=5)", "must be {{percent, min, max}, ...}"),
        (
            "randvar(mean={{100, 1, 2}})",
            "a table stands in randtable=",
        ),
        ("{{100, 1, 2}}", "expected a value, found '{'"),
        ("randvar(mean=2k, randsrc=dice)", "none of rand48, urandom"),
        (
            "cvar(min=5)",
            "a custom variable needs the attribute 'type'",
        ),
        ("cvar(type=normal, parameters=mean)", "must be name:value"),
        (
            "cvar(type=normal, parameters=mean:x)",
            "'x' is not a number",
        ),
        (
            "cvar(type=uniform, parameters=lower:2)",
            "upper must not be below lower",
        ),
        (
            "cvar(type=erlang, parameters=shape:1.5)",
            "a whole number from 1",
        ),
        (
            "cvar(type=normal, min=2, max=1)",
            "the maximum is below the minimum",
        ),
        ("1/0", "this has no finite value"),
        ("1+x", "this must be a number, and it is text"),
    ] {
        let text = format!("set $v={set}\n{MINIMAL}");
        refused(&[(&text, expected)]);
    }
}

#[test]
fn a_text_that_doubles_itself_is_stopped() {
    let values = (0..60)
        .map(|n| n.to_string())
        .collect::<Vec<_>>()
        .join(", ");
    let text = format!("set $t=xy foreach $i in {values} {{ set $t=\"$t$t\" }}");
    refused(&[(&text, "this text has more than 16384 bytes")]);
}

#[test]
fn a_random_variable_has_no_value_in_a_text() {
    refused(&[(
        "set $r=randvar(mean=1) echo \"$r\"",
        "no value outside a flowop",
    )]);
}

#[test]
fn the_command_line_overrides_with_numbers_of_any_sign_and_text() {
    let text = format!("set $a=1 set $b=2 echo $a echo $b\n{MINIMAL}");
    let program = program_with(&text, &[("a", "-2.5k"), ("b", "x y")]);
    assert_eq!(said_by(program), ["-2560", "x y"]);
}
