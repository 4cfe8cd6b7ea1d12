//! `proxy`: a way to a server that is long, or loses.

use std::time::Duration;

use lexopt::{Parser, prelude::*};
use serde_json::json;

use super::command::{Command, address, number, print_json, usage};
use crate::fault::Fault;
use crate::proxy::{Proxy, Settings};
use crate::sys::Signals;

pub const COMMAND: Command = Command {
    name: "proxy",
    about: "delay and lose what goes to a server and back",
    help: HELP,
    run,
};

const HELP: &str = "\
fsgreen-nfs proxy HOST:PORT [OPTION]...

Take TCP and UDP, and carry them to the server at HOST:PORT and back, later, until SIGTERM, SIGINT
or SIGHUP. Datagrams can be lost; of a stream nothing is, which its kernel would mend.

  --listen HOST:PORT    (127.0.0.1:0, any port that is free)
  --delay-ms N          each way (0)
  --loss-percent N      of the datagrams, each way (0)
  --seed N              of which are lost (0)

Prints the address as JSON once it can be used.

Example: fsgreen-nfs proxy 127.0.0.1:2049 --listen 127.0.0.1:2050 --loss-percent 2 --delay-ms 5
";

fn run(parser: &mut Parser) -> Result<Option<()>, Fault> {
    let Some(settings) = arguments(parser).map_err(|error| usage(COMMAND.name, error))? else {
        return Ok(None);
    };
    let signals = Signals::hold();
    let proxy = Proxy::start(settings).map_err(|error| {
        let next = "another address, or --listen 127.0.0.1:0 for any port that is free";
        Fault::of(settings.listen, &error, next)
    })?;
    print_json(&json!({ "address": proxy.address }))?;
    signals.wait();
    Ok(Some(()))
}

fn arguments(parser: &mut Parser) -> Result<Option<Settings>, lexopt::Error> {
    let (mut server, mut listen) = (None, "127.0.0.1:0".to_owned());
    let (mut delay_ms, mut loss_percent, mut seed) = (0, 0, 0);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("listen") => listen = parser.value()?.string()?,
            Long("delay-ms") => delay_ms = number(parser, (0, 60_000))?,
            Long("loss-percent") => loss_percent = number(parser, (0, 100))?,
            Long("seed") => seed = parser.value()?.parse()?,
            Value(text) if server.is_none() => server = Some(address(&text.string()?)?),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(Settings {
        listen: address(&listen)?,
        server: server.ok_or("which HOST:PORT?")?,
        delay: Duration::from_millis(delay_ms),
        loss_percent,
        seed,
    }))
}
