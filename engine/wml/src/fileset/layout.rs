//! Which directories, files and leaf directories a fileset has, and how large the files are.
//!
//! Directories are generated depth first. Each draws a depth and a width (gamma with the fileset's
//! shape, or fixed); at or below its depth it is a leaf and holds files, above it holds
//! directories. The root only ever holds directories, and gets more until there are enough files.
//! Then the same is done for the leaf directories, which stay empty. The mean depth is
//! ln(entries + leafdirs) / ln(dirwidth). Names are numbers from 1, of eight digits.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use super::generator::{Generator, Tree};
use super::name::{self, Name};
use super::nodes::{Content, Directory, Entry, Leafdir};
use crate::failure::Failure;
use crate::model::{Fileset, MAX_ENTRIES};
use crate::random::Stream;

/// Bytes of a name with its slash.
const STEP_B: usize = size_of::<Name>() + 1;

/// A tree of files on paper.
pub struct Layout {
    root: String,
    /// Parents before children; the first is the root of the tree.
    pub directories: Vec<Directory>,
    /// Those of one directory follow each other.
    pub entries: Vec<Entry>,
    pub leafdirs: Vec<Leafdir>,
}

pub fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device())
}

impl Layout {
    /// The layout of a fileset; the same for the same seed. Fails if there are too many entries
    /// for their names, directories too deep for a path, or a device in the place of many files.
    pub fn new(fileset: &Fileset, seed: u64) -> Result<Self, Failure> {
        let count = fileset.entries.saturating_add(fileset.leafdirs);
        if count > MAX_ENTRIES {
            let message = format!("fileset {} has {count} entries", fileset.name);
            return Err(Failure::new(
                message,
                format!("choose at most {MAX_ENTRIES}"),
            ));
        }
        let mut root = format!("{}/{}", fileset.path, fileset.name);
        let tree = if is_device(Path::new(&root)) {
            // A link may get another target while the device is used.
            let node = fs::canonicalize(&root).ok();
            root = node
                .and_then(|node| node.into_os_string().into_string().ok())
                .unwrap_or(root);
            device(fileset, &root)?
        } else {
            directories(fileset, &root, seed)?
        };
        let mut layout = Self {
            root,
            directories: tree.directories,
            entries: tree.entries,
            leafdirs: tree.leafdirs,
        };
        let exists = |stream: &mut Stream| stream.unit() * 100.0 < fileset.prealloc_percent;
        let mut stream = Stream::new(seed, &["fileset", &fileset.name, "entries"]);
        for entry in &mut layout.entries {
            entry.size_b = fileset.size.draw(&mut stream);
            entry.preallocated = exists(&mut stream) || entry.preallocated;
        }
        let mut stream = Stream::new(seed, &["fileset", &fileset.name, "leafdirs"]);
        for leafdir in &mut layout.leafdirs {
            leafdir.preallocated = exists(&mut stream);
        }
        Ok(layout)
    }

    /// The path of the root.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Write the path of a file, with a closing zero, into a buffer.
    pub fn path_into(&self, entry: usize, path: &mut Vec<u8>) {
        let directory = self.entries[entry].directory;
        self.write_path(directory, self.file_name(entry), path);
    }

    /// Write the path of a directory, with a closing zero, into a buffer.
    pub fn directory_path_into(&self, directory: usize, path: &mut Vec<u8>) {
        self.write_path(directory as u32, None, path);
    }

    /// Write the path of a leaf directory, with a closing zero, into a buffer.
    pub fn leafdir_path_into(&self, leafdir: usize, path: &mut Vec<u8>) {
        let directory = self.leafdirs[leafdir].directory;
        self.write_path(directory, self.leafdir_name(leafdir), path);
    }

    /// The name of a file in its directory; a device has none.
    pub fn file_name(&self, entry: usize) -> Option<Name> {
        match self.directories[self.entries[entry].directory as usize].content {
            Content::Files(first) => Some(name::of(entry as u32 - first + 1)),
            _ => None,
        }
    }

    /// The name of a leaf directory in its directory.
    fn leafdir_name(&self, leafdir: usize) -> Option<Name> {
        match self.directories[self.leafdirs[leafdir].directory as usize].content {
            Content::Leafdirs(first) => Some(name::of(leafdir as u32 - first + 1)),
            _ => None,
        }
    }

    fn write_path(&self, directory: u32, last: Option<Name>, path: &mut Vec<u8>) {
        let mut at = &self.directories[directory as usize];
        let (root_b, names_b) = (self.root.len(), at.level as usize * STEP_B);
        let last_b = if last.is_some() { STEP_B } else { 0 };
        path.resize(root_b + names_b + last_b + 1, 0);
        let (root, rest) = path.split_at_mut(root_b);
        let (names, end) = rest.split_at_mut(names_b);
        root.copy_from_slice(self.root.as_bytes());
        // Backwards, as every directory knows its parent.
        for name in names.rchunks_exact_mut(STEP_B) {
            write_step(name, &at.name);
            at = &self.directories[at.parent as usize];
        }
        if let Some(last) = last {
            write_step(end, &last);
        }
        end[last_b] = 0;
    }

