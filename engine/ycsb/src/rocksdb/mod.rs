//! RocksDB by its C interface, from a library that is loaded when it is needed.

mod find;
mod functions;

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use wml::failure::Failure;

pub use find::version_in;
use find::{NAME, found};
use functions::{Error, Functions, Handle};

/// Names another library.
pub const VARIABLE: &str = "FSGREEN_ROCKSDB";

/// A library that is loaded; it stays so.
pub struct Library {
    functions: Functions,
    file: PathBuf,
}

impl Library {
    /// Load the one that is named, else the newest that is found.
    pub fn load() -> Result<Self, Failure> {
        let file = match std::env::var_os(VARIABLE) {
            Some(named) => PathBuf::from(named),
            None => found().ok_or_else(|| {
                Failure::new(
                    "RocksDB is not installed",
                    format!(
                        "apt-get install librocksdb7.8 (Debian 12; elsewhere librocksdb...), \
                     or name the library: {VARIABLE}=/path/{NAME}"
                    ),
                )
            })?,
        };
        Self::of(file)
    }

    fn of(file: PathBuf) -> Result<Self, Failure> {
        let fails = |why: String| {
            Failure::new(
                format!(
                    "the RocksDB library {} cannot be used: {why}",
                    file.display()
                ),
                format!(
                    "install it anew (apt-get install --reinstall librocksdb7.8), \
                 or name another: {VARIABLE}=/path/{NAME}"
                ),
            )
        };
        let name = c_string(&file);
        // SAFETY: the name is valid; what the library does as it loads is its own.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
        if library.is_null() {
            // SAFETY: after a failure there is a text, valid until the next call of this thread.
            let said = unsafe { CStr::from_ptr(libc::dlerror()) };
            return Err(fails(said.to_string_lossy().into_owned()));
        }
        let functions = Functions::of(library).map_err(|why| {
            fails(format!(
                "{why}, so it is another version or another library"
            ))
        })?;
        Ok(Self { functions, file })
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Open the database in a folder, a new one if there is none.
    ///
    /// Options are those of YCSB's binding, but for `memtables_b`, the memory for what is not
    /// written yet, of which sizes of files and levels follow: 512 MiB there. With `direct_reads`,
    /// only RocksDB's own cache keeps what was read, not the kernel.
    pub fn open(
        &self,
        folder: &Path,
        memtables_b: u64,
        direct_reads: bool,
    ) -> Result<Database<'_>, String> {
        let f = &self.functions;
        let cores = std::thread::available_parallelism().map_or(1, |count| count.get() as c_int);
        let path = c_string(folder);
        // SAFETY: handles come from the library and go back to it; `called` gives a valid error.
        unsafe {
            let options = (f.options_create)();
            (f.options_set_create_if_missing)(options, 1);
            (f.options_increase_parallelism)(options, cores);
            (f.options_optimize_level_style_compaction)(options, memtables_b);
            (f.options_set_use_direct_reads)(options, direct_reads.into());
            let opened = self.called(|error| (f.open)(options, path.as_ptr(), error));
            (f.options_destroy)(options);
            Ok(Database {
                library: self,
                handle: opened?,
                reading: (f.readoptions_create)(),
                writing: (f.writeoptions_create)(),
            })
        }
    }

    /// What a function returns, or the error that it says.
    fn called<T>(&self, function: impl FnOnce(Error) -> T) -> Result<T, String> {
        let mut error = null_mut();
        let result = function(&raw mut error);
        if error.is_null() {
            return Ok(result);
        }
        // SAFETY: an error is a text that ends with a zero, and is the caller's to free.
        let said = unsafe { CStr::from_ptr(error) }
            .to_string_lossy()
            .into_owned();
        unsafe { (self.functions.free)(error.cast()) };
        Err(said)
    }
}

/// A database that is open; all threads may use it.
pub struct Database<'a> {
    library: &'a Library,
    handle: Handle,
    reading: Handle,
    writing: Handle,
}

// SAFETY: RocksDB synchronises all that is called here, and the options are only read.
unsafe impl Sync for Database<'_> {}

