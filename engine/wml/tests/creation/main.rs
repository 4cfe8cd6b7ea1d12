//! Trees on the disk: making, reusing, verifying and removing them, and what is in their files.

#[path = "../common/mod.rs"]
mod common;

mod contents;
mod foreign;
mod making;
mod reuse;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use wml::fileset::{Files, prepare, verify};
use wml::model::Fileset;
use wml::random::{Amount, Distribution, Shape};

use common::Place;

fn sizes(mean: f64) -> Amount {
    Amount::Random(Distribution {
        shape: Shape::Gamma(1.5),
        mean,
        ..Distribution::default()
    })
}

/// A small fileset below a place of the test.
fn small(place: &Place) -> Fileset {
    Fileset {
        path: place.dir().display().to_string(),
        name: "files".into(),
        size: sizes(8192.0),
        entries: 300,
        leafdirs: 40,
        dirwidth: Amount::Fixed(10.0),
        dirgamma: 1.5,
        prealloc_percent: 80.0,
        paralloc: true,
        ..Fileset::default()
    }
}

fn files(fileset: &Fileset) -> Files {
    Files::new(fileset.clone(), 3).unwrap()
}

fn entry_path(files: &Files, entry: usize) -> PathBuf {
    let mut path = Vec::new();
    files.layout.path_into(entry, &mut path);
    path.pop();
    String::from_utf8(path).unwrap().into()
}

fn leafdir_path(files: &Files, leafdir: usize) -> PathBuf {
    let mut path = Vec::new();
    files.layout.leafdir_path_into(leafdir, &mut path);
    path.pop();
    String::from_utf8(path).unwrap().into()
}

/// Everything below a directory: sizes of files, None for directories.
fn on_disk(directory: &Path) -> BTreeMap<PathBuf, Option<u64>> {
    let mut found = BTreeMap::new();
    for item in fs::read_dir(directory).unwrap() {
        let item = item.unwrap();
        let metadata = item.metadata().unwrap();
        found.insert(item.path(), metadata.is_file().then_some(metadata.len()));
        if metadata.is_dir() {
            found.append(&mut on_disk(&item.path()));
        }
    }
    found
}

/// What the layout says that there is.
fn on_paper(files: &Files) -> BTreeMap<PathBuf, Option<u64>> {
    let layout = &files.layout;
    let mut path = Vec::new();
    let directories = (0..layout.directories.len()).map(|directory| {
        layout.directory_path_into(directory, &mut path);
        path.pop();
        (String::from_utf8(path.clone()).unwrap().into(), None)
    });
    let mut paper: BTreeMap<_, _> = directories.collect();
    for (entry, found) in layout.preallocated() {
        paper.insert(entry_path(files, entry), Some(found.size_b));
    }
    for (nth, _) in layout
        .leafdirs
        .iter()
        .enumerate()
        .filter(|(_, leaf)| leaf.preallocated)
    {
        paper.insert(leafdir_path(files, nth), None);
    }
    paper
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
