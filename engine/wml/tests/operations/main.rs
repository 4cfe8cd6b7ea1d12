//! What each flowop does to the file system, and how often.

#[path = "../common/mod.rs"]
mod common;

mod data;
mod metadata;
mod passes;

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use serde_json::Value;

use common::{Place, errors, flowop};

/// Files that all exist, and files of which half do.
const FULL: &str = "entries=10, size=8k, prealloc";
const HALF: &str = "entries=40, size=8k, prealloc=50";

/// A text with one fileset of these attributes and one thread with this body.
fn text(fileset: &str, body: &str) -> String {
    format!(
        "define fileset name=files, path=$dir, dirwidth=5, {fileset}
         define process name=p {{ thread name=t {{ {body} }} }}
         run 60\n"
    )
}

fn count(value: u64) -> String {
    format!("flowop finishoncount name=end, value={value}")
}

/// Everything below a directory, of which `wanted` is true.
fn below(directory: &Path, wanted: fn(&Metadata) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for item in fs::read_dir(directory).unwrap() {
        let path = item.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        if wanted(&metadata) {
            found.push(path.clone());
        }
        if metadata.is_dir() {
            found.extend(below(&path, wanted));
        }
    }
    found
}

fn files(place: &Place) -> Vec<PathBuf> {
    let mut files = below(&place.dir(), Metadata::is_file);
    files.sort();
    files
}

/// Run a text that must end by itself, before its time and without an error.
fn run(place: &Place, text: &str) -> Value {
    let run = place.run(text, &[]);
    assert_eq!(errors(&run), 0, "{run}");
    assert_eq!(run["partial"], false);
    assert!(run["measure"]["duration_s"].as_f64().unwrap() < 60.0);
    run
}

fn skipped(run: &Value, name: &str) -> u64 {
    flowop(run, name)["skipped"].as_u64().unwrap()
}

fn bytes(run: &Value, name: &str) -> u64 {
    flowop(run, name)["bytes"].as_u64().unwrap()
}
