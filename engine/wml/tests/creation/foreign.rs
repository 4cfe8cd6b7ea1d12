//! What is in the place of a tree and is not ours.

use super::*;

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
