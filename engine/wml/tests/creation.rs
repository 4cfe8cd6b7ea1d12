//! Trees on the disk: making, reusing, verifying and removing them, and what is in their files.

mod common;

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

#[test]
fn the_tree_on_the_disk_is_the_layout() {
    for paralloc in [false, true] {
        let place = Place::new(&format!("tree-layout-{paralloc}"));
        let files = files(&Fileset {
            paralloc,
            ..small(&place)
        });
        let prepared = prepare(&files, 3).unwrap();
        assert_eq!(on_disk(&place.dir()), on_paper(&files));
        verify(&files).unwrap();
        assert_eq!(prepared.files, files.layout.preallocated().count() as u64);
        assert_eq!(
            prepared.leafdirs,
            files.layout.existing_leafdirs().count() as u64
        );
        assert_eq!(
            (prepared.kept, prepared.bytes),
            (0, files.layout.preallocated_b())
        );
    }
}

#[test]
fn verification_sees_each_kind_of_damage() {
    let place = Place::new("tree-damage");
    let files = files(&Fileset {
        entries: 30,
        leafdirs: 20,
        ..small(&place)
    });
    let some = |exists| {
        files
            .layout
            .entries
            .iter()
            .position(|e| e.preallocated == exists)
            .unwrap()
    };
    let leaf = |exists| {
        files
            .layout
            .leafdirs
            .iter()
            .position(|e| e.preallocated == exists)
            .unwrap()
    };
    let (there, gone) = (
        entry_path(&files, some(true)),
        entry_path(&files, some(false)),
    );
    let (leaf, gone_leaf) = (
        leafdir_path(&files, leaf(true)),
        leafdir_path(&files, leaf(false)),
    );
    let damages: [&dyn Fn(); 6] = [
        &|| fs::write(&there, "short").unwrap(),
        &|| fs::remove_file(&there).unwrap(),
        &|| {
            fs::remove_file(&there).unwrap();
            symlink("elsewhere", &there).unwrap();
        },
        &|| fs::write(&gone, "new").unwrap(),
        &|| fs::remove_dir(&leaf).unwrap(),
        &|| fs::create_dir(&gone_leaf).unwrap(),
    ];
    for (nth, damage) in damages.iter().enumerate() {
        prepare(&files, 3).unwrap();
        verify(&files).unwrap();
        damage();
        let said = verify(&files)
            .err()
            .unwrap_or_else(|| panic!("damage {nth}"))
            .to_string();
        assert!(
            said.contains("is not as prepared") && said.contains("next:"),
            "{said}"
        );
    }
}

#[test]
fn reuse_keeps_what_fits_and_mends_the_rest() {
    let place = Place::new("tree-reuse");
    let files = files(&Fileset {
        reuse: true,
        ..small(&place)
    });
    let existing = prepare(&files, 3).unwrap().files;
    let there: Vec<PathBuf> = files
        .layout
        .preallocated()
        .map(|(entry, _)| entry_path(&files, entry))
        .collect();
    let gone = files
        .layout
        .entries
        .iter()
        .position(|entry| !entry.preallocated)
        .unwrap();
    let kept_inode = fs::metadata(&there[9]).unwrap().ino();
    let kept_bytes = fs::read(&there[9]).unwrap();
    let size = |path: &Path| fs::metadata(path).unwrap().len();
    let sizes: Vec<u64> = there[..5].iter().map(|path| size(path)).collect();
    let old: Vec<Vec<u8>> = there[..2]
        .iter()
        .map(|path| fs::read(path).unwrap())
        .collect();
    // Larger, smaller, missing, a link, a second name, and things that should not be there.
    fs::OpenOptions::new()
        .append(true)
        .open(&there[0])
        .unwrap()
        .write_all(&[7; 3000])
        .unwrap();
    fs::write(&there[1], "short").unwrap();
    fs::remove_file(&there[2]).unwrap();
    fs::remove_file(&there[3]).unwrap();
    symlink(&there[9], &there[3]).unwrap();
    fs::remove_file(&there[4]).unwrap();
    fs::hard_link(&there[8], &there[4]).unwrap();
    fs::write(entry_path(&files, gone), "new").unwrap();
    let root = Path::new(files.layout.root());
    fs::create_dir(root.join("00099999")).unwrap();
    fs::write(root.join("00099999/00000001"), "surplus").unwrap();
    fs::remove_dir(leafdir_path(&files, 0))
        .or_else(|_| fs::create_dir(leafdir_path(&files, 0)))
        .unwrap();

    let prepared = prepare(&files, 3).unwrap();
    assert_eq!(on_disk(&place.dir()), on_paper(&files));
    assert_eq!(
        there[..5].iter().map(|path| size(path)).collect::<Vec<_>>(),
        sizes
    );
    // Of two names of one file, either or both are made anew.
    assert!(
        (5..=6).contains(&(existing - prepared.kept)),
        "{} of {existing}",
        prepared.kept
    );
    assert_eq!(fs::metadata(&there[9]).unwrap().ino(), kept_inode);
    assert_eq!(fs::read(&there[9]).unwrap(), kept_bytes);
    assert!((0..2).all(|nth| fs::read(&there[nth]).unwrap() == old[nth]));
    assert!(fs::symlink_metadata(&there[3]).unwrap().is_file());
    assert_eq!(fs::metadata(&there[4]).unwrap().nlink(), 1);
}

