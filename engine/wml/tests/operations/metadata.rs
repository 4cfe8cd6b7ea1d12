//! What the flowops that move no data do to names, directories and attributes.

use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use super::common::{Place, errors, flowop, ops};
use super::{FULL, HALF, below, bytes, count, files, run, skipped, text};

#[test]
fn leaf_directories_are_made_and_removed_until_none_is_left() {
    let place = Place::new("leafdirs");
    let leaves = "leafdirs=20";
    let directories = |place: &Place| below(&place.dir(), Metadata::is_dir).len();
    let made = "set mode quit alldone\n".to_owned()
        + &text(leaves, "flowop makedir name=make, filesetname=files");
    place.report("prepare", &made, &[]);
    let before = directories(&place);
    let first = run(&place, &made);
    assert_eq!((ops(&first, "make"), skipped(&first, "make")), (20, 1));
    assert_eq!(directories(&place), before + 20);

    let place = Place::new("leafdirs-remove");
    let removed = "set mode quit firstdone\n".to_owned()
        + &text(
            "leafdirs=20, prealloc",
            "flowop removedir name=remove, filesetname=files",
        );
    let second = run(&place, &removed);
    assert_eq!(
        (ops(&second, "remove"), skipped(&second, "remove")),
        (20, 1)
    );
    assert_eq!(directories(&place), before);
}

#[test]
fn listing_reads_every_entry_of_a_directory_with_or_without_a_look_at_each() {
    let place = Place::new("listing");
    let body = format!(
        "flowop listdir name=list, filesetname=files
         flowop liststatdir name=look, filesetname=files
         flowop fsyncdir name=sync, filesetname=files {}",
        count(300)
    );
    let run = run(&place, &text("entries=50, size=1, prealloc", &body));
    for name in ["list", "look", "sync"] {
        assert_eq!(ops(&run, name), 100);
    }
    // A record has 19 bytes and the name; ".", ".." and something with eight digits are in each.
    for name in ["list", "look"] {
        assert!(bytes(&run, name) >= 100 * (2 * 24 + 28), "{name}");
    }
    assert_eq!(bytes(&run, "sync"), 0);
}

#[test]
fn renaming_keeps_the_number_of_files() {
    let place = Place::new("rename");
    let body = format!(
        "flowop renamefile name=rename, filesetname=files {}",
        count(200)
    );
    let text = text(HALF, &body);
    place.report("prepare", &text, &[]);
    let before = files(&place);
    let run = run(&place, &text);
    assert_eq!(ops(&run, "rename"), 200);
    assert_eq!(files(&place).len(), before.len());
    assert_ne!(files(&place), before);
}

#[test]
fn links_are_made_under_every_absent_name_and_then_nothing_is_left() {
    for operation in ["linkfile", "symlinkfile"] {
        let place = Place::new(operation);
        let body = format!("flowop {operation} name=link, filesetname=files");
        let text = "set mode quit firstdone\n".to_owned() + &text(HALF, &body);
        place.report("prepare", &text, &[]);
        let before = files(&place).len() as u64;
        let run = run(&place, &text);
        assert_eq!(ops(&run, "link"), 40 - before);
        let links = if operation == "linkfile" {
            let linked = |path: &PathBuf| fs::metadata(path).unwrap().nlink() > 1;
            assert!(files(&place).iter().any(linked));
            files(&place).len() as u64 - before
        } else {
            let links = below(&place.dir(), Metadata::is_symlink);
            assert!(
                links
                    .iter()
                    .all(|link| fs::metadata(link).unwrap().is_file())
            );
            links.len() as u64
        };
        assert_eq!(links, 40 - before);
    }
}

#[test]
fn truncating_gives_every_file_its_length_by_path_and_by_slot() {
    let place = Place::new("truncate");
    let body = format!(
        "flowop truncatefile name=path, filesetname=files, iosize=100
         flowop openfile name=open, filesetname=files, fd=1
         flowop truncatefile name=slot, fd=1, iosize=100
         flowop closefile name=close, fd=1 {}",
        count(40)
    );
    let run = run(&place, &text(FULL, &body));
    assert_eq!((ops(&run, "path"), ops(&run, "slot")), (10, 10));
    let length = |path: &PathBuf| fs::metadata(path).unwrap().len();
    let lengths: Vec<u64> = files(&place).iter().map(length).collect();
    assert_eq!(lengths, [100; 10]);
}

#[test]
fn allocation_grows_a_file_behind_its_end() {
    let place = Place::new("fallocate");
    let body = format!(
        "flowop fallocate name=allocate, filesetname=files, fd=1, iosize=4k {}",
        count(5)
    );
    let run = run(&place, &text("entries=1, size=10000, prealloc", &body));
    assert_eq!(ops(&run, "allocate"), 5);
    assert_eq!(
        fs::metadata(&files(&place)[0]).unwrap().len(),
        10_000 + 5 * 4096
    );
}

