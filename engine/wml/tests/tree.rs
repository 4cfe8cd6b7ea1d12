//! Trees against theory and on the disk.

mod common;

use std::collections::{BTreeMap, HashSet};
use std::fs;

use proptest::prelude::*;
use wml::fileset::{Content, Directory, Layout};
use wml::lang;
use wml::model::Fileset;
use wml::random::{Amount, Distribution, Segment, Shape};

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
fn whole(layout: &Layout) -> impl Iterator<Item = &Directory> {
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
