//! Whatever a text holds, the checker and the formatter answer: they never panic and never run
//! away, and formatting changes the layout only.
//!
//! `texts_with_faults` mends and breaks the texts of the project for FSGREEN_FUZZ_S seconds (3
//! unless set), from a seed that it prints when it fails, or that FSGREEN_FUZZ_SEED gives.
//! In continuous integration a minute, at night ten, with the optimiser on:
//!
//!     FSGREEN_FUZZ_S=60 cargo test --test garbage
//!     FSGREEN_FUZZ_S=600 cargo test --release --test garbage

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;
use wml::lang::vocabulary::{COMMANDS, OBJECTS};
use wml::lang::{Checked, Source, check, format, parse_value};
use wml::model::Operation;
use wml::random::Stream;

/// What stands between and beside the words of the vocabulary.
const PUNCTUATION: &[&str] = &[
    "=",
    ",",
    "{",
    "}",
    "{{",
    "}}",
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
    "\\",
    "10",
    "1.5k",
    "1e9",
    "-5",
    "0",
    "99999999999999999999",
    "true",
    "a",
    "/x",
    "\n",
    "#",
    "é",
    "in",
    "randvar(",
    "cvar(",
    "name=a",
    "name=b",
    "path=/x",
    "entries=10",
    "dirwidth=5",
    "files",
    "fileset",
    "file",
    "process",
    "thread",
    "flowop",
    "mode",
    "multi",
    "lathist",
];

/// Words of the language in any order reach deeper than random characters.
fn words() -> Vec<String> {
    let attributes = OBJECTS.iter().flat_map(|object| object.known);
    let operations = Operation::ALL.iter().map(|operation| operation.name());
    let words = PUNCTUATION
        .iter()
        .chain(COMMANDS)
        .chain(attributes)
        .copied();
    words.chain(operations).map(str::to_owned).collect()
}

fn word() -> impl Strategy<Value = String> {
    proptest::sample::select(words())
}

/// Check a text, and that everything said about it can be said.
fn answer(text: &str) -> Checked {
    // The texts of the project leave it to the command line where their files stand.
    let dir = ("dir".to_owned(), parse_value("/x"));
    let needs_dir = text.contains("$dir") || text.contains("${dir}");
    let overrides: BTreeMap<_, _> = needs_dir.then_some(dir).into_iter().collect();
    let checked = check(text, &overrides);
    assert!(checked.program.is_some() || !checked.diagnostics.is_empty());
    let source = Source::new("x.f", text);
    for diagnostic in &checked.diagnostics {
        let (line, column) = source.position(diagnostic);
        assert!(line >= 1 && column >= 1);
        assert!(!source.render(diagnostic).is_empty());
    }
    checked
}

/// What a text means, without where its words stand and what another spelling mends.
fn meaning(checked: &Checked) -> (String, Vec<&str>) {
    let stays = checked.diagnostics.iter().filter(|d| d.edit.is_none());
    let messages = stays.map(|d| d.message.as_str());
    (std::format!("{:?}", checked.program), messages.collect())
}

/// A text that parses keeps its meaning and comments when it is formatted, and then its layout.
fn answer_and_format(text: &str) {
    let before = answer(text);
    let Ok(formatted) = format(text) else {
        return;
    };
    assert_eq!(format(&formatted).as_ref(), Ok(&formatted), "not stable");
    assert_eq!(meaning(&before), meaning(&answer(&formatted)));
    let hashes = |text: &str| text.matches('#').count();
    assert_eq!(hashes(text), hashes(&formatted));
}

proptest! {
    #[test]
    fn any_characters(text in any::<String>()) {
        answer_and_format(&text);
    }

    #[test]
    fn any_words(words in prop::collection::vec(word(), 0..60)) {
        answer_and_format(&words.join(" "));
        answer_and_format(&words.concat());
    }
}

#[test]
fn deep_nesting_is_an_error_not_an_overflow() {
    for deep in [
        "(",
        "1+",
        "1*",
        "-(",
        "1+randvar(mean=",
        "1+randvar(mean=1)+",
        "randvar(randtable={{",
        "cvar(min=-",
    ] {
        answer(&std::format!("set $a={}1", deep.repeat(100_000)));
    }
    for deep in [
        "foreach $a in 1 {",
        "define process name=p { thread name=t {",
        "foreach $a in (",
    ] {
        answer(&deep.repeat(100_000));
    }
}