#[test]
fn modes_change_between_two() {
    let place = Place::new("chmod");
    let body = format!(
        "flowop chmodfile name=chmod, filesetname=files {}",
        count(40)
    );
    run(&place, &text(FULL, &body));
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let mut modes: Vec<u32> = files(&place).iter().map(mode).collect();
    modes.sort_unstable();
    modes.dedup();
    assert_eq!(modes, [0o600, 0o644]);
}

#[test]
fn attributes_are_set_and_found_again_by_path_and_by_slot() {
    let place = Place::new("xattr");
    let body = format!(
        "flowop setxattr name=set, filesetname=files, iosize=32
         flowop getxattr name=get, filesetname=files, iosize=64, indexed=0
         flowop openfile name=open, filesetname=files, fd=1
         flowop setxattr name=setslot, fd=1
         flowop getxattr name=getslot, fd=1
         flowop closefile name=close, fd=1 {}",
        count(60)
    );
    let run = place.run(&text(FULL, &body), &[]);
    if !flowop(&run, "set")["errors"]["EOPNOTSUPP"].is_null() {
        eprintln!(
            "skipped: {} keeps no user attributes; set CARGO_TARGET_DIR to ext4 or xfs",
            place.dir().display()
        );
        return;
    }
    assert_eq!(errors(&run), 0, "{run}");
    assert_eq!((ops(&run, "set"), ops(&run, "getslot")), (10, 10));
}

#[test]
fn a_slot_means_its_last_file_for_deletefile_and_srcfd_when_it_is_closed() {
    let place = Place::new("closed-slot");
    let body = "
        flowop createfile name=create, filesetname=files, fd=1
        flowop writewholefile name=source, fd=1, iosize=4k
        flowop closefile name=close, fd=1
        flowop createfile name=copy, filesetname=files, fd=2
        flowop writewholefile name=target, fd=2, srcfd=1, iosize=4k
        flowop closefile name=closecopy, fd=2
        flowop deletefile name=delete, fd=1
        flowop finishoncount name=end, value=10, target=delete";
    let text = text("entries=40, size=8k", body);
    let run = run(&place, &text);
    assert_eq!((ops(&run, "delete"), skipped(&run, "delete")), (10, 0));
    assert_eq!(bytes(&run, "target"), 10 * 8192);
    let lengths = files(&place)
        .into_iter()
        .map(|file| file.metadata().unwrap().len());
    assert_eq!(lengths.collect::<Vec<_>>(), [8192; 10]);
}

#[test]
fn a_read_with_opennext_takes_the_next_slot_and_file_each_time() {
    let place = Place::new("opennext-read");
    let body = "
        flowop read name=read, filesetname=files, iosize=1k, opennext
        flowop finishoncount name=end, value=1280, target=read";
    let run = run(&place, &text(FULL, body));
    // 128 slots of which each reads on in its file of eight blocks, and meets its end once.
    assert_eq!(ops(&run, "read"), 1280);
    assert_eq!(bytes(&run, "read"), (1280 - 128) * 1024);
}

#[test]
fn opennext_goes_round_the_slots_and_closes_what_is_there() {
    let place = Place::new("opennext");
    let body = format!(
        "flowop openfile name=open, filesetname=files, opennext
         flowop read name=read, opennext, iosize=8k
         flowop statfile name=stat, opennext {}",
        count(900)
    );
    let run = run(&place, &text("entries=200, size=8k, prealloc", &body));
    assert_eq!((ops(&run, "open"), ops(&run, "stat")), (300, 300));
    // Each read begins a file that was just opened.
    assert_eq!(bytes(&run, "read"), 300 * 8192);
}

#[test]
fn threads_never_meet_a_file_that_another_has_taken_away() {
    let place = Place::new("population");
    let text = format!(
        "define fileset name=files, path=$dir, entries=60, leafdirs=20, size=4k, dirwidth=5,
           prealloc=50
         define process name=p, instances=2 {{ thread name=t, instances=4 {{
           flowop createfile name=create, filesetname=files, fd=1
           flowop writewholefile name=write, fd=1
           flowop closefile name=closenew, fd=1
           flowop openfile name=open, filesetname=files, fd=2, select=uniform
           flowop deletefile name=deleteopen, fd=2
           flowop read name=read, fd=2, iosize=4k
           flowop closefile name=closeold, fd=2
           flowop statfile name=stat, filesetname=files, select=zipf
           flowop renamefile name=rename, filesetname=files
           flowop linkfile name=link, filesetname=files
           flowop truncatefile name=truncate, filesetname=files, iosize=2k
           flowop deletefile name=delete, filesetname=files, select=uniform
           flowop makedir name=make, filesetname=files
           flowop liststatdir name=list, filesetname=files, select=uniform
           flowop removedir name=remove, filesetname=files, select=uniform {} }} }}
         run 60\n",
        count(3000)
    );
    let run = run(&place, &text);
    for name in ["deleteopen", "rename", "link", "delete", "make", "remove"] {
        assert!(ops(&run, name) > 0, "{name}: {run}");
    }
}
