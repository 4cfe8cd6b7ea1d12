//! The functions of RocksDB's C interface that are used.

use std::ffi::{c_char, c_int, c_void};

pub type Handle = *mut c_void;
pub type Error = *mut *mut c_char;

/// The functions that are used, with their types: <rocksdb/c.h> of RocksDB 6 to 10.
macro_rules! functions {
    ($($name:ident: ($($argument:ty),*) $(-> $result:ty)?;)*) => {
        pub struct Functions { $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)* }

        impl Functions {
            /// Those of a library that is open; which one is not there.
            pub fn of(library: Handle) -> Result<Self, String> {
                Ok(Self { $($name: {
                    let name = concat!("rocksdb_", stringify!($name), "\0");
                    // SAFETY: the library is open and the name ends with a zero.
                    let found = unsafe { libc::dlsym(library, name.as_ptr().cast()) };
                    if found.is_null() {
                        return Err(format!("it has no rocksdb_{}", stringify!($name)));
                    }
                    // SAFETY: the function of this name has this type in every version.
                    unsafe { std::mem::transmute::<Handle, unsafe extern "C" fn($($argument),*) $(-> $result)?>(found) }
                },)* })
            }
        }
    };
}

functions! {
    open: (Handle, *const c_char, Error) -> Handle;
    close: (Handle);
    free: (Handle);
    options_create: () -> Handle;
    options_destroy: (Handle);
    options_set_create_if_missing: (Handle, u8);
    options_increase_parallelism: (Handle, c_int);
    options_optimize_level_style_compaction: (Handle, u64);
    options_set_use_direct_reads: (Handle, u8);
    readoptions_create: () -> Handle;
    readoptions_destroy: (Handle);
    writeoptions_create: () -> Handle;
    writeoptions_destroy: (Handle);
    flushoptions_create: () -> Handle;
    flushoptions_destroy: (Handle);
    put: (Handle, Handle, *const c_char, usize, *const c_char, usize, Error);
    get_pinned: (Handle, Handle, *const c_char, usize, Error) -> Handle;
    pinnableslice_value: (Handle, *mut usize) -> *const c_char;
    pinnableslice_destroy: (Handle);
    create_iterator: (Handle, Handle) -> Handle;
    iter_seek: (Handle, *const c_char, usize);
    iter_valid: (Handle) -> u8;
    iter_next: (Handle);
    iter_value: (Handle, *mut usize) -> *const c_char;
    iter_get_error: (Handle, Error);
    iter_destroy: (Handle);
    flush: (Handle, Handle, Error);
    property_int: (Handle, *const c_char, *mut u64) -> c_int;
}
