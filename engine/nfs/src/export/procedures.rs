//! The procedures of NFS and MOUNT.

use std::os::unix::fs::MetadataExt;

use super::failure::{Done, Failure, given};
use super::served::{Asked, Export};
use super::tree::Id;
use super::{directory, read};
use crate::protocol::nfs3::{
    HANDLE_MOST_B, NAME_MOST_B, PATH_MOST_B, Status, access, mount, procedure, properties,
    put_attributes, put_some_attributes,
};
use crate::protocol::rpc::{Call, Outcome};
use crate::protocol::xdr::{Reader, Write};
use crate::sys;

/// A reply to READDIR is to be this large.
const FOLDER_B: u32 = 32 * 1024;

fn handle(export: &Export, arguments: &mut Reader<'_>) -> Result<Id, Failure> {
    Ok(export.tree.id(given(arguments.opaque(HANDLE_MOST_B))?)?)
}

/// Do a procedure of NFS and write its results.
pub fn nfs(export: &Export, call: &Call<'_>, asked: Asked, out: &mut Vec<u8>) -> Outcome {
    if call.procedure == procedure::NULL {
        return Outcome::Success;
    }
    let begin = out.len();
    out.word(Status::Ok as u32);
    let mut arguments = call.arguments;
    let done = match call.procedure {
        procedure::GETATTR => get_attributes(export, &mut arguments, out),
        procedure::LOOKUP => look_up(export, &mut arguments, out),
        procedure::ACCESS => may(export, &mut arguments, out),
        procedure::READLINK => read_link(export, &mut arguments, out),
        procedure::READ => read_file(export, &mut arguments, call.xid, asked, out),
        procedure::READDIR | procedure::READDIRPLUS => {
            let with_files = call.procedure == procedure::READDIRPLUS;
            read_folder(export, &mut arguments, with_files, asked, out)
        }
        procedure::FSSTAT => sizes(export, &mut arguments, out),
        procedure::FSINFO => limits(export, &mut arguments, asked, out),
        procedure::PATHCONF => names(export, &mut arguments, out),
        procedure::SETATTR..=procedure::COMMIT => Err(Status::ReadOnly.into()),
        _ => return Outcome::NoProcedure,
    };
    match done {
        Ok(()) => Outcome::Success,
        Err(Failure::Garbage) => Outcome::GarbageArguments,
        Err(Failure::Status(status)) => {
            out.truncate(begin);
            out.word(status as u32);
            for _ in 0..absent_attributes(call.procedure) {
                out.word(0);
            }
            Outcome::Success
        }
    }
}

/// Attributes that may stand behind a status, and do not.
fn absent_attributes(of: u32) -> usize {
    match of {
        procedure::GETATTR => 0,
        procedure::LOOKUP..=procedure::READ | procedure::READDIR..=procedure::PATHCONF => 1,
        procedure::LINK => 3,
        procedure::RENAME => 4,
        _changes_one_file => 2,
    }
}

fn get_attributes(export: &Export, arguments: &mut Reader<'_>, out: &mut Vec<u8>) -> Done {
    let found = export.tree.metadata(handle(export, arguments)?)?;
    put_attributes(out, &found);
    Ok(())
}

fn look_up(export: &Export, arguments: &mut Reader<'_>, out: &mut Vec<u8>) -> Done {
    let folder = handle(export, arguments)?;
    // Longer names than there can be are no garbage.
    let name = given(arguments.opaque(PATH_MOST_B))?;
    let found = export.tree.look_up(folder, name)?;
    out.opaque(&export.tree.handle(Id::of(&found)));
    put_some_attributes(out, &found);
    put_some_attributes(out, &export.tree.metadata(folder)?);
    Ok(())
}

fn may(export: &Export, arguments: &mut Reader<'_>, out: &mut Vec<u8>) -> Done {
    let found = export.tree.metadata(handle(export, arguments)?)?;
    let asked = given(arguments.word())?;
    put_some_attributes(out, &found);
    let is_program = found.is_file() && found.mode() & 0o111 != 0;
    let enter = match found.is_dir() {
        true => access::LOOKUP,
        false if is_program => access::EXECUTE,
        false => 0,
    };
    out.word(asked & (access::READ | enter));
    Ok(())
}

fn read_link(export: &Export, arguments: &mut Reader<'_>, out: &mut Vec<u8>) -> Done {
    let link = export.tree.open(handle(export, arguments)?, libc::O_PATH)?;
    let found = link.metadata()?;
    if !found.is_symlink() {
        return Err(Status::Invalid.into());
    }
    let text = sys::read_link(&link)?;
    put_some_attributes(out, &found);
    out.opaque(&text);
    Ok(())
}

