//! The answer to a message, whatever it is.

use super::procedures;
use super::served::{Asked, Export};
use crate::protocol::nfs3::{MOUNT, NFS};
use crate::protocol::rpc::{self, Call, Outcome, Refusal};
use crate::protocol::xdr::Write;

/// Write the reply to a message; nothing, if it is none that has a reply.
pub fn answer(export: &Export, message: &[u8], asked: Asked, out: &mut Vec<u8>) {
    let call = match Call::parse(message) {
        Ok(call) => call,
        Err(Refusal::NoCall) => return,
        Err(Refusal::OtherVersion { xid }) => return rpc::put_denial(out, xid),
    };
    let begin = out.len();
    rpc::put_reply(out, call.xid, Outcome::Success);
    let outcome = match (call.program, call.version) {
        NFS => procedures::nfs(export, &call, asked, out),
        MOUNT => procedures::mount(export, &call, out),
        (program, _) if program == NFS.0 || program == MOUNT.0 => Outcome::NoVersion,
        _ => Outcome::NoProgram,
    };
    if outcome != Outcome::Success {
        out.truncate(begin);
        rpc::put_reply(out, call.xid, outcome);
        if outcome == Outcome::NoVersion {
            let (lowest, highest) = (NFS.1, NFS.1);
            out.word(lowest);
            out.word(highest);
        }
    }
}
