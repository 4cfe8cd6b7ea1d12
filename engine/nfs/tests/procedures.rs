//! What the server answers, procedure by procedure.

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use common::{Asking, Folder, message};
use nfs::protocol::nfs3::{MOUNT, NFS, Status, access, mount, procedure};
use nfs::protocol::rpc::Outcome;
use nfs::protocol::xdr::{Reader, Write};

const ATTRIBUTES_B: usize = 84;

fn one(handle: &[u8]) -> Vec<u8> {
    let mut arguments = Vec::new();
    arguments.opaque(handle);
    arguments
}

fn outcome(reply: &[u8]) -> Option<u32> {
    let mut reader = Reader::new(reply);
    let _xid_to_verifier: [u8; 20] = reader.fixed()?;
    reader.word()
}

#[test]
fn a_program_or_procedure_that_is_not_there_is_named_as_such() {
    let asking = Asking::of(&Folder::new());
    let outcome_of = |program, number| outcome(&asking.reply(&message(program, number, &[])));
    assert_eq!(
        outcome_of((100_021, 4), 0),
        Some(Outcome::NoProgram as u32),
        "the lock manager"
    );
    assert_eq!(outcome_of((NFS.0, 4), 0), Some(Outcome::NoVersion as u32));
    assert_eq!(outcome_of(NFS, 22), Some(Outcome::NoProcedure as u32));
    assert_eq!(outcome_of(MOUNT, 6), Some(Outcome::NoProcedure as u32));
    assert_eq!(
        outcome_of(NFS, procedure::NULL),
        Some(Outcome::Success as u32)
    );
    assert_eq!(
        outcome_of(NFS, procedure::READ),
        Some(Outcome::GarbageArguments as u32)
    );
}

#[test]
fn another_version_of_rpc_is_denied() {
    let asking = Asking::of(&Folder::new());
    let mut call = message(NFS, procedure::NULL, &[]);
    call[11] = 3;
    let words: Vec<u8> = [common::XID, 1, 1, 0, 2, 2].map(u32::to_be_bytes).concat();
    assert_eq!(asking.reply(&call), words);
}

#[test]
fn all_that_would_change_something_is_refused() {
    let asking = Asking::of(&Folder::new());
    let changes = [2, 7, 8, 9, 10, 11, 12, 13, 14, 15, 21];
    for number in changes {
        let (status, rest) = asking.done(NFS, number, &one(&asking.root));
        assert_eq!(status, Status::ReadOnly as u32, "procedure {number}");
        // RFC 1813: wcc_data is two words without attributes, of LINK three with the file's, of
        // RENAME four for two folders.
        let words = match number {
            procedure::LINK => 3,
            procedure::RENAME => 4,
            _ => 2,
        };
        assert_eq!(rest, vec![0; 4 * words], "procedure {number}");
    }
}

#[test]
fn what_is_outside_the_folder_cannot_be_reached() {
    let folder = Folder::new();
    fs::create_dir(folder.0.join("sub")).expect("a folder");
    symlink("/etc", folder.0.join("out")).expect("a link");
    let asking = Asking::of(&folder);
    assert_eq!(asking.look_up(&asking.root, b"..").1, asking.root);
    assert_eq!(
        asking.look_up(&asking.root, b"../etc").0,
        Status::NoAccess as u32
    );
    assert_eq!(asking.look_up(&asking.root, b"").0, Status::NoAccess as u32);
    let (status, link) = asking.look_up(&asking.root, b"out");
    assert_eq!(status, Status::Ok as u32, "the link itself is there");
    assert_eq!(
        asking.look_up(&link, b"passwd").0,
        Status::NotDirectory as u32
    );
    let (_, text) = asking.done(NFS, procedure::READLINK, &one(&link));
    assert_eq!(
        Reader::new(&text[4 + ATTRIBUTES_B..]).opaque(99),
        Some(&b"/etc"[..])
    );
    let mut path = Vec::new();
    path.opaque(b"/out");
    assert_eq!(
        asking.done(MOUNT, mount::MNT, &path).0,
        Status::NotDirectory as u32
    );
    path.clear();
    path.opaque(b"/sub");
    assert_eq!(asking.done(MOUNT, mount::MNT, &path).0, Status::Ok as u32);
}

