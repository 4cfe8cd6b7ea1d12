//! Where it ran: the kernel, its processors, and what is mounted where.

use std::ffi::CStr;
use std::fs;
use std::path::Path;

use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct Host {
    pub kernel: String,
    /// Processors that this program may use.
    pub cpus_count: usize,
}

impl Host {
    pub fn here() -> Self {
        // SAFETY: zeros are a valid utsname; the call leaves texts that end in zero.
        let kernel = unsafe {
            let mut system: libc::utsname = std::mem::zeroed();
            libc::uname(&raw mut system);
            CStr::from_ptr(system.release.as_ptr())
                .to_string_lossy()
                .into_owned()
        };
        Self {
            kernel,
            cpus_count: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// A line of /proc/self/mountinfo.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mount {
    /// Of the file system, such as `ext4`.
    #[serde(rename = "type")]
    pub kind: String,
    pub source: String,
    /// Those of the mount, then those of the file system.
    pub options: String,
}

impl Mount {
    /// What a path stands on, or its nearest ancestor that exists.
    pub fn of(path: &str) -> Option<Self> {
        let mut ancestors = Path::new(path).ancestors();
        let path = ancestors.find_map(|path| fs::canonicalize(path).ok())?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        find(&mounts, &path)
    }
}

/// The mount with the longest path above `path`; of several at one place, the last hides others.
fn find(mounts: &str, path: &Path) -> Option<Mount> {
    mounts
        .lines()
        .filter_map(parse)
        .filter(|(point, _)| path.starts_with(point))
        .max_by_key(|(point, _)| point.len())
        .map(|(_, mount)| mount)
}

/// proc_pid_mountinfo(5): the fields behind ` - ` are those of the file system.
fn parse(line: &str) -> Option<(String, Mount)> {
    let (of_mount, of_system) = line.split_once(" - ")?;
    let mut of_mount = of_mount.split(' ').skip(4);
    let (point, own) = (of_mount.next()?, of_mount.next()?);
    let mut of_system = of_system.split(' ');
    let (kind, source, system) = (of_system.next()?, of_system.next()?, of_system.next()?);
    let mount = Mount {
        kind: kind.to_owned(),
        source: unescaped(source),
        options: [own, system].join(","),
    };
    Some((unescaped(point), mount))
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
";

    #[test]
    fn a_tree_is_reported_with_the_file_system_that_it_stands_on() {
        let kind = |path: &str| find(MOUNTS, Path::new(path)).unwrap().kind;
        assert_eq!(kind("/home/x"), "ext4");
        assert_eq!(kind("/mnt/a b/x"), "xfs");
        assert_eq!(kind("/mntx"), "ext4");
        assert_eq!(kind("/mnt/x"), "btrfs");
        let mount = find(MOUNTS, Path::new("/mnt/a b")).unwrap();
        assert_eq!(
            (mount.source.as_str(), mount.options.as_str()),
            ("/dev/loop0", "rw,noatime,rw,logbufs=8")
        );
        assert_eq!(find("garbage\n\\", Path::new("/")), None);
    }
}
