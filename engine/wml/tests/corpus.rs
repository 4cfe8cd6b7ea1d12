//! The golden corpus: each construct of the language in a text of its own, and wrong texts with
//! what is said about them.
//!
//! A text states the warnings that it expects in comments, `# expect-warning: MESSAGE`. Beside each
//! wrong text stands an `.err` file with the first error as people see it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use wml::lang::vocabulary::{self, Attributes, COMMANDS, OBJECTS};
use wml::lang::{self, Checked, Severity, check, parse_value};
use wml::model::Operation;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// The files of a kind in a folder and below it, by their path in the corpus.
fn files(folder: &Path, kind: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for item in fs::read_dir(folder).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, kind));
        } else if path.extension().is_some_and(|extension| extension == kind) {
            let name = path.strip_prefix(corpus()).unwrap();
            let text = fs::read_to_string(&path).unwrap();
            found.insert(name.display().to_string(), text);
        }
    }
    found
}

fn good() -> BTreeMap<String, String> {
    let mut texts = files(&corpus(), "f");
    texts.retain(|name, _| !name.starts_with("bad/"));
    texts
}

fn checked(text: &str) -> Checked {
    let needs_dir = text.contains("$dir") || text.contains("${dir}");
    let dir = ("dir".to_owned(), parse_value("/corpus"));
    check(text, &needs_dir.then_some(dir).into_iter().collect())
}

#[test]
fn every_construct_is_accepted_with_no_other_warnings_than_its_text_states() {
    for (name, text) in good() {
        let Checked {
            program,
            diagnostics,
        } = checked(&text);
        let said: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        let expected: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# expect-warning: "))
            .collect();
        assert!(program.is_some(), "{name}: {diagnostics:?}");
        assert_eq!(said, expected, "{name}");
    }
}

#[test]
fn every_wrong_text_gets_the_error_that_stands_beside_it() {
    let bad = files(&corpus().join("bad"), "f");
    let errors = files(&corpus().join("bad"), "err");
    assert_eq!(bad.len(), errors.len(), "each text has one error");
    for (name, text) in bad {
        let expected = errors
            .get(&name.replace(".f", ".err"))
            .unwrap_or_else(|| panic!("{name} without its error"));
        let Checked {
            program,
            diagnostics,
        } = checked(&text);
        assert!(program.is_none(), "{name} is accepted");
        let first = diagnostics
            .iter()
            .find(|diagnostic| diagnostic.severity == Severity::Error)
            .unwrap_or_else(|| panic!("{name} is refused without an error"));
        let file = name.strip_prefix("bad/").unwrap();
        let first = first.render(file, &text);
        assert_eq!(first, expected.trim_end(), "{name}");
    }
}

#[test]
fn the_canonical_layout_is_stable_and_keeps_the_meaning_of_every_text() {
    for (name, text) in good() {
        let formatted = lang::format(&text).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(lang::format(&formatted).unwrap(), formatted, "{name}");
        let meaning = |text| format!("{:#?}", checked(text).program);
        assert_eq!(meaning(&formatted), meaning(&text), "{name}");
    }
}

/// The object that a line is about, and the attributes that it gives it.
fn attributes(line: &str) -> Option<(&'static Attributes, Vec<&str>)> {
    let words: Vec<&str> = line.split_whitespace().take(2).collect();
    let (object, list) = match words[..] {
        ["set", _] if line.contains("randvar(") => (&vocabulary::RANDVAR, line.split_once('(')?.1),
        ["set", _] if line.contains("cvar(") => (&vocabulary::CVAR, line.split_once('(')?.1),
        ["define", "file" | "files" | "fileset" | "filesets"] => (&vocabulary::FILESET, line),
        ["define", "process" | "processes"] => (&vocabulary::PROCESS, line),
        ["define", "flowop"] => (&vocabulary::COMPOSITE, line),
        ["thread", _] => (&vocabulary::THREAD, line),
        ["flowop", kind] if vocabulary::operation(kind).is_some() => (&vocabulary::FLOWOP, line),
        ["eventgen", _] => (&vocabulary::EVENTGEN, line),
        ["enable", "multi"] => (&vocabulary::MULTI, line),
        ["domultisync", _] => (&vocabulary::MULTISYNC, line),
        _ => return None,
    };
    let names = list.trim_end_matches(')').split(',').filter_map(attribute);
    Some((object, names.map(vocabulary::canonical).collect()))
}