#[test]
fn a_reused_tree_becomes_that_of_another_layout() {
    let place = Place::new("tree-other");
    prepare(&files(&small(&place)), 3).unwrap();
    let other = Fileset {
        reuse: true,
        entries: 120,
        leafdirs: 90,
        dirgamma: 0.0,
        ..small(&place)
    };
    let other = files(&other);
    prepare(&other, 3).unwrap();
    assert_eq!(on_disk(&place.dir()), on_paper(&other));
}

#[test]
fn a_trusted_tree_is_taken_as_it_is_and_made_if_there_is_none() {
    let place = Place::new("tree-trust");
    let files = files(&Fileset {
        trusttree: true,
        ..small(&place)
    });
    prepare(&files, 3).unwrap();
    assert_eq!(on_disk(&place.dir()), on_paper(&files));
    let (first, _) = files.layout.preallocated().next().unwrap();
    fs::write(entry_path(&files, first), "changed").unwrap();
    let damaged = on_disk(&place.dir());
    let prepared = prepare(&files, 3).unwrap();
    assert_eq!(prepared.kept, prepared.files);
    assert_eq!(on_disk(&place.dir()), damaged);
}

#[test]
fn nothing_foreign_is_removed_and_links_of_ours_are() {
    let place = Place::new("tree-foreign");
    for reuse in [false, true] {
        let files = files(&Fileset {
            reuse,
            ..small(&place)
        });
        prepare(&files, 3).unwrap();
        let directory = entry_path(&files, 0).parent().unwrap().to_owned();
        symlink(place.0.join("text.f"), directory.join("00000777")).unwrap();
        prepare(&files, 3).unwrap();
        assert!(fs::symlink_metadata(directory.join("00000777")).is_err());
        let before = on_disk(&place.dir());
        for foreign in ["thesis.txt", "0000001", "000000001"] {
            fs::write(directory.join(foreign), "years").unwrap();
            let said = prepare(&files, 3).err().unwrap().to_string();
            assert!(
                said.contains("nothing was changed") && said.contains(foreign),
                "{said}"
            );
            assert_eq!(fs::read(directory.join(foreign)).unwrap(), b"years");
            fs::remove_file(directory.join(foreign)).unwrap();
            assert_eq!(on_disk(&place.dir()), before);
        }
    }
}

#[test]
fn a_link_in_the_place_of_the_tree_is_not_followed() {
    let place = Place::new("tree-link");
    let elsewhere = place.0.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("00000001"), "years").unwrap();
    let files = files(&small(&place));
    symlink(&elsewhere, files.layout.root()).unwrap();
    assert!(prepare(&files, 3).is_err());
    assert_eq!(fs::read(elsewhere.join("00000001")).unwrap(), b"years");
}

#[test]
fn a_block_device_is_one_file_and_its_contents_are_not_given_up_by_chance() {
    // Whatever devices there are here: none of this touches them.
    let names = fs::read_dir("/sys/block").into_iter().flatten();
    let names = names.map(|item| item.unwrap().file_name().into_string().unwrap());
    for name in names.filter(|name| Path::new("/dev").join(name).exists()) {
        let device = Fileset {
            name: name.clone(),
            path: "/dev".into(),
            entries: 1,
            ..Fileset::default()
        };
        let opened = files(&device);
        assert!(opened.layout.is_device());
        assert_eq!(entry_path(&opened, 0), Path::new("/dev").join(&name));
        assert_eq!(opened.existing(), 1);
        for result in [prepare(&opened, 3).map(drop), verify(&opened)] {
            let said = result.err().unwrap().to_string();
            assert!(said.contains("its contents would be overwritten"), "{said}");
        }
        let many = Fileset {
            entries: 2,
            ..device
        };
        let said = Files::new(many, 3).err().unwrap().to_string();
        assert!(said.contains("which is one file"), "{said}");
    }
}

#[test]
fn twenty_thousand_files_in_memory_are_made_and_made_again_in_the_same_way() {
    let place = Place::new("tree-memory");
    let directory = Path::new("/dev/shm").join(format!("wml-tree-{}", std::process::id()));
    fs::create_dir(&directory).unwrap();
    let spec = Fileset {
        path: directory.display().to_string(),
        size: sizes(2048.0),
        entries: 20_000,
        leafdirs: 1000,
        dirwidth: Amount::Fixed(20.0),
        ..small(&place)
    };
    let files = files(&spec);
    let digest = || -> Vec<u32> {
        let existing = files.layout.preallocated().step_by(97);
        existing
            .map(|(entry, _)| crc(&fs::read(entry_path(&files, entry)).unwrap()))
            .collect()
    };
    prepare(&files, 3).unwrap();
    assert!(on_disk(&directory) == on_paper(&files));
    let first = digest();
    prepare(&files, 3).unwrap();
    assert!(on_disk(&directory) == on_paper(&files));
    assert!(first == digest(), "the same seed gave other bytes");
    fs::remove_dir_all(&directory).unwrap();
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn compressed(data: &[u8]) -> usize {
    let mut encoder =
        flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().len()
}

#[test]
fn files_of_a_compressible_fileset_compress() {
    let place = Place::new("tree-compress");
    let size = Amount::Fixed(100_000.0);
    let files = files(&Fileset {
        compress_percent: 60.0,
        size,
        entries: 5,
        ..small(&place)
    });
    prepare(&files, 3).unwrap();
    for (entry, _) in files.layout.preallocated() {
        let data = fs::read(entry_path(&files, entry)).unwrap();
        let saved = 100.0 * (1.0 - compressed(&data) as f64 / data.len() as f64);
        assert!((saved - 60.0).abs() < 2.0, "{saved}");
    }
}
