//! Trees against theory and on the disk.

mod common;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use wml::fileset::{Content, Files, Layout, fill_data, prepare, verify};
use wml::lang;
use wml::model::Fileset;
use wml::random::{Amount, Distribution, Segment, Shape, Stream};

use common::Place;

fn fileset(entries: u64, dirwidth: f64, dirgamma: f64) -> Fileset {
    Fileset {
        name: "files".into(),
        path: "/x".into(),
        size: Amount::Random(gamma(1.5, 32768.0, 1024.0)),
        entries,
        dirwidth: Amount::Fixed(dirwidth),
        dirgamma,
        prealloc_percent: 80.0,
        ..Fileset::default()
    }
}

fn gamma(shape: f64, mean: f64, minimum: f64) -> Distribution {
    Distribution {
        shape: Shape::Gamma(shape),
        mean,
        minimum,
        ..Distribution::default()
    }
}

fn layout(fileset: &Fileset) -> Layout {
    Layout::new(fileset, 5).unwrap()
}

/// The probability that a gamma variate is below `x`, by integration over its logarithm.
fn gamma_below(shape: f64, mean: f64, x: f64) -> f64 {
    let density = |log: f64| (shape * log - log.exp()).exp();
    let sum = |from: f64, to: f64| {
        let step = (to - from) / 20_000.0;
        (0..20_000)
            .map(|n| density(from + (f64::from(n) + 0.5) * step) * step)
            .sum::<f64>()
    };
    let (lowest, highest) = (-40.0 / shape, 6.0);
    let below = (x * shape / mean).ln().clamp(lowest, highest);
    sum(lowest, below) / sum(lowest, highest)
}

/// Directories without those that the end of the generation has cut.
fn whole(layout: &Layout) -> impl Iterator<Item = &wml::fileset::Directory> {
    let mut cut = HashSet::from([0]);
    let last_file = layout.entries.last().map(|entry| entry.directory);
    let last_leafdir = layout.leafdirs.last().map(|leafdir| leafdir.directory);
    for mut last in last_file.into_iter().chain(last_leafdir) {
        while cut.insert(last) {
            last = layout.directories[last as usize].parent;
        }
    }
    let all = layout.directories.iter().enumerate();
    all.filter(move |(nth, _)| !cut.contains(&(*nth as u32)))
        .map(|(_, directory)| directory)
}

/// In deviations, how far a count is from what is expected of `n` tries.
fn deviation(count: usize, n: usize, probability: f64) -> f64 {
    let expected = n as f64 * probability;
    (count as f64 - expected) / (expected * (1.0 - probability)).sqrt()
}

#[test]
fn widths_of_the_tree_have_the_gamma_distribution() {
    for (shape, mean) in [(1.5, 20.0), (0.8, 12.0), (4.0, 50.0)] {
        let layout = layout(&fileset(300_000, mean, shape));
        let widths: Vec<u32> = whole(&layout).map(|directory| directory.children).collect();
        for tenth in 1..10 {
            let width = (mean * 0.25 * f64::from(tenth)).round();
            let below = widths.iter().filter(|&&w| f64::from(w) <= width).count();
            let theory = gamma_below(shape, mean, width);
            let found = deviation(below, widths.len(), theory);
            assert!(found.abs() < 5.0, "shape {shape}, up to {width}: {found}");
        }
    }
}

#[test]
fn depths_of_the_tree_have_the_gamma_distribution() {
    for (shape, width) in [(1.5, 20.0), (0.8, 12.0), (4.0, 50.0)] {
        let layout = layout(&fileset(300_000, width, shape));
        let mean = 300_000f64.ln() / width.ln();
        for level in 1..12 {
            let here = whole(&layout).filter(|directory| directory.level == level);
            let is_leaf: Vec<bool> = here
                .map(|d| matches!(d.content, Content::Files(_)))
                .collect();
            let leaves = is_leaf.iter().filter(|leaf| **leaf).count();
            let theory = gamma_below(shape, mean, f64::from(level) + 1.0);
            if is_leaf.len() as f64 * theory.min(1.0 - theory) < 20.0 {
                continue;
            }
            let found = deviation(leaves, is_leaf.len(), theory);
            assert!(found.abs() < 5.0, "shape {shape}, level {level}: {found}");
        }
    }
}

