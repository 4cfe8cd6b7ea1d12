//! What people read while the program works. They may have gone: `eprintln` panics then, and with
//! it the results would be lost.

use std::fmt::Arguments;
use std::io::{self, Write};

/// Write a line to the standard error, if anybody can read it.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::stderr::write(format_args!("{}\n", format_args!($($text)*)))
    };
}

/// The same without the end of the line.
macro_rules! show {
    ($($text:tt)*) => {
        $crate::stderr::write(format_args!($($text)*))
    };
}

pub(crate) use {say, show};

pub fn write(text: Arguments) {
    let _ = io::stderr().write_fmt(text);
}
