//! Remote procedure calls: RFC 5531, version 2.

use super::xdr::{Reader, Write};

const VERSION: u32 = 2;
const CALL: u32 = 0;
const REPLY: u32 = 1;
const ACCEPTED: u32 = 0;
const DENIED: u32 = 1;
const NO_CREDENTIALS: u32 = 0;
const MOST_CREDENTIALS_B: usize = 400;

/// Before each part of a message over TCP stand its length and this, in the last part.
pub const LAST_PART: u32 = 1 << 31;
pub const MARK_B: usize = 4;

/// How a call that was understood ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Success = 0,
    NoProgram = 1,
    /// The one that there is follows twice.
    NoVersion = 2,
    NoProcedure = 3,
    GarbageArguments = 4,
}

/// A call. Who calls is not looked at: all may read all.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub xid: u32,
    pub program: u32,
    pub version: u32,
    pub procedure: u32,
    pub arguments: Reader<'a>,
}

/// Why a message is no call that can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No answer: nothing says to what.
    NoCall,
    OtherVersion {
        xid: u32,
    },
}

impl<'a> Call<'a> {
    /// # Errors
    /// If the message is no call of this version.
    pub fn parse(message: &'a [u8]) -> Result<Self, Refusal> {
        let mut reader = Reader::new(message);
        let mut word = || reader.word().ok_or(Refusal::NoCall);
        let (xid, kind, version) = (word()?, word()?, word()?);
        if kind != CALL {
            return Err(Refusal::NoCall);
        }
        if version != VERSION {
            return Err(Refusal::OtherVersion { xid });
        }
        let (program, version, procedure) = (word()?, word()?, word()?);
        for _credentials_and_verifier in 0..2 {
            reader.word().ok_or(Refusal::NoCall)?;
            let body = reader.opaque(MOST_CREDENTIALS_B);
            body.ok_or(Refusal::NoCall)?;
        }
        Ok(Self {
            xid,
            program,
            version,
            procedure,
            arguments: reader,
        })
    }
}

/// Begin a call, without credentials.
pub fn put_call(out: &mut Vec<u8>, xid: u32, (program, version): (u32, u32), procedure: u32) {
    for word in [xid, CALL, VERSION, program, version, procedure] {
        out.word(word);
    }
    put_no_credentials(out);
    put_no_credentials(out);
}

/// Begin the reply to a call that was understood.
pub fn put_reply(out: &mut Vec<u8>, xid: u32, outcome: Outcome) {
    for word in [xid, REPLY, ACCEPTED] {
        out.word(word);
    }
    put_no_credentials(out);
    out.word(outcome as u32);
}

/// The reply to a call of another version of RPC.
pub fn put_denial(out: &mut Vec<u8>, xid: u32) {
    let other_version = 0;
    for word in [xid, REPLY, DENIED, other_version, VERSION, VERSION] {
        out.word(word);
    }
}

fn put_no_credentials(out: &mut Vec<u8>) {
    out.word(NO_CREDENTIALS);
    out.opaque(&[]);
}

/// Whether a client has sent a call before another. It numbers upwards, and goes on behind the highest
/// number with the lowest.
pub fn is_earlier(xid: u32, other: u32) -> bool {
    (other.wrapping_sub(xid) as i32) > 0
}

/// The call that a reply answers.
pub fn xid_of(reply: &[u8]) -> Option<u32> {
    let mut reader = Reader::new(reply);
    let xid = reader.word()?;
    (reader.word()? == REPLY).then_some(xid)
}

/// The results in a reply; None if the call was not done.
pub fn results(reply: &[u8]) -> Option<Reader<'_>> {
    let mut reader = Reader::new(reply);
    let words = [reader.word()?, reader.word()?, reader.word()?];
    let _verifier = (reader.word()?, reader.opaque(MOST_CREDENTIALS_B)?);
    let is_done = words[1..] == [REPLY, ACCEPTED] && reader.word()? == Outcome::Success as u32;
    is_done.then_some(reader)
}