    /// Whether it is a block device rather than a tree.
    pub fn is_device(&self) -> bool {
        self.directories[0].content == Content::Device
    }

    pub fn preallocated(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.preallocated)
    }

    pub fn existing_leafdirs(&self) -> impl Iterator<Item = &Leafdir> {
        self.leafdirs.iter().filter(|leafdir| leafdir.preallocated)
    }

    /// Bytes of the files that exist when a run begins.
    pub fn preallocated_b(&self) -> u64 {
        self.preallocated().map(|(_, entry)| entry.size_b).sum()
    }
}

/// Draw a tree.
fn directories(fileset: &Fileset, root: &str, seed: u64) -> Result<Tree, Failure> {
    // A path has its own last name and a zero byte behind the directories.
    let levels = (libc::PATH_MAX as usize).saturating_sub(root.len() + 1) / STEP_B;
    let stream = Stream::new(seed, &["fileset", &fileset.name, "layout"]);
    Generator::new(fileset, stream, levels.saturating_sub(1) as u32).tree()
}

/// The one file that a device is.
fn device(fileset: &Fileset, root: &str) -> Result<Tree, Failure> {
    if (fileset.entries, fileset.leafdirs) != (1, 0) {
        let message = format!("{root} is a block device, which is one file");
        return Err(Failure::new(message, "use 'define file', or another name"));
    }
    let entry = Entry {
        size_b: 0,
        directory: 0,
        preallocated: true,
    };
    Ok(Tree {
        directories: vec![Directory::new(0, 0, 0, Content::Device)],
        entries: vec![entry],
        leafdirs: Vec::new(),
    })
}

/// A path that ends in a zero byte.
pub fn as_path(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(&path[..path.len() - 1]))
}

fn write_step(place: &mut [u8], name: &Name) {
    place[0] = b'/';
    place[1..STEP_B].copy_from_slice(name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Amount;

    fn fileset(entries: u64, leafdirs: u64, dirwidth: f64) -> Fileset {
        Fileset {
            name: "files".into(),
            path: "/x".into(),
            entries,
            leafdirs,
            dirwidth: Amount::Fixed(dirwidth),
            prealloc_percent: 100.0,
            ..Fileset::default()
        }
    }

    fn text(write: impl Fn(&mut Vec<u8>)) -> String {
        // A path of another tree was here before.
        let mut path = vec![b'y'; 100];
        write(&mut path);
        assert_eq!(path.pop(), Some(0));
        String::from_utf8(path).unwrap()
    }

    #[test]
    fn a_fixed_wide_directory_is_flat() {
        let layout = Layout::new(&fileset(50_000, 0, 1e6), 4).unwrap();
        assert_eq!(layout.directories.len(), 2);
        assert_eq!(text(|path| layout.directory_path_into(0, path)), "/x/files");
        assert_eq!(
            text(|path| layout.directory_path_into(1, path)),
            "/x/files/00000001"
        );
        assert_eq!(
            text(|path| layout.path_into(49_999, path)),
            "/x/files/00000001/00050000"
        );
    }

    #[test]
    fn leaf_directories_follow_the_files_in_directories_of_their_own() {
        let layout = Layout::new(&fileset(6, 5, 4.0), 1).unwrap();
        let files = |entry| text(|path| layout.path_into(entry, path));
        let leafdirs = |leafdir| text(|path| layout.leafdir_path_into(leafdir, path));
        // int(ln 11 / ln 4) = 1
        assert_eq!(
            [files(0), files(3)],
            ["/x/files/00000001/00000001", "/x/files/00000001/00000004"]
        );
        assert_eq!(
            [files(4), files(5)],
            ["/x/files/00000002/00000001", "/x/files/00000002/00000002"]
        );
        assert_eq!(leafdirs(0), "/x/files/00000003/00000001");
        assert_eq!(leafdirs(4), "/x/files/00000004/00000001");
        let children: Vec<u32> = layout.directories.iter().map(|d| d.children).collect();
        assert_eq!(children, [4, 4, 2, 4, 1]);
    }

    #[test]
    fn impossible_trees_are_refused_with_the_way_out() {
        let refused = |fileset: &Fileset| Layout::new(fileset, 1).err().unwrap().to_string();
        let said = refused(&fileset(100_000_000, 0, 20.0));
        assert!(
            said.contains("100000000 entries") && said.contains("at most 99999999"),
            "{said}"
        );
        let said = refused(&fileset(100_000, 0, 1.001));
        assert!(
            said.contains("too deep") && said.contains("larger dirwidth"),
            "{said}"
        );
    }

    #[test]
    fn the_deepest_possible_path_is_one_that_the_kernel_takes() {
        let spec = fileset(2, 0, 2f64.powf(1.0 / 452.9));
        let layout = Layout::new(&spec, 1).unwrap();
        let path = text(|path| layout.path_into(0, path));
        assert!(
            path.len() > 4000 && path.len() < libc::PATH_MAX as usize,
            "{}",
            path.len()
        );
    }
}
