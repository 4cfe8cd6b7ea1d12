//! `serve` and `certificates`: a remote for others, over the network.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::{Parser, prelude::*};

use super::asked::usage;
use crate::fault::Fault;
use crate::net::{self, Settings};

/// Nobody comes there from another machine.
const LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 7420);

const CLIENT: &str = "client";

/// Serve until a signal asks for the end. None asks for the help.
pub fn run(parser: &mut Parser) -> Result<Option<(String, ExitCode)>, Fault> {
    let Some(settings) = settings(parser).map_err(usage)? else {
        return Ok(None);
    };
    net::serve(&settings, |address| {
        let mut output = io::stdout().lock();
        // Who started it may be gone.
        let _ = writeln!(output, "serving {} on {address}", settings.folder.display())
            .and_then(|()| output.flush());
    })?;
    Ok(Some((String::new(), ExitCode::SUCCESS)))
}

fn settings(parser: &mut Parser) -> Result<Option<Settings>, lexopt::Error> {
    let (mut folder, mut listen, mut keep) = (None, LISTEN, None);
    let (mut certificate, mut key, mut clients) = (None, None, None);
    let (mut pool, mut pool_key) = (None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("listen") => listen = parser.value()?.parse()?,
            Long("cert") => certificate = Some(parser.value()?.into()),
            Long("key") => key = Some(parser.value()?.into()),
            Long("clients") => clients = Some(parser.value()?.into()),
            Long("keep") => keep = Some(parser.value()?.into()),
            Long("pool") => pool = Some(parser.value()?.into()),
            Long("pool-key") => pool_key = Some(parser.value()?.into()),
            Value(path) if folder.is_none() => folder = Some(path.into()),
            other => return Err(other.unexpected()),
        }
    }
    if pool_key.is_some() && pool.is_none() {
        return Err("of which pool is --pool-key? Name it with --pool".into());
    }
    Ok(Some(Settings {
        folder: folder.ok_or("which folder is to be served?")?,
        listen,
        certificate: certificate.ok_or("which certificate is --cert?")?,
        key: key.ok_or("which key is --key?")?,
        clients: clients.ok_or("which authority of clients is --clients?")?,
        keep,
        pool,
        pool_key,
    }))
}

/// Make keys. None asks for the help.
pub fn certificates(parser: &mut Parser) -> Result<Option<(String, ExitCode)>, Fault> {
    let Some((folder, hosts, client)) = wish(parser).map_err(usage)? else {
        return Ok(None);
    };
    let mut text = String::new();
    for made in net::make(&folder, &hosts, &client)? {
        let _ = writeln!(text, "made {}", made.display());
    }
    Ok(Some((text, ExitCode::SUCCESS)))
}

type Wish = (PathBuf, Vec<String>, String);

fn wish(parser: &mut Parser) -> Result<Option<Wish>, lexopt::Error> {
    let (mut folder, mut hosts, mut client) = (None, Vec::new(), CLIENT.to_owned());
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("host") => hosts.push(parser.value()?.string()?),
            Long("client") => client = parser.value()?.string()?,
            Value(path) if folder.is_none() => folder = Some(path.into()),
            other => return Err(other.unexpected()),
        }
    }
    let folder = folder.ok_or("in which folder are the keys to be made?")?;
    Ok(Some((folder, hosts, client)))
}