#[test]
fn a_folder_that_becomes_a_link_leads_nowhere() {
    let (folder, outside) = (Folder::new(), Folder::new());
    outside.file("secret", 10);
    fs::create_dir(folder.0.join("sub")).expect("a folder");
    folder.file("sub/secret", 10);
    let asking = Asking::of(&folder);
    let (_, sub) = asking.look_up(&asking.root, b"sub");
    let (_, file) = asking.look_up(&sub, b"secret");
    fs::rename(folder.0.join("sub"), folder.0.join("away")).expect("it can be moved");
    symlink(&outside.0, folder.0.join("sub")).expect("a link");
    for handle in [&sub, &file] {
        let (status, _) = asking.done(NFS, procedure::GETATTR, &one(handle));
        assert_eq!(status, Status::Stale as u32);
    }
}

#[test]
fn a_handle_of_another_server_or_a_file_that_went_is_stale() {
    let folder = Folder::new();
    folder.file("file", 10);
    let before = Asking::of(&folder);
    let asking = Asking::of(&folder);
    let status = |handle: &[u8]| asking.done(NFS, procedure::GETATTR, &one(handle)).0;
    assert_eq!(status(&before.root), Status::Stale as u32);
    assert_eq!(status(b"no handle"), Status::BadHandle as u32);
    let (_, file) = asking.look_up(&asking.root, b"file");
    assert_eq!(status(&file), Status::Ok as u32);
    fs::remove_file(folder.0.join("file")).expect("it is there");
    assert_eq!(status(&file), Status::Stale as u32);
}

#[test]
fn only_files_are_read() {
    let folder = Folder::new();
    let name = std::ffi::CString::new(folder.0.join("pipe").to_str().expect("text")).expect("text");
    // SAFETY: the path is a valid string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let asking = Asking::of(&folder);
    let (_, pipe) = asking.look_up(&asking.root, b"pipe");
    let read = |handle: &[u8]| {
        let mut arguments = one(handle);
        arguments.hyper(0);
        arguments.word(10);
        asking.done(NFS, procedure::READ, &arguments).0
    };
    assert_eq!(
        read(&pipe),
        Status::Invalid as u32,
        "nobody waits for a writer"
    );
    assert_eq!(read(&asking.root), Status::IsDirectory as u32);
}

#[test]
fn the_end_of_a_file_is_told_and_beyond_it_nothing_is_read() {
    let folder = Folder::new();
    let bytes = folder.file("file", 1001);
    let asking = Asking::of(&folder);
    let (_, file) = asking.look_up(&asking.root, b"file");
    let read = |offset_b: u64, count_b: u32| {
        let mut arguments = one(&file);
        arguments.hyper(offset_b);
        arguments.word(count_b);
        let (status, rest) = asking.done(NFS, procedure::READ, &arguments);
        assert_eq!(status, Status::Ok as u32, "at {offset_b}");
        let mut reader = Reader::new(&rest[4 + ATTRIBUTES_B..]);
        let (count_b, is_end) = (
            reader.word().expect("a count"),
            reader.word().expect("a flag"),
        );
        let data = reader.opaque(1 << 20).expect("data").to_vec();
        assert_eq!(data.len(), count_b as usize);
        assert!(reader.rest().is_empty());
        (data, is_end)
    };
    assert_eq!(read(0, 1000), (bytes[..1000].to_vec(), 0));
    assert_eq!(read(0, 1001), (bytes.clone(), 1));
    assert_eq!(read(1000, 4096), (bytes[1000..].to_vec(), 1));
    assert_eq!(read(1001, 4096), (vec![], 1));
    assert_eq!(read(u64::MAX, u32::MAX), (vec![], 1));
    assert_eq!(read(5, 0), (vec![], 0));
}

