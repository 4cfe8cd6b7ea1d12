//! Memory of large filesets; alone in its process, so that nothing else is measured.

use std::fs;

use wml::fileset::{Files, Pick};
use wml::model::Fileset;
use wml::random::Amount;

/// Bytes of this process that are in memory.
fn resident_b() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn a_file_takes_less_than_64_bytes_in_wide_and_in_narrow_directories() {
    const ENTRIES: usize = 1_000_000;
    for (dirwidth, dirgamma) in [(1e7, 0.0), (20.0, 1.5), (2.0, 0.0), (2.0, 1.5)] {
        let before = resident_b();
        let fileset = Fileset {
            name: "files".into(),
            path: "/x".into(),
            entries: ENTRIES as u64,
            dirwidth: Amount::Fixed(dirwidth),
            dirgamma,
            prealloc_percent: 50.0,
            ..Fileset::default()
        };
        let files = Files::new(fileset, 1).unwrap();
        // Every state is written to.
        while let Some(claim) = files.claim_absent(Pick::Rotor) {
            files.settle_existing(claim, 0);
        }
        assert_eq!(files.existing(), ENTRIES as u64);
        let per_file = (resident_b() - before) as f64 / ENTRIES as f64;
        assert!(per_file < 64.0, "dirwidth {dirwidth}: {per_file} bytes");
    }
}