/// All texts below a folder, in the order of their names.
fn collect(folder: &Path, texts: &mut Vec<String>) {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .map(|items| items.map(|item| item.unwrap().path()).collect())
        .unwrap_or_default();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, texts);
        } else if path.extension().is_some_and(|extension| extension == "f") {
            texts.push(fs::read_to_string(&path).unwrap());
        }
    }
}

/// Texts of the project; also a corpus beside this file, if there is one.
fn texts() -> Vec<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    collect(&here.join("tests"), &mut texts);
    collect(
        &here.join("../../fsgreen/workloads/personalities"),
        &mut texts,
    );
    assert!(texts.len() >= 4, "where are the personalities?");
    texts
}

/// Cut a text where a word ends or begins, so that it can be broken and mended.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut last = ' ';
    for c in text.chars() {
        let goes_on = c.is_alphanumeric() && last.is_alphanumeric();
        match pieces.last_mut().filter(|_| goes_on) {
            Some(piece) => piece.push(c),
            None => pieces.push(c.to_string()),
        }
        last = c;
    }
    pieces
}

struct Mutator {
    stream: Stream,
    texts: Vec<Vec<String>>,
    words: Vec<String>,
}

impl Mutator {
    fn below(&mut self, bound: usize) -> usize {
        self.stream.below(bound as u64) as usize
    }

    /// A part of a text: some pieces from some place on.
    fn part(&mut self, of: usize) -> std::ops::Range<usize> {
        let length = self.texts[of].len();
        let start = self.below(length);
        let most = (length - start).min(40);
        start..start + self.below(most + 1)
    }

    /// A text with some faults.
    fn text(&mut self) -> String {
        let which = self.below(self.texts.len());
        let mut text = self.texts[which].clone();
        for _ in 0..=self.below(6) {
            if text.is_empty() {
                break;
            }
            let (at, other) = (self.below(text.len()), self.below(text.len()));
            match self.below(6) {
                0 => text.swap(at, other),
                1 => {
                    let end = (at + 1 + self.below(8)).min(text.len());
                    text.drain(at..end);
                }
                2 => {
                    let word = self.below(self.words.len());
                    text[at].clone_from(&self.words[word]);
                }
                3 => {
                    let word = self.below(self.words.len());
                    text.insert(at, self.words[word].clone());
                }
                4 => {
                    let from = self.below(self.texts.len());
                    let part = self.part(from);
                    let part = self.texts[from][part].to_vec();
                    text.splice(at..at, part);
                }
                _ => {
                    let part = text[at.min(other)..at.max(other)].to_vec();
                    text.splice(at..at, part);
                }
            }
        }
        self.noise(text.concat())
    }

    /// Now and then, one byte becomes another.
    fn noise(&mut self, text: String) -> String {
        if text.is_empty() || self.below(4) > 0 {
            return text;
        }
        let mut bytes = text.into_bytes();
        let at = self.below(bytes.len());
        bytes[at] = self.below(256) as u8;
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn setting(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |value| {
        let number = value.parse();
        number.unwrap_or_else(|_| panic!("{name} is a whole number, not '{value}'"))
    })
}

#[test]
fn texts_with_faults() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = setting("FSGREEN_FUZZ_SEED", now.as_secs());
    let duration = Duration::from_secs(setting("FSGREEN_FUZZ_S", 3));
    let mut mutator = Mutator {
        stream: Stream::new(seed, &["garbage"]),
        texts: texts().iter().map(|text| pieces(text)).collect(),
        words: words(),
    };
    let start = Instant::now();
    let (mut tried, mut whole) = (0u64, 0u64);
    while start.elapsed() < duration {
        let text = mutator.text();
        let found = catch_unwind(AssertUnwindSafe(|| answer_and_format(&text)));
        if found.is_err() {
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("garbage.f");
            fs::write(&file, &text).unwrap();
            panic!(
                "text {tried} of FSGREEN_FUZZ_SEED={seed}: see {}",
                file.display()
            );
        }
        tried += 1;
        whole += u64::from(format(&text).is_ok());
    }
    assert!(
        whole > 0,
        "none of {tried} texts parses: nothing was formatted"
    );
    println!("{tried} texts, {whole} of them formatted");
}

#[test]
fn texts_of_the_project_keep_their_meaning_when_formatted() {
    texts().iter().for_each(|text| answer_and_format(text));
}
