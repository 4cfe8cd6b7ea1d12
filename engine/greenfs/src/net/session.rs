//! One client of a server, from its certificate to its end.

use std::io;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard};
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

/// Do one request after the other. While that takes long, a thread says that it goes on.
fn work(stream: &mut Stream, mut hands: Hands) -> io::Result<()> {
    let line = &Mutex::new(stream);
    thread::scope(|scope| {
        // It is free only while a request is done: else the thread sleeps.
        let mut held = lock(line);
        let (_here, is_here) = channel();
        scope.spawn(move || beat(line, &is_here));
        loop {
            held.sock.wait()?;
            held.sock.allow(FRAME);
            let (request, data) = frame::read(&mut **held)?;
            drop(held);
            let reply = hands.answer(&request, &data);
            held = lock(line);
            answer(&mut held, reply)?;
        }
    })
}

type Line<'a> = Mutex<&'a mut Stream>;

fn lock<'a, 'b>(line: &'a Line<'b>) -> MutexGuard<'a, &'b mut Stream> {
    line.lock().expect("who has it does not panic")
}

/// Say that it goes on, as long as the one whose requests are done is here.
fn beat(line: &Line, is_here: &Receiver<()>) {
    while is_here.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
        let mut stream = lock(line);
        if is_here.try_recv() == Err(TryRecvError::Disconnected) {
            return;
        }
        stream.sock.allow(FRAME);
        if frame::write(&mut **stream, &Answer::Working, &[]).is_err() {
            return;
        }
    }
}

fn answer(stream: &mut Stream, (answer, tail): (Answer, Vec<u8>)) -> io::Result<()> {
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