#[test]
fn sizes_have_their_distribution_and_the_share_of_existing_files_is_kept() {
    let layout = layout(&fileset(200_000, 20.0, 1.5));
    for tenth in 1..10 {
        let size = 1024.0 + 8000.0 * f64::from(tenth);
        let below = layout
            .entries
            .iter()
            .filter(|e| (e.size_b as f64) < size)
            .count();
        let theory = gamma_below(1.5, 32768.0 - 1024.0, size - 1024.0);
        let found = deviation(below, 200_000, theory);
        assert!(found.abs() < 5.0, "below {size}: {found}");
    }
    assert!(layout.entries.iter().all(|entry| entry.size_b >= 1024));
    let found = deviation(layout.preallocated().count(), 200_000, 0.8);
    assert!(found.abs() < 5.0, "{found}");
}

#[test]
fn without_gamma_every_directory_has_the_depth_and_width_of_the_formula() {
    let spec = Fileset {
        leafdirs: 600,
        ..fileset(10_000, 20.0, 0.0)
    };
    let layout = layout(&spec);
    // int(ln 10600 / ln 20) = int(3.09)
    for directory in whole(&layout).filter(|directory| directory.level > 0) {
        assert_eq!(directory.children, 20);
        assert_eq!(
            directory.content == Content::Directories,
            directory.level < 3
        );
    }
}

