//! What programs do to files, on a flash and on a plain tree alike.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use greenfs::branch::past::Past;
use greenfs::branch::store::Store;
use greenfs::branch::walk::walk;
use greenfs::protocol::{Kind, NodeId, ROOT};
use greenfs::volume::{Flash, New};
use proptest::prelude::*;

#[derive(Clone, Debug)]
pub enum Operation {
    Create(PathBuf, bool),
    Folder(PathBuf, bool),
    Symlink(PathBuf, u8),
    Link(PathBuf, PathBuf),
    Unlink(PathBuf),
    RemoveFolder(PathBuf),
    Rename(PathBuf, PathBuf),
    Write(PathBuf, u64, Vec<u8>),
    Truncate(PathBuf, u64),
    Dress(PathBuf, bool, u32),
}

use Operation::*;

impl Operation {
    /// The same with files that are so many times as large.
    pub fn enlarged(self, times: usize) -> Self {
        match self {
            Write(path, at, data) => Write(path, at * times as u64, data.repeat(times)),
            Truncate(path, size) => Truncate(path, size * times as u64),
            operation => operation,
        }
    }
}

/// Paths in a tree so small that operations meet each other.
pub fn paths() -> impl Strategy<Value = PathBuf> {
    let name = prop_oneof![Just("a"), Just("b"), Just("c")];
    prop::collection::vec(name, 1..4).prop_map(|names| names.into_iter().collect())
}

pub fn operations() -> impl Strategy<Value = Operation> {
    let data = prop::collection::vec(any::<u8>(), 1..12);
    prop_oneof![
        4 => (paths(), any::<bool>()).prop_map(|(path, own)| Create(path, own)),
        4 => (paths(), any::<bool>()).prop_map(|(path, own)| Folder(path, own)),
        1 => (paths(), any::<u8>()).prop_map(|(path, target)| Symlink(path, target)),
        2 => (paths(), paths()).prop_map(|(from, to)| Link(from, to)),
        3 => paths().prop_map(Unlink),
        2 => paths().prop_map(RemoveFolder),
        6 => (paths(), paths()).prop_map(|(from, to)| Rename(from, to)),
        4 => (paths(), 0..20_u64, data).prop_map(|(path, at, data)| Write(path, at, data)),
        1 => (paths(), 0..20_u64).prop_map(|(path, size)| Truncate(path, size)),
        1 => (paths(), any::<bool>(), 0..4_u32).prop_map(|(path, own, at)| Dress(path, own, at)),
    ]
}

fn mode(is_own: bool, kind: &Kind) -> u32 {
    match (is_own, kind) {
        (true, Kind::Folder) => 0o700,
        (false, Kind::Folder) => 0o755,
        (true, _) => 0o600,
        (false, _) => 0o644,
    }
}

fn plain(mode: u32) -> New {
    New { mode, owner: None }
}

fn missing() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOENT)
}