/// The last word in front of the equals sign, or of what has none.
fn attribute(written: &str) -> Option<&str> {
    written.split('=').next()?.split_whitespace().last()
}

#[test]
fn every_word_of_the_language_has_a_text() {
    let texts = good();
    let lines = || texts.values().flat_map(|text| text.lines()).map(str::trim);
    let used: BTreeSet<(&str, &str)> = lines()
        .filter_map(attributes)
        .flat_map(|(object, names)| names.into_iter().map(|name| (object.of, name)))
        .collect();
    for object in OBJECTS {
        for attribute in object.known {
            let is_used = used.contains(&(object.of, attribute));
            assert!(is_used, "no text gives {} '{attribute}'", object.of);
        }
    }
    let begins = |words: &[&str]| {
        let fits = |line: &str| {
            line.split_whitespace()
                .take(words.len())
                .eq(words.iter().copied())
        };
        lines().any(fits)
    };
    for command in COMMANDS {
        assert!(begins(&[command]), "no text has '{command}'");
    }
    let subcommands = [
        ("define", vocabulary::DEFINITIONS.to_vec()),
        ("create", vocabulary::CREATIONS.to_vec()),
        ("enable", vocabulary::FEATURES.to_vec()),
        ("list", vocabulary::LISTS.to_vec()),
        ("stats", names(vocabulary::STATISTICS)),
    ];
    for (command, words) in subcommands {
        for word in words {
            assert!(begins(&[command, word]), "no text has '{command} {word}'");
        }
    }
    for mode in vocabulary::MODES {
        assert!(
            begins(&["set", "mode", mode]),
            "no text has 'set mode {mode}'"
        );
    }
    let has = |word: &str| lines().any(|line| !line.starts_with('#') && line.contains(word));
    let choices = [
        ("set mode quit ", names(vocabulary::QUIT_MODES)),
        ("select=", names(vocabulary::SELECTIONS)),
        ("arrivals=", names(vocabulary::ARRIVALS)),
        ("randvar(type=", names(vocabulary::RANDOM_TYPES)),
        ("randsrc=", names(vocabulary::RANDOM_SOURCES)),
        ("cvar(type=cvar-", names(vocabulary::CUSTOM_TYPES)),
    ];
    for (attribute, words) in choices {
        for word in words {
            assert!(
                has(&format!("{attribute}{word}")),
                "no text has '{attribute}{word}'"
            );
        }
    }
    for (synonym, _) in vocabulary::SYNONYMS {
        assert!(has(&format!("{synonym}=")), "no text has '{synonym}'");
    }
}

fn names<T>(choices: &'static [(&'static str, T)]) -> Vec<&'static str> {
    choices.iter().map(|(name, _)| *name).collect()
}

#[test]
fn every_flowop_has_a_text_of_its_name() {
    let texts = good();
    for operation in Operation::ALL {
        let name = operation.name();
        let file = format!("flowops/{name}.f");
        let text = texts.get(&file).unwrap_or_else(|| panic!("no {file}"));
        assert!(text.contains(&format!("    flowop {name} name=")), "{file}");
    }
}

#[test]
fn every_attribute_has_a_text_of_its_name() {
    let texts = good();
    let objects = [
        ("fileset", &vocabulary::FILESET),
        ("process", &vocabulary::PROCESS),
        ("thread", &vocabulary::THREAD),
        ("flowop", &vocabulary::FLOWOP),
    ];
    for (object, known) in objects {
        for attribute in known.known {
            let file = format!("objects/{object}-{attribute}.f");
            let text = texts.get(&file).unwrap_or_else(|| panic!("no {file}"));
            let mut given = text.lines().map(str::trim).filter_map(attributes);
            let gives = given.any(|(of, names)| of.of == known.of && names.contains(attribute));
            assert!(gives, "{file} does not give it");
        }
    }
}
