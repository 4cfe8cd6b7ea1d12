//! Where the library of RocksDB is, and which version it was.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

pub const NAME: &str = "librocksdb.so";
const PLACES: [&str; 5] = [
    "/usr/local/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
];

/// The version that wrote the database in a folder: RocksDB's C interface does not tell its own.
pub fn version_in(folder: &Path) -> Option<String> {
    let names = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path());
    let newest = names
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("OPTIONS-") && !name.contains('.')
        })
        .max()?;
    let text = fs::read_to_string(newest).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("rocksdb_version="));
    line.map(str::to_owned)
}

/// The library with the highest numbers, of the first place that has one.
pub fn found() -> Option<PathBuf> {
    PLACES.iter().find_map(|place| {
        let names = fs::read_dir(place)
            .ok()?
            .flatten()
            .map(|entry| entry.file_name());
        let of_rocksdb = names.filter(|name| name.to_string_lossy().starts_with(NAME));
        of_rocksdb
            .max_by_key(numbers)
            .map(|name| Path::new(place).join(name))
    })
}

fn numbers(name: &OsString) -> Vec<u64> {
    let name = name.to_string_lossy();
    name.split('.')
        .filter_map(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_version_is_taken() {
        let names = ["librocksdb.so.7.8.3", "librocksdb.so.10.2", "librocksdb.so"];
        let newest = names
            .iter()
            .map(OsString::from)
            .max_by_key(numbers)
            .unwrap();
        assert_eq!(newest, "librocksdb.so.10.2");
    }
}
