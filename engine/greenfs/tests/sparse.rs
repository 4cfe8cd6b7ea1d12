//! Copies of files whose blocks are all zeros in part, such as images of disks.

mod common;

use std::fs::{self, File, Metadata};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use common::Home;
use common::serving::Server;
use greenfs::branch::folder::Folder;
use greenfs::branch::store::Store;
use proptest::collection::vec;
use proptest::prelude::*;

const BLOCK_B: usize = 4096;
const LARGE_B: u64 = 64 << 20;

/// Bytes that are zeros or not, for some blocks and parts of blocks each.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    vec((1..3 * BLOCK_B, any::<bool>()), 1..4).prop_map(|parts| {
        let bytes = |(length, is_zero): (usize, bool)| vec![u8::from(!is_zero); length];
        parts.into_iter().flat_map(bytes).collect()
    })
}

proptest! {
    /// Data below zeros would come back, or a copy end too early.
    #[test]
    fn a_copy_reads_as_what_was_written(writes in vec((0..12 * BLOCK_B as u64, piece()), 1..8)) {
        let home = Home::without_mount("sparse-copy");
        let mut store = Folder::open(&home.at("flash")).expect("it is there");
        let (ours, theirs) = (Path::new("ours"), Path::new("theirs"));
        for file in [ours, theirs] {
            store.create(file, 0o600).expect("it is new");
        }
        for (offset, data) in writes {
            store.write_copy(ours, offset, &data).expect("there is room");
            store.write(theirs, offset, &data).expect("there is room");
        }
        let [ours, theirs] = [ours, theirs].map(|file| fs::read(home.at("flash").join(file)));
        prop_assert!(ours.expect("it is there") == theirs.expect("it is there"));
    }
}

/// Zeros that a client has written to no place could pass for a hole, and others for the begin of the file.
#[test]
fn a_place_that_no_file_has_is_refused() {
    let home = Home::without_mount("sparse-place");
    let mut store = Folder::open(&home.at("flash")).expect("it is there");
    let file = Path::new("file");
    store.create(file, 0o600).expect("it is new");
    let (zeros, mixed) = (vec![0; 2 * BLOCK_B], [vec![0; BLOCK_B], vec![1]].concat());
    for offset in [u64::MAX - BLOCK_B as u64 + 1, i64::MAX as u64 - 1] {
        for data in [&zeros, &mixed] {
            assert!(store.write_copy(file, offset, data).is_err(), "{offset}");
        }
    }
    let read = fs::read(home.at("flash/file")).expect("it is there");
    assert!(read.is_empty(), "{}", read.len());
}

/// All files of a folder and of those in it.
fn files(folder: &Path) -> Vec<Metadata> {
    let entries = fs::read_dir(folder).expect("it is there");
    let of_each = entries.flat_map(|entry| {
        let entry = entry.expect("it can be read");
        let found = entry.metadata().expect("it is there");
        if found.is_dir() {
            files(&entry.path())
        } else {
            vec![found]
        }
    });
    of_each.collect()
}

/// The image of a disk would take all of its size on each branch, and once more for each version.
#[test]
fn what_is_zeros_takes_no_room_on_branches_and_in_versions() {
    for is_served in [false, true] {
        let Some(mut home) = Home::new(&format!("sparse-image-{is_served}")) else {
            return;
        };
        let server = is_served.then(|| Server::new(&home, &[]));
        let remote = server.as_ref().map_or("remote".into(), Server::url);
        home.mount(&["--remote", &remote, "--disk", "disk"]);
        home.wait_for(": connected; holds all");
        let image = File::create(home.mnt("image")).expect("it is writable");
        image.set_len(LARGE_B).expect("it is writable");
        for turn in 0..3 {
            let written = image.write_all_at(&[1], LARGE_B / 2 + turn * LARGE_B / 16);
            written
                .and_then(|()| image.sync_all())
                .expect("it is writable");
        }
        drop(image);
        home.umount();
        for (branch, at_least) in [("remote", 3), ("disk", 1)] {
            home.same_trees("flash", branch);
            let found = files(&home.at(branch));
            let images = found.iter().filter(|found| found.len() == LARGE_B).count();
            assert!(images >= at_least, "{branch}: {images} of the image");
            let room_b: u64 = found.iter().map(|found| found.blocks() * 512).sum();
            assert!(room_b <= LARGE_B / 16, "{branch}: {room_b}");
        }
    }
}