impl Database<'_> {
    pub fn put(&self, key: &str, value: &[u8]) -> Result<(), String> {
        let (name, name_b) = (key.as_ptr().cast(), key.len());
        let (bytes, size_b) = (value.as_ptr().cast(), value.len());
        let f = &self.library.functions;
        // SAFETY: the handles are open, and the memory is valid for its lengths.
        self.library.called(|error| unsafe {
            (f.put)(
                self.handle,
                self.writing,
                name,
                name_b,
                bytes,
                size_b,
                error,
            );
        })
    }

    /// Copy a record to `value`; None if there is none of this key.
    pub fn get(&self, key: &str, value: &mut Vec<u8>) -> Result<Option<()>, String> {
        let f = &self.library.functions;
        // SAFETY: as above; the slice is valid until it is destroyed.
        unsafe {
            let slice = self.library.called(|error| {
                let (name, name_b) = (key.as_ptr().cast(), key.len());
                (f.get_pinned)(self.handle, self.reading, name, name_b, error)
            })?;
            if slice.is_null() {
                return Ok(None);
            }
            let mut size_b = 0;
            let bytes = (f.pinnableslice_value)(slice, &raw mut size_b);
            copy(bytes, size_b, value);
            (f.pinnableslice_destroy)(slice);
        }
        Ok(Some(()))
    }

    /// Read so many records from a key on, each to `value`; return their bytes.
    pub fn scan(&self, key: &str, count: u64, value: &mut Vec<u8>) -> Result<u64, String> {
        let f = &self.library.functions;
        let mut read_b = 0;
        // SAFETY: the iterator is of this database and is destroyed; its value is valid till next.
        unsafe {
            let iterator = (f.create_iterator)(self.handle, self.reading);
            (f.iter_seek)(iterator, key.as_ptr().cast(), key.len());
            for _ in 0..count {
                if (f.iter_valid)(iterator) == 0 {
                    break;
                }
                let mut size_b = 0;
                let bytes = (f.iter_value)(iterator, &raw mut size_b);
                copy(bytes, size_b, value);
                read_b += size_b as u64;
                (f.iter_next)(iterator);
            }
            let said = self
                .library
                .called(|error| (f.iter_get_error)(iterator, error));
            (f.iter_destroy)(iterator);
            said.map(|()| read_b)
        }
    }

    /// Write out what is only in memory and in the log.
    pub fn flush(&self) -> Result<(), String> {
        let f = &self.library.functions;
        // SAFETY: as above.
        unsafe {
            let options = (f.flushoptions_create)();
            let done = self
                .library
                .called(|error| (f.flush)(self.handle, options, error));
            (f.flushoptions_destroy)(options);
            done
        }
    }

    /// Whether nothing is left to be merged, or is being merged.
    pub fn is_settled(&self) -> bool {
        [
            c"rocksdb.compaction-pending",
            c"rocksdb.num-running-compactions",
        ]
        .iter()
        .all(|name| self.property(name) == 0)
    }

    /// What kept the database from going on in the background: how often.
    pub fn background_errors(&self) -> u64 {
        self.property(c"rocksdb.background-errors")
    }

    fn property(&self, name: &CStr) -> u64 {
        let mut value = 0;
        // SAFETY: as above.
        unsafe {
            (self.library.functions.property_int)(self.handle, name.as_ptr(), &raw mut value)
        };
        value
    }
}

impl Drop for Database<'_> {
    fn drop(&mut self) {
        let f = &self.library.functions;
        // SAFETY: each handle is given back once.
        unsafe {
            (f.close)(self.handle);
            (f.readoptions_destroy)(self.reading);
            (f.writeoptions_destroy)(self.writing);
        }
    }
}

fn copy(bytes: *const c_char, size_b: usize, value: &mut Vec<u8>) {
    value.clear();
    if !bytes.is_null() {
        // SAFETY: RocksDB says that so many bytes are there.
        value.extend_from_slice(unsafe { std::slice::from_raw_parts(bytes.cast(), size_b) });
    }
}

fn c_string(path: &Path) -> CString {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes()).expect("a path of the command line has no zero")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_no_rocksdb_is_refused_with_the_next_step() {
        let junk = std::env::temp_dir().join(format!("fsgreen-junk-{}.so", std::process::id()));
        fs::write(&junk, "no library").unwrap();
        for (file, why) in [
            (&*junk, "cannot be used"),
            (Path::new("libc.so.6"), "rocksdb_open"),
        ] {
            let failure = Library::of(file.into()).err().unwrap().to_string();
            assert!(
                failure.contains(why) && failure.contains(VARIABLE),
                "{failure}"
            );
        }
        fs::remove_file(junk).unwrap();
    }
}