fn read_file(
    export: &Export,
    arguments: &mut Reader<'_>,
    xid: u32,
    asked: Asked,
    out: &mut Vec<u8>,
) -> Done {
    let id = handle(export, arguments)?;
    let (offset_b, count_b) = (given(arguments.hyper())?, given(arguments.word())?);
    let count_b = count_b.min(asked.most_b);
    Ok(read::file(
        export,
        id,
        offset_b..offset_b.saturating_add(count_b.into()),
        (xid, asked),
        out,
    )?)
}

fn read_folder(
    export: &Export,
    arguments: &mut Reader<'_>,
    with_files: bool,
    asked: Asked,
    out: &mut Vec<u8>,
) -> Done {
    let id = handle(export, arguments)?;
    let (cookie, verifier) = (given(arguments.hyper())?, given(arguments.hyper())?);
    let mut count_b = given(arguments.word())?;
    if with_files {
        // The first of the two is without attributes and handles; the second bounds the reply.
        count_b = given(arguments.word())?;
    }
    let room_b = count_b.min(asked.most_b) as usize;
    let page = directory::Page {
        cookie,
        verifier,
        room_b,
        with_files,
    };
    Ok(directory::put(&export.tree, id, &page, out)?)
}

fn sizes(export: &Export, arguments: &mut Reader<'_>, out: &mut Vec<u8>) -> Done {
    let file = export.tree.open(handle(export, arguments)?, libc::O_PATH)?;
    let of = sys::file_system(&file)?;
    put_some_attributes(out, &file.metadata()?);
    for blocks in [of.f_blocks, of.f_bfree, of.f_bavail] {
        out.hyper(blocks.saturating_mul(of.f_frsize));
    }
    for files in [of.f_files, of.f_ffree, of.f_favail] {
        out.hyper(files);
    }
    let holds_s = 0;
    out.word(holds_s);
    Ok(())
}

fn limits(export: &Export, arguments: &mut Reader<'_>, asked: Asked, out: &mut Vec<u8>) -> Done {
    let found = export.tree.metadata(handle(export, arguments)?)?;
    put_some_attributes(out, &found);
    // Most, preferred and multiple: of reads, and of writes, whose sizes clients look at, too.
    let page_b = 4096;
    for _ in 0..2 {
        for word in [asked.most_b, asked.most_b, page_b] {
            out.word(word);
        }
    }
    out.word(asked.most_b.min(FOLDER_B));
    out.hyper(i64::MAX as u64);
    let (seconds, nanoseconds) = (0, 1);
    out.word(seconds);
    out.word(nanoseconds);
    out.word(properties::SYMBOLIC_LINKS | properties::HOMOGENEOUS);
    Ok(())
}

fn names(export: &Export, arguments: &mut Reader<'_>, out: &mut Vec<u8>) -> Done {
    let found = export.tree.metadata(handle(export, arguments)?)?;
    put_some_attributes(out, &found);
    let (most_links, is_true, is_false) = (65_000, 1, 0);
    let [not_shortened, only_root_gives_away] = [is_true; 2];
    let (ignores_case, keeps_case) = (is_false, is_true);
    for word in [
        most_links,
        NAME_MOST_B as u32,
        not_shortened,
        only_root_gives_away,
        ignores_case,
        keeps_case,
    ] {
        out.word(word);
    }
    Ok(())
}

/// Do a procedure of MOUNT and write its results. The export is `/`, and the folders below it.
pub fn mount(export: &Export, call: &Call<'_>, out: &mut Vec<u8>) -> Outcome {
    let mut arguments = call.arguments;
    match call.procedure {
        mount::NULL | mount::UMNT | mount::UMNTALL => (),
        mount::MNT => match arguments.opaque(PATH_MOST_B) {
            Some(path) => put_mounted(export, path, out),
            None => return Outcome::GarbageArguments,
        },
        mount::DUMP => out.word(0),
        mount::EXPORT => {
            out.word(1);
            out.opaque(b"/");
            let (no_groups, no_more) = (0, 0);
            out.word(no_groups);
            out.word(no_more);
        }
        _ => return Outcome::NoProcedure,
    }
    Outcome::Success
}

fn put_mounted(export: &Export, path: &[u8], out: &mut Vec<u8>) {
    let names = path
        .split(|&byte| byte == b'/')
        .filter(|name| !name.is_empty());
    let walked = names
        .into_iter()
        .try_fold(export.tree.root(), |folder, name| {
            let found = export.tree.look_up(folder, name)?;
            if found.is_dir() {
                Ok(Id::of(&found))
            } else {
                Err(Status::NotDirectory)
            }
        });
    match walked {
        Ok(folder) => {
            out.word(Status::Ok as u32);
            out.opaque(&export.tree.handle(folder));
            let (count, no_credentials, those_of_unix) = (2, 0, 1);
            for word in [count, no_credentials, those_of_unix] {
                out.word(word);
            }
        }
        Err(status) => out.word(status as u32),
    }
}
