//! `flash`: a key that encrypts flash, made, and taken out of the kernel again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lexopt::{Parser, prelude::*};

use super::asked::{Asked, usage};
use crate::crypt::{self, Closed};
use crate::fault::Fault;
use crate::key;
use crate::mount::place;

/// Make a key, or have the kernel forget one. None asks for the help.
pub fn run(parser: &mut Parser) -> Result<Option<(String, ExitCode)>, Fault> {
    let Some((what, path)) = wish(parser).map_err(usage)? else {
        return Ok(None);
    };
    match what {
        What::Key => make_key::<{ crypt::KEY_B }>(&path).map(Some),
        What::Lock => lock(&path).map(Some),
    }
}

enum What {
    Key,
    Lock,
}

fn wish(parser: &mut Parser) -> Result<Option<(What, PathBuf)>, lexopt::Error> {
    let (mut what, mut path) = (None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Value(word) if what.is_none() => {
                what = Some(match word.to_str() {
                    Some("key") => What::Key,
                    Some("lock") => What::Lock,
                    _ => return Err(Value(word).unexpected()),
                });
            }
            Value(place) if path.is_none() => path = Some(place.into()),
            other => return Err(other.unexpected()),
        }
    }
    let what = what.ok_or("is a key to be made, or a flash folder to be locked?")?;
    let path = path.ok_or("which file is it, or which folder?")?;
    Ok(Some((what, path)))
}

/// Make a key in a new file, and say so.
pub fn make_key<const N: usize>(file: &Path) -> Result<(String, ExitCode), Fault> {
    key::make::<N>(file)?;
    let text = format!(
        "made {}: whoever loses it loses all that is encrypted with it; keep a copy elsewhere\n",
        file.display()
    );
    Ok((text, ExitCode::SUCCESS))
}

fn lock(folder: &Path) -> Result<(String, ExitCode), Fault> {
    let unusable = |error: io::Error| {
        let what = format!("this folder cannot be used: {error}");
        Fault::new(what, folder, "name a flash folder")
    };
    let flash = fs::canonicalize(folder).map_err(unusable)?;
    let place = flash.display();
    let said = match close(&flash)? {
        Closed::Yes => format!("{place}: its names and data cannot be read without its key\n"),
        Closed::Kept => format!(
            "{place}: others have given its key to the kernel, too: it can be read until they \
             take it back\n"
        ),
        Closed::Needed(other) if other == flash => {
            let next = "unmount it: `greenfs umount` locks it, too";
            return Err(Fault::new(
                "the volume of this folder is mounted",
                folder,
                next,
            ));
        }
        Closed::Needed(other) => format!(
            "{place}: the volume of {} has the same key, and is mounted: it can be read until that \
             is unmounted\n",
            other.display()
        ),
        Closed::HasNone => {
            let next = "encrypt an empty one: greenfs mount --flash-key FILE";
            return Err(Fault::new("no key encrypts this folder", folder, next));
        }
    };
    Ok((said, ExitCode::SUCCESS))
}

fn close(flash: &Path) -> Result<Closed, Fault> {
    crypt::close(flash, &place::mounted_flashes())
}

/// Do something with a flash folder that may need its key. Whatever comes of that, the key is not
/// there for longer.
pub fn closing<T>(asked: &Asked, act: impl FnOnce(&Asked) -> Result<T, Fault>) -> Result<T, Fault> {
    let done = act(asked);
    if asked.flash_key.is_none() {
        return done;
    }
    let closed = close(&asked.flash);
    done.and_then(|done| closed.map(|_| done))
}