#[test]
fn access_is_granted_to_read_and_no_more() {
    let folder = Folder::new();
    folder.file("file", 1);
    let asking = Asking::of(&folder);
    let granted = |handle: &[u8]| {
        let mut arguments = one(handle);
        arguments.word(u32::MAX);
        let (_, rest) = asking.done(NFS, procedure::ACCESS, &arguments);
        Reader::new(&rest[4 + ATTRIBUTES_B..]).word()
    };
    let (_, file) = asking.look_up(&asking.root, b"file");
    assert_eq!(granted(&file), Some(access::READ));
    fs::set_permissions(folder.0.join("file"), fs::Permissions::from_mode(0o755)).expect("ours");
    assert_eq!(granted(&file), Some(access::READ | access::EXECUTE));
    assert_eq!(granted(&asking.root), Some(access::READ | access::LOOKUP));
}

/// All names of a folder, read in pages of so many bytes, and the number of pages.
fn names(asking: &Asking, count_b: u32, with_files: bool) -> (Vec<Vec<u8>>, usize) {
    let (mut names, mut pages) = (Vec::new(), 0);
    let (mut cookie, mut verifier) = (0, 0);
    loop {
        let mut arguments = one(&asking.root);
        arguments.hyper(cookie);
        arguments.hyper(verifier);
        if with_files {
            arguments.word(count_b);
        }
        arguments.word(count_b);
        let number = if with_files {
            procedure::READDIRPLUS
        } else {
            procedure::READDIR
        };
        let (status, rest) = asking.done(NFS, number, &arguments);
        assert_eq!(status, Status::Ok as u32);
        assert!(rest.len() <= count_b as usize);
        pages += 1;
        let mut reader = Reader::new(&rest[4 + ATTRIBUTES_B..]);
        verifier = reader.hyper().expect("a verifier");
        while reader.word() == Some(1) {
            let _inode = reader.hyper();
            names.push(reader.opaque(255).expect("a name").to_vec());
            cookie = reader.hyper().expect("a cookie");
            if with_files {
                assert_eq!(reader.word(), Some(1), "attributes");
                let _: Option<[u8; ATTRIBUTES_B]> = reader.fixed();
                assert_eq!(reader.word(), Some(1), "a handle");
                assert_eq!(reader.opaque(64).map(<[u8]>::len), Some(24));
            }
        }
        if reader.word() == Some(1) {
            return (names, pages);
        }
    }
}

#[test]
fn a_folder_is_listed_in_pages() {
    let folder = Folder::new();
    let mut expected: Vec<_> = (0..300)
        .map(|nth| format!("file {nth:03}").into_bytes())
        .collect();
    for name in &expected {
        folder.file(std::str::from_utf8(name).expect("text"), 1);
    }
    expected.splice(..0, [b".".to_vec(), b"..".to_vec()]);
    let asking = Asking::of(&folder);
    for with_files in [false, true] {
        let (found, pages) = names(&asking, 1024, with_files);
        assert_eq!(found, expected);
        assert!(pages > 1);
    }
    assert_eq!(names(&asking, 1 << 20, true).1, 1);
}

#[test]
fn a_folder_that_changed_is_not_listed_on() {
    let folder = Folder::new();
    folder.file("file", 1);
    let asking = Asking::of(&folder);
    let listing = |cookie: u64, verifier: u64, count_b: u32| {
        let mut arguments = one(&asking.root);
        arguments.hyper(cookie);
        arguments.hyper(verifier);
        arguments.word(count_b);
        asking.done(NFS, procedure::READDIR, &arguments).0
    };
    assert_eq!(listing(2, 12345, 1024), Status::BadCookie as u32);
    assert_eq!(listing(0, 0, 100), Status::TooSmall as u32);
}
