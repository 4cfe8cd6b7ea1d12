//! A tree that is there already.

use super::*;

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