impl Operation {
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            Create(path, _) | Folder(path, _) | Symlink(path, _) | Unlink(path) => vec![path],
            RemoveFolder(path) | Write(path, ..) | Truncate(path, _) | Dress(path, ..) => {
                vec![path]
            }
            Link(from, to) | Rename(from, to) => vec![from, to],
        }
    }

    pub fn on_tree(&self, tree: &mut impl Store) -> io::Result<()> {
        match self {
            Create(path, own) => tree.create(path, mode(*own, &Kind::File)),
            Folder(path, own) => tree.make_folder(path, mode(*own, &Kind::Folder)),
            Symlink(path, target) => tree.symlink(path, OsStr::new(&target.to_string())),
            Link(from, to) => tree.link(from, to),
            Unlink(path) => tree.remove_file(path),
            RemoveFolder(path) => tree.remove_folder(path),
            Rename(from, to) => tree.rename(from, to),
            Write(path, offset, data) => tree.write(path, *offset, data),
            Truncate(path, size) => tree.truncate(path, *size),
            Dress(path, own, at) => {
                let found = tree.look(path)?.ok_or_else(missing)?;
                let mut attributes = found.attributes;
                attributes.mode = mode(*own, &found.kind);
                attributes.modified_ns = i64::from(*at) * 1_000_000_007;
                tree.dress(path, &attributes)
            }
        }
    }

    pub fn on_flash<S: Store>(&self, flash: &mut Flash<S>) -> io::Result<()> {
        match self {
            Create(path, own) => {
                let (parent, name) = place(flash, path)?;
                flash
                    .create(parent, name, plain(mode(*own, &Kind::File)))
                    .map(drop)
            }
            Folder(path, own) => {
                let (parent, name) = place(flash, path)?;
                flash
                    .make_folder(parent, name, plain(mode(*own, &Kind::Folder)))
                    .map(drop)
            }
            Symlink(path, target) => {
                let (parent, name) = place(flash, path)?;
                flash
                    .symlink(parent, name, OsStr::new(&target.to_string()), plain(0o777))
                    .map(drop)
            }
            Link(from, to) => {
                let id = node(flash, from)?;
                let (parent, name) = place(flash, to)?;
                flash.link(id, parent, name)
            }
            Unlink(path) => {
                let (parent, name) = place(flash, path)?;
                flash.unlink(parent, name)
            }
            RemoveFolder(path) => {
                let (parent, name) = place(flash, path)?;
                flash.remove_folder(parent, name)
            }
            Rename(from, to) => {
                let (from, to) = (place(flash, from)?, place(flash, to)?);
                flash.rename(from, to)
            }
            Write(path, offset, data) => flash.write(node(flash, path)?, *offset, data),
            Truncate(path, size) => flash.truncate(node(flash, path)?, *size),
            Dress(path, own, at) => {
                let id = node(flash, path)?;
                let node = flash.state().catalogue.get(id).ok_or_else(missing)?;
                let mut attributes = node.attributes;
                attributes.mode = mode(*own, &node.kind);
                attributes.modified_ns = i64::from(*at) * 1_000_000_007;
                flash.dress(id, &attributes)
            }
        }
    }
}

pub fn node<S: Store>(flash: &Flash<S>, path: &Path) -> io::Result<NodeId> {
    path.iter()
        .try_fold(ROOT, |at, name| flash.lookup(at, name).ok_or_else(missing))
}

fn place<'a, S: Store>(flash: &Flash<S>, path: &'a Path) -> io::Result<(NodeId, &'a OsStr)> {
    let parent = node(flash, path.parent().unwrap_or(Path::new("")))?;
    Ok((parent, path.file_name().ok_or_else(missing)?))
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub kind: Kind,
    pub mode: u32,
    pub data: Vec<u8>,
    /// The first of the names of the same file.
    pub first: PathBuf,
    /// Where times are compared.
    pub modified_ns: i64,
}

pub type Shape = BTreeMap<PathBuf, Seen>;

/// Everything in a tree but our own folder.
pub fn shape(tree: &impl Store, with_times: bool) -> Shape {
    let mut sights = walk(tree).expect("it can be read");
    sights.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut first: BTreeMap<u64, PathBuf> = BTreeMap::new();
    let seen = |(path, found): (PathBuf, greenfs::protocol::Found)| {
        let is_file = found.kind == Kind::File;
        let data = match is_file {
            true => tree.read(&path, 0, 1 << 20).expect("it can be read"),
            false => Vec::new(),
        };
        let seen = Seen {
            mode: found.attributes.mode,
            data,
            first: first
                .entry(found.inode)
                .or_insert_with(|| path.clone())
                .clone(),
            modified_ns: if with_times {
                found.attributes.modified_ns
            } else {
                0
            },
            kind: found.kind,
        };
        (path, seen)
    };
    sights.into_iter().map(seen).collect()
}

/// Everything that a tree held at a time, without attributes: these are the last ones.
pub fn shape_then(then: &Past<impl Store>) -> BTreeMap<PathBuf, (Kind, Vec<u8>)> {
    let mut shape = BTreeMap::new();
    let mut folders = vec![then.root().expect("it can be read")];
    while let Some(folder) = folders.pop() {
        for (_, spot) in then.children(&folder).expect("it can be read") {
            let data = match spot.kind {
                Kind::File => then.branch.read(&spot.at, 0, 1 << 20),
                _ => Ok(Vec::new()),
            };
            let data = data.expect("it can be read");
            shape.insert(spot.path.clone(), (spot.kind.clone(), data));
            if spot.kind == Kind::Folder {
                folders.push(spot);
            }
        }
    }
    shape
}
