//! One client of a server, from its certificate to its end.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rustls::{ServerConnection, StreamOwned};

use crate::branch::folder::Folder;
use crate::net::frame;
use crate::net::hands::Hands;
use crate::net::request::{Answer, Request, VERSION};
use crate::net::served::{Served, Slot};
use crate::net::timely::Timely;
use crate::net::tree::Tree;
use crate::pool::pooled::Pooled;

/// A client has so long to show its certificate and say what it wants.
const GREETING: Duration = Duration::from_secs(5);

/// A frame that was begun takes no longer, to come and to go.
const FRAME: Duration = Duration::from_secs(10);

/// While something is being done, the client hears so at least that often.
const BEAT: Duration = Duration::from_millis(500);

type Stream = StreamOwned<ServerConnection, Timely>;
type Reply = (Answer, Vec<u8>);

/// Serve a client until it leaves. `stranger` is its slot until it is known.
///
/// # Errors
/// If it is none, breaks off, or is too slow.
pub fn attend(socket: TcpStream, served: &Served, stranger: Slot) -> io::Result<()> {
    let config = Arc::clone(&served.tls);
    let connection = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(connection, Timely::new(socket)?);
    stream.sock.allow(GREETING);
    let (hello, _) = frame::read(&mut stream)?;
    let greeted = greet(&hello, served);
    drop(stranger);
    stream.sock.allow(FRAME);
    match greeted {
        Ok((hands, _known)) => {
            frame::write(&mut stream, &Answer::Done, &[])?;
            work(&mut stream, hands)
        }
        Err(refused) => frame::write(&mut stream, &refused, &[]),
    }
}

fn greet<'a>(hello: &Request, served: &'a Served) -> Result<(Hands<'a>, Slot), Answer> {
    let refused = |what: String, next: &str| Answer::Refused {
        what,
        next: next.into(),
    };
    let Request::Hello { version, claims } = *hello else {
        return Err(refused("this is no greeting".into(), "use greenfs"));
    };
    if version != VERSION {
        let what = format!("the server speaks version {VERSION}, not {version}");
        return Err(refused(what, "use the same greenfs on both sides"));
    }
    let known = served.clients.take().ok_or_else(|| {
        let what = "the server has as many clients as it serves";
        refused(what.into(), "wait until one has left")
    })?;
    let folder = match claims {
        true => Folder::claim(&served.folder).map_err(|fault| refused(fault.what, &fault.next)),
        false => Folder::open(&served.folder).map_err(|error| {
            let what = format!("the folder that is served cannot be opened: {error}");
            refused(what, "see on the server that it is mounted")
        }),
    };
    let folder = folder?;
    let hands = Hands {
        tree: match &served.pool {
            Some(pool) => Tree::Pooled(Box::new(Pooled::new(folder, pool))),
            None => Tree::Plain(folder),
        },
        may_change: claims,
        keeping: served.keeping.as_ref(),
    };
    Ok((hands, known))
}

/// Do one request after the other, each beside the connection: that says meanwhile that it goes on.
fn work(stream: &mut Stream, mut hands: Hands) -> io::Result<()> {
    let (ask, asked) = channel::<(Request, Vec<u8>)>();
    let (reply, replies) = channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            for (request, data) in asked {
                if reply.send(hands.answer(&request, &data)).is_err() {
                    return;
                }
            }
        });
        let ended = loop {
            if let Err(error) = stream.sock.wait() {
                break Err(error);
            }
            stream.sock.allow(FRAME);
            let served = frame::read(stream).and_then(|request| {
                ask.send(request).map_err(io::Error::other)?;
                answer(stream, &replies)
            });
            if served.is_err() {
                break served;
            }
        };
        // Its thread ends with what it is asked.
        drop(ask);
        ended
    })
}

fn answer(stream: &mut Stream, replies: &Receiver<Reply>) -> io::Result<()> {
    let (answer, tail) = loop {
        match replies.recv_timeout(BEAT) {
            Ok(reply) => break reply,
            Err(RecvTimeoutError::Timeout) => {
                stream.sock.allow(FRAME);
                frame::write(stream, &Answer::Working, &[])?;
            }
            Err(error) => return Err(io::Error::other(error)),
        }
    };
    let mut rest = tail.as_slice();
    while let Some((part, further)) = rest.split_at_checked(frame::TAIL_MOST_B) {
        if further.is_empty() {
            break;
        }
        stream.sock.allow(FRAME);
        frame::write(stream, &Answer::Part, part)?;
        rest = further;
    }
    stream.sock.allow(FRAME);
    frame::write(stream, &answer, rest)
}
