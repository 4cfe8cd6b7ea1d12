//! The control socket: a JSON object a line, each answered by one.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::profile::Fault;
use crate::serve::handler::Handler;
use crate::serve::order::Refusal;
use crate::serve::{privileges, sys, threads};

/// A longer line is not an order. Bytes.
const LINE_MOST_B: u64 = 64 << 10;

/// Connections at once.
const CONNECTIONS_MOST: usize = 16;

/// A socket that is removed when this goes.
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Listen at a path, which only this user can then write to. A socket that a killed server left
    /// is removed.
    ///
    /// # Errors
    /// If a server listens there, or anything else is there.
    pub fn bind(path: &Path) -> Result<Self, Fault> {
        let fault = |what: String, next: &str| Fault::new(what, path.display().to_string(), next);
        if UnixStream::connect(path).is_ok() {
            return Err(fault(
                "another server listens there".into(),
                "end that one, or give another --control",
            ));
        }
        let failed = |error: io::Error| {
            fault(
                format!("cannot listen there: {error}"),
                "give --control a path of a file that does not exist",
            )
        };
        let is_socket =
            |found: fs::Metadata| std::os::unix::fs::FileTypeExt::is_socket(&found.file_type());
        if fs::symlink_metadata(path).is_ok_and(is_socket) {
            fs::remove_file(path).map_err(failed)?;
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        Ok(Self {
            listener,
            path: path.to_owned(),
        })
    }

    /// Serve connections in a thread of their own, for ever.
    ///
    /// # Errors
    /// If there is no further thread or descriptor.
    pub fn serve(&self, handler: Arc<Handler>) -> io::Result<()> {
        let listener = self.listener.try_clone()?;
        threads::named("control").spawn(move || {
            // Its callers' threads inherit it.
            let _ = sys::set_realtime(Some(privileges::ORDERING));
            let count = Arc::new(AtomicUsize::new(0));
            for stream in listener.incoming().flatten() {
                if count.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MOST {
                    count.fetch_sub(1, Ordering::Relaxed);
                    let busy = Refusal::new("too many connections", "close one of them");
                    let _ = send(&stream, &busy.reply());
                    continue;
                }
                let (handler, counted) = (Arc::clone(&handler), Arc::clone(&count));
                let talk = move || {
                    // A caller that goes away in the middle has lost its answer, nothing else.
                    let _ = converse(&stream, &handler);
                    counted.fetch_sub(1, Ordering::Relaxed);
                };
                if threads::named("caller").spawn(talk).is_err() {
                    count.fetch_sub(1, Ordering::Relaxed);
                }
            }
        })?;
        Ok(())
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Answer line by line until the caller closes.
fn converse(stream: &UnixStream, handler: &Handler) -> io::Result<()> {
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines
            .by_ref()
            .take(LINE_MOST_B)
            .read_until(b'\n', &mut line)?
            == 0
        {
            return Ok(());
        }
        if line.len() as u64 == LINE_MOST_B && !line.ends_with(b"\n") {
            let long = Refusal::new("the line is too long", "send one JSON object a line");
            // What follows cannot be told from the rest of this line.
            return send(stream, &long.reply());
        }
        if !line.trim_ascii().is_empty() {
            send(stream, &reply(&line, handler))?;
        }
    }
}

/// The answer to a line.
pub fn reply(line: &[u8], handler: &Handler) -> Value {
    let order = serde_json::from_slice(line).map_err(|error| {
        Refusal::new(
            format!("no order: {error}"),
            "send a line such as {\"do\": \"describe\"}; see `fsgreen-simdisk serve --help`",
        )
    });
    match order.and_then(|order| handler.carry_out(order)) {
        Ok(mut answer) => {
            answer.insert("ok".into(), json!(true));
            Value::Object(answer)
        }
        Err(refusal) => refusal.reply(),
    }
}

fn send(mut stream: &UnixStream, answer: &Value) -> io::Result<()> {
    stream.write_all(format!("{answer}\n").as_bytes())
}