#[test]
fn depths_can_be_drawn_from_a_variable_whose_mean_becomes_the_computed_one() {
    let segment = |percent, depth| Segment {
        percent,
        minimum: depth,
        maximum: depth,
    };
    let table = vec![segment(25.0, 1.0), segment(75.0, 3.0)];
    let depth = Distribution {
        shape: Shape::Tabular(table),
        ..Distribution::default()
    };
    let spec = Fileset {
        dirdepth: Some(depth),
        ..fileset(100_000, 20.0, 0.0)
    };
    let layout = layout(&spec);
    // The mean depth is 3.84 and that of the table 2.5: depths are 1.54 and 4.61.
    for (level, theory) in [(1, 0.25), (2, 0.25), (3, 0.25), (4, 1.0)] {
        let here: Vec<_> = whole(&layout)
            .filter(|directory| directory.level == level)
            .collect();
        let leaves = here
            .iter()
            .filter(|d| matches!(d.content, Content::Files(_)))
            .count();
        if theory == 1.0 {
            assert_eq!(leaves, here.len());
        } else if here.len() > 50 {
            assert!(
                deviation(leaves, here.len(), theory).abs() < 5.0,
                "level {level}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_tree_has_all_its_entries_each_under_one_name_of_its_own(
        entries in 0u64..3000,
        leafdirs in 0u64..300,
        dirwidth in 2.0f64..60.0,
        dirgamma in prop_oneof![Just(0.0), 0.3f64..4.0],
        seed: u64,
    ) {
        let spec = Fileset { leafdirs, ..fileset(entries, dirwidth, dirgamma) };
        let layout = Layout::new(&spec, seed).unwrap();
        prop_assert_eq!(layout.entries.len() as u64, entries);
        prop_assert_eq!(layout.leafdirs.len() as u64, leafdirs);
        let mut path = Vec::new();
        let mut names: HashSet<Vec<u8>> = HashSet::new();
        let mut children = vec![0; layout.directories.len()];
        for (nth, directory) in layout.directories.iter().enumerate() {
            layout.directory_path_into(nth, &mut path);
            names.insert(path.clone());
            prop_assert!(nth == 0 || directory.parent < nth as u32);
            if nth > 0 {
                children[directory.parent as usize] += 1;
                prop_assert_eq!(directory.level, layout.directories[directory.parent as usize].level + 1);
            }
        }
        for (nth, entry) in layout.entries.iter().enumerate() {
            layout.path_into(nth, &mut path);
            names.insert(path.clone());
            children[entry.directory as usize] += 1;
        }
        for (nth, leafdir) in layout.leafdirs.iter().enumerate() {
            layout.leafdir_path_into(nth, &mut path);
            names.insert(path.clone());
            children[leafdir.directory as usize] += 1;
        }
        let all = layout.directories.len() as u64 + entries + leafdirs;
        prop_assert_eq!(names.len() as u64, all);
        let counted: Vec<u32> = layout.directories.iter().map(|d| d.children).collect();
        prop_assert_eq!(counted, children);
    }
}

/// FNV-1a of every path, size and state.
fn hash(filesets: &[Fileset], seed: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    let mut path = Vec::new();
    for fileset in filesets {
        let layout = Layout::new(fileset, seed).unwrap();
        for (nth, entry) in layout.entries.iter().enumerate() {
            layout.path_into(nth, &mut path);
            add(&path);
            add(&entry.size_b.to_le_bytes());
            add(&[u8::from(entry.preallocated)]);
        }
    }
    hash
}

/// Of the seeds 1 and 2, as the first campaign had them.
const HASHES: [(&str, [u64; 2]); 4] = [
    ("webserver", [0x92ef_b95f_b2e0_ebbf, 0xd7c5_dc61_8e8e_9d92]),
    ("fileserver", [0x91e9_3b99_deed_4597, 0x3f2f_12fd_cbcc_2944]),
    ("varmail", [0xb5e1_5ee9_fecd_ec0a, 0x6937_894d_c57a_5a4c]),
    // Without anything random in it.
    ("oltp", [0xb54c_bf67_03eb_8c28, 0xb54c_bf67_03eb_8c28]),
];

#[test]
fn personalities_have_the_trees_that_campaigns_were_measured_with() {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fsgreen/workloads/personalities"
    );
    let overrides = BTreeMap::from([("dir".to_owned(), lang::parse_value("/x"))]);
    for (name, expected) in HASHES {
        let text = fs::read_to_string(format!("{folder}/{name}.f")).unwrap();
        let program = lang::check(&text, &overrides).program.unwrap();
        let model = &program.runs().next().unwrap().model;
        assert_eq!(
            [1, 2].map(|seed| hash(&model.filesets, seed)),
            expected,
            "{name}"
        );
    }
}

#[test]
fn one_seed_gives_one_tree_and_another_seed_another() {
    let spec = [fileset(5000, 20.0, 1.5)];
    assert_eq!(hash(&spec, 1), hash(&spec, 1));
    assert_ne!(hash(&spec, 1), hash(&spec, 2));
}

/// A small fileset below a place of the test.
fn small(place: &Place) -> Fileset {
    Fileset {
        path: place.dir().display().to_string(),
        size: Amount::Random(gamma(1.5, 8192.0, 512.0)),
        leafdirs: 40,
        paralloc: true,
        ..fileset(300, 10.0, 1.5)
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
                said.contains("nothing was removed") && said.contains(foreign),
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
fn twenty_thousand_files_in_memory_are_made_and_made_again_in_the_same_way() {
    let directory = Path::new("/dev/shm").join(format!("wml-tree-{}", std::process::id()));
    fs::create_dir(&directory).unwrap();
    let spec = Fileset {
        path: directory.display().to_string(),
        size: Amount::Random(gamma(1.5, 2048.0, 0.0)),
        leafdirs: 1000,
        paralloc: true,
        ..fileset(20_000, 20.0, 1.5)
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
fn data_compress_by_the_percentage_asked_for_as_a_whole_and_in_every_page() {
    for percent in [0.0, 10.0, 25.0, 50.0, 80.0, 100.0] {
        let mut data = vec![0; 1 << 18];
        fill_data(&mut data, percent, &mut Stream::new(1, &["data"]));
        let saved = |data: &[u8]| 100.0 * (1.0 - compressed(data) as f64 / data.len() as f64);
        assert!(
            (saved(&data) - percent).abs() < 2.0,
            "{percent}: {}",
            saved(&data)
        );
        for page in data.chunks(4096).step_by(16) {
            assert!(
                (saved(page) - percent).abs() < 3.0,
                "{percent}: {}",
                saved(page)
            );
        }
        let pages: HashSet<&[u8]> = data.chunks(4096).collect();
        assert_eq!(pages.len(), 64, "pages must differ");
    }
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
