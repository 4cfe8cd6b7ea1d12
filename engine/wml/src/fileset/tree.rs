//! Trees of ours on the disk: looking at them and removing them.

use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::crew;
use super::name;
use crate::failure::Failure;

/// What a tree that is there already holds.
#[derive(Clone, Copy, Default)]
pub struct Held {
    pub bytes: u64,
    pub inodes: u64,
}

/// A tree that holds nothing but names of ours.
pub struct Tree {
    /// Parents before children; the first is the root.
    directories: Vec<PathBuf>,
}

impl Tree {
    /// The tree below a root; None if there is nothing. Refuses what holds anything foreign.
    pub fn find(root: &Path) -> Result<Option<Self>, Failure> {
        match fs::symlink_metadata(root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(root, &error)),
            Ok(metadata) if !metadata.is_dir() => return Err(foreign(root)),
            Ok(_) => {}
        }
        let mut directories = vec![root.to_owned()];
        let mut next = 0;
        while let Some(directory) = directories.get(next).cloned() {
            let inner = look(&directory, |path, kind| {
                Ok(kind.is_dir().then(|| path.to_owned()))
            })?;
            directories.extend(inner.into_iter().flatten());
            next += 1;
        }
        Ok(Some(Self { directories }))
    }

    /// Space and inodes that its files and directories have.
    pub fn held(&self) -> Result<Held, Failure> {
        let mut held = Held::default();
        for directory in &self.directories {
            held.inodes += 1;
            look(directory, |path, kind| {
                if !kind.is_dir() {
                    let found = fs::symlink_metadata(path).map_err(|e| unreadable(path, &e))?;
                    held.bytes += 512 * found.blocks();
                    held.inodes += 1;
                }
                Ok(())
            })?;
        }
        Ok(held)
    }

    /// Remove it all.
    pub fn remove(self) -> Result<(), Failure> {
        let what = format!("removing {}", self.directories[0].display());
        crew::work_on(
            &what,
            &self.directories,
            crew::workers(),
            || (),
            |(), chunk| {
                for directory in chunk {
                    look(directory, |path, kind| match kind.is_dir() {
                        true => Ok(()),
                        false => fs::remove_file(path).map_err(|error| irremovable(path, &error)),
                    })?;
                }
                Ok(())
            },
        )?;
        self.directories.iter().rev().try_for_each(|directory| {
            fs::remove_dir(directory).map_err(|error| irremovable(directory, &error))
        })
    }
}

/// Remove a file, or a directory with all that is in it, if there is one.
pub fn remove_any(path: &Path) -> Result<(), Failure> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    removed.map_err(|error| irremovable(path, &error))
}

/// Remove what a directory holds beyond its first `count` names.
pub fn remove_surplus(directory: &Path, count: u32) -> Result<(), Failure> {
    let surplus = look(directory, |path, _| {
        let number = path.file_name().and_then(name::number);
        let belongs = number.is_some_and(|number| (1..=count).contains(&number));
        Ok((!belongs).then(|| path.to_owned()))
    })?;
    surplus
        .iter()
        .flatten()
        .try_for_each(|path| remove_any(path))
}

/// Look at everything in a directory, all of which must be ours.
fn look<T>(
    directory: &Path,
    mut at: impl FnMut(&Path, FileType) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut found = Vec::new();
    for item in fs::read_dir(directory).map_err(|error| unreadable(directory, &error))? {
        let item = item.map_err(|error| unreadable(directory, &error))?;
        let path = item.path();
        let kind = item
            .file_type()
            .map_err(|error| unreadable(&path, &error))?;
        let known = kind.is_file() || kind.is_dir() || kind.is_symlink();
        if !known || name::number(&item.file_name()).is_none() {
            return Err(foreign(&path));
        }
        found.push(at(&path, kind)?);
    }
    Ok(found)
}

fn foreign(path: &Path) -> Failure {
    let message = format!(
        "{} was not made by this program, so nothing was changed",
        path.display()
    );
    Failure::new(message, "choose another directory")
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::io(format!("cannot read {}", path.display()), error)
}

fn irremovable(path: &Path, error: &io::Error) -> Failure {
    Failure::io(format!("cannot remove {}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_a_tree_holds_is_counted_by_its_blocks_and_names() {
        let root = std::env::temp_dir().join(format!("wml-held-{}", std::process::id()));
        let inner = root.join("00000001");
        fs::create_dir_all(&inner).unwrap();
        let file = inner.join("00000001");
        fs::write(&file, [7; 10_000]).unwrap();
        symlink("nowhere", inner.join("00000002")).unwrap();
        fs::File::open(&file).unwrap().sync_all().unwrap();
        let link = fs::symlink_metadata(inner.join("00000002")).unwrap();
        let blocks = fs::metadata(&file).unwrap().blocks() + link.blocks();
        let tree = Tree::find(&root).unwrap().unwrap();
        let held = tree.held().unwrap();
        assert_eq!((held.bytes, held.inodes), (512 * blocks, 4));
        assert!(held.bytes >= 10_000);
        tree.remove().unwrap();
        assert!(Tree::find(&root).unwrap().is_none());
    }
}
