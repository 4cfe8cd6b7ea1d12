//! What is mounted where, as /proc/self/mountinfo has it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// A file system, and where it is mounted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mount {
    #[serde(skip)]
    pub point: PathBuf,
    /// Of the file system, such as `ext4`.
    #[serde(rename = "type")]
    pub kind: String,
    pub source: String,
    /// Those of the mount, then those of the file system.
    pub options: String,
}

/// All of them, in the order of their mounting; none where that cannot be known.
pub fn all() -> Vec<Mount> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    table.lines().filter_map(parse).collect()
}

/// The one that a path stands on, or its nearest ancestor that exists.
pub fn of(path: &Path) -> Option<Mount> {
    let path = path
        .ancestors()
        .find_map(|path| fs::canonicalize(path).ok())?;
    above(all(), &path)
}

/// The mount with the longest path above `path`; of several at one place, the last hides others.
fn above(mounts: Vec<Mount>, path: &Path) -> Option<Mount> {
    let above = mounts
        .into_iter()
        .filter(|mount| path.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.as_os_str().len())
}

/// proc_pid_mountinfo(5): the fields behind ` - ` are those of the file system.
fn parse(line: &str) -> Option<Mount> {
    let (of_mount, of_system) = line.split_once(" - ")?;
    let mut of_mount = of_mount.split(' ').skip(4);
    let (point, own) = (of_mount.next()?, of_mount.next()?);
    let mut of_system = of_system.split(' ');
    let (kind, source, system) = (of_system.next()?, of_system.next()?, of_system.next()?);
    Some(Mount {
        point: unescaped(point).into(),
        kind: kind.to_owned(),
        source: unescaped(source),
        options: [own, system].join(","),
    })
}

/// Blanks, tabs, newlines and backslashes are written as a backslash and three octal digits.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut text, part| {
        match part.get(..3).map(|digits| u8::from_str_radix(digits, 8)) {
            Some(Ok(code)) => {
                text.push(char::from(code));
                text.push_str(&part[3..]);
            }
            _ => {
                text.push('\\');
                text.push_str(part);
            }
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 22 0:26 / /mnt rw - tmpfs tmpfs rw,size=1024k
31 30 7:0 / /mnt/a\\040b rw,noatime - xfs /dev/loop0 rw,logbufs=8
32 22 7:1 / /mnt rw master:1 propagate_from:2 - btrfs /dev/loop1 rw
garbage
\\
";

    #[test]
    fn a_path_stands_on_the_last_mount_at_the_longest_point_above_it() {
        let on = |path: &str| {
            let mounts = MOUNTS.lines().filter_map(parse).collect();
            above(mounts, Path::new(path)).unwrap()
        };
        for (path, kind) in [
            ("/home/x", "ext4"),
            ("/mnt/a b/x", "xfs"),
            ("/mntx", "ext4"),
            ("/mnt/x", "btrfs"),
        ] {
            assert_eq!(on(path).kind, kind, "{path}");
        }
        let mount = on("/mnt/a b");
        assert_eq!(
            (mount.source.as_str(), mount.options.as_str()),
            ("/dev/loop0", "rw,noatime,rw,logbufs=8")
        );
        assert_eq!(above(Vec::new(), Path::new("/")), None);
    }
}
