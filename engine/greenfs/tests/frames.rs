//! What comes over the wire: whatever it is, nothing panics, no length is believed, and no path leads
//! out of the folder that is served.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use greenfs::net::frame::{self, HEAD_MOST_B, TAIL_MOST_B};
use greenfs::net::request::{Answer, Place, Request};
use greenfs::protocol::{Attributes, Found, Kind};
use proptest::prelude::*;

fn names() -> impl Strategy<Value = OsString> {
    let is_letter = |byte: &u8| !matches!(byte, 0 | b'/');
    let byte = any::<u8>().prop_filter("no name has it", is_letter);
    let name = prop::collection::vec(byte, 1..12).prop_map(OsString::from_vec);
    name.prop_filter("these are folders", |name| name != "." && name != "..")
}

fn places() -> impl Strategy<Value = Place> {
    let path = prop::collection::vec(names(), 0..4).prop_map(|names| names.iter().collect());
    path.prop_map(|path: PathBuf| Place::new(&path).expect("it is below"))
}

fn requests() -> impl Strategy<Value = Request> {
    (places(), places(), names(), any::<u64>(), 0..8).prop_map(
        |(from, to, target, number, what)| match what {
            0 => Request::Rename { from, to },
            1 => Request::Symlink {
                place: from,
                target,
            },
            2 => Request::Write {
                place: from,
                offset: number,
            },
            3 => Request::Dress {
                place: to,
                attributes: attributes(number),
            },
            4 => Request::List(from),
            5 => Request::SyncAll,
            6 => Request::Share {
                from,
                to,
                start: number,
                end: !number,
            },
            _ => Request::Hello {
                version: number as u32,
                claims: number % 2 == 0,
            },
        },
    )
}

fn attributes(number: u64) -> Attributes {
    Attributes {
        mode: number as u32,
        uid: 1000,
        gid: 1000,
        size: number,
        modified_ns: -(number as i64 >> 1),
    }
}

fn framed(request: &Request, tail: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::write(&mut bytes, request, tail).expect("there is room");
    bytes
}

/// A server or a client would do something else than it was asked.
#[test]
fn what_is_written_is_read() {
    let tails = prop::collection::vec(any::<u8>(), 0..100);
    proptest!(|(request in requests(), tail in tails)| {
        let bytes = framed(&request, &tail);
        let (read, rest): (Request, _) = frame::read(&mut bytes.as_slice()).expect("it is whole");
        prop_assert_eq!((read, rest), (request, tail));
        for cut in 0..bytes.len() {
            prop_assert!(frame::read::<Request>(&mut &bytes[..cut]).is_err());
        }
    });
    proptest!(|(target in names(), number in any::<u64>())| {
        let found = Found {
            kind: Kind::Symlink(target),
            attributes: attributes(number),
            inode: number,
            changed_ns: -1,
        };
        let (answer, mut bytes) = (Answer::Found(Some(found)), Vec::new());
        frame::write(&mut bytes, &answer, &[]).expect("there is room");
        prop_assert_eq!(frame::read::<Answer>(&mut bytes.as_slice()).expect("it is whole").0, answer);
    });
}

/// One client would end the server of all.
#[test]
fn whatever_arrives_is_refused_or_understood() {
    proptest!(|(bytes in prop::collection::vec(any::<u8>(), 0..200))| {
        let _ = frame::read::<Request>(&mut bytes.as_slice());
        let _ = frame::read::<Answer>(&mut bytes.as_slice());
    });
    let flips = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4);
    proptest!(|(request in requests(), flips in flips)| {
        let mut bytes = framed(&request, b"tail");
        for (at, byte) in flips {
            *at.get_mut(&mut bytes) = byte;
        }
        if let Ok((read, _)) = frame::read::<Request>(&mut bytes.as_slice()) {
            // It can be written again: nothing in it is longer than it may be.
            framed(&read, &[]);
        }
    });
}

/// A few bytes would take all memory.
#[test]
fn frames_that_say_they_are_large_are_refused() {
    for (head_b, tail_b) in [(u32::MAX, 0), (2, u32::MAX), (HEAD_MOST_B as u32 + 1, 0)] {
        let mut bytes = [head_b, tail_b].map(u32::to_be_bytes).concat();
        bytes.extend_from_slice(b"{}");
        assert!(frame::read::<Request>(&mut bytes.as_slice()).is_err());
    }
    let tail = vec![0; TAIL_MOST_B + 1];
    assert!(frame::write(&mut Vec::new(), &Request::SyncAll, &tail).is_err());
}

/// A client would get at everything on the server's disk.
#[test]
fn a_path_that_leads_out_is_no_request() {
    for path in [
        "../etc/passwd",
        "/etc/passwd",
        "a/../../b",
        "..",
        "a/%00",
        "%2e%2e/b",
    ] {
        let text = format!("{{\"remove_file\":\"{path}\"}}");
        let mut bytes = [text.len() as u32, 0].map(u32::to_be_bytes).concat();
        bytes.extend_from_slice(text.as_bytes());
        assert!(
            frame::read::<Request>(&mut bytes.as_slice()).is_err(),
            "{path}"
        );
        assert!(path.contains('%') || Place::new(Path::new(path)).is_none());
    }
}
