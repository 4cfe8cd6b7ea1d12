//! Whatever a text holds, the checker answers: it never panics and never runs away.

use std::collections::BTreeMap;

use proptest::prelude::*;
use wml::lang::check;

/// Words of the language in any order reach deeper than random characters.
fn token() -> impl Strategy<Value = String> {
    let words = [
        "set",
        "define",
        "fileset",
        "file",
        "process",
        "thread",
        "flowop",
        "run",
        "eventgen",
        "echo",
        "create",
        "files",
        "randvar",
        "statfile",
        "read",
        "semblock",
        "sempost",
        "name=",
        "path=",
        "entries=",
        "iosize=",
        "value=",
        "target=",
        "=",
        ",",
        "{",
        "}",
        "(",
        ")",
        "+",
        "-",
        "*",
        "/",
        "$a",
        "${b}",
        "$",
        "\"x $a\"",
        "\"",
        "10",
        "1.5k",
        "1e9",
        "-5",
        "true",
        "a",
        "/x",
        "\n",
        "#",
        "0",
        "é",
        "99999999999999999999",
    ];
    proptest::sample::select(words.to_vec()).prop_map(str::to_owned)
}

fn answer(text: &str) {
    let checked = check(text, &BTreeMap::new());
    assert!(checked.program.is_some() || !checked.diagnostics.is_empty());
    for diagnostic in checked.diagnostics {
        let (line, column) = diagnostic.position(text);
        assert!(line >= 1 && column >= 1);
        assert!(!diagnostic.render("x.f", text).to_string().is_empty());
    }
}

proptest! {
    #[test]
    fn any_characters(text in any::<String>()) {
        answer(&text);
    }

    #[test]
    fn any_words(tokens in prop::collection::vec(token(), 0..60)) {
        answer(&tokens.join(" "));
        answer(&tokens.concat());
    }
}

#[test]
fn deep_nesting_is_an_error_not_an_overflow() {
    for deep in ["(", "1+", "1*", "1+randvar(mean=", "1+randvar(mean=1)+"] {
        answer(&format!("set $a={}1", deep.repeat(100_000)));
    }
}
