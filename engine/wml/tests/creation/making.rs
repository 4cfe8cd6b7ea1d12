//! A tree that is made anew, and what verification sees of it.

use super::*;

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
