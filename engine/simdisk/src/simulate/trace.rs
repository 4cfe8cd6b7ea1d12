//! Traces of requests as text: a line each, columns by name.

use std::fmt::Write;

use crate::device::{Action, Command, Extent};
use crate::host::{Request, Served};
use crate::profile::Fault;
use crate::time::Ns;

/// Those that a trace needs; others may stand beside them.
const NEEDED: [&str; 5] = ["stream", "action", "sector", "sectors", "issued_ns"];

/// Append the line of an answered request. In virtual time an answer comes when it is planned.
pub fn write(text: &mut String, served: &Served) {
    let Request {
        command,
        stream,
        issued,
    } = served.sent.request;
    let Extent { sector, sectors } = command.extent;
    let (word, sent, done) = (command.action.word(), served.sent.at, served.done);
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{stream},{word},{sector},{sectors},{issued},{sent},{done},{done}"
    );
}

/// The requests of a trace in the order in which they are issued, for a device of so many sectors.
///
/// # Errors
/// If a column is missing, a line does not hold what it should, or a request lies outside.
pub fn parse(text: &str, origin: &str, device_sectors: u64) -> Result<Vec<Request>, Fault> {
    let mut lines = (1..).zip(text.lines());
    let head: Vec<_> = lines
        .next()
        .map_or("", |(_, head)| head)
        .split(',')
        .map(str::trim)
        .collect();
    let mut places = [0; NEEDED.len()];
    for (place, name) in places.iter_mut().zip(NEEDED) {
        *place = head
            .iter()
            .position(|&column| column == name)
            .ok_or_else(|| {
                Fault::new(
                    format!("the first line names no column {name}"),
                    origin,
                    format!("begin with a line such as {}", NEEDED.join(",")),
                )
            })?;
    }
    let mut requests = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let request = request(line, &places).filter(|request| fits(request, device_sectors));
        requests.push(request.ok_or_else(|| {
            Fault::new(
                format!("this is no request to a device of {device_sectors} sectors: {line}"),
                format!("{origin}:{number}"),
                "write whole numbers, and read, write, flush or discard; a flush has no sectors",
            )
        })?);
    }
    requests.sort_by_key(|request| request.issued);
    for (tag, request) in (0..).zip(&mut requests) {
        request.command.tag = tag;
    }
    Ok(requests)
}

fn request(line: &str, places: &[usize; NEEDED.len()]) -> Option<Request> {
    let fields: Vec<_> = line.split(',').map(str::trim).collect();
    let field = |nth: usize| fields.get(places[nth]).copied();
    let number = |nth| field(nth).and_then(|text| text.parse::<u64>().ok());
    let action = Action::named(field(1)?)?;
    let mut extent = Extent {
        sector: number(2)?,
        sectors: number(3)?,
    };
    if action == Action::Flush {
        extent.sector = 0;
    }
    let issued: Ns = number(4)?;
    Some(Request {
        command: Command {
            tag: 0,
            action,
            extent,
            through: false,
        },
        stream: number(0)?.try_into().ok()?,
        // Times must leave room for what follows.
        issued: (issued <= Ns::MAX / 2).then_some(issued)?,
    })
}

fn fits(request: &Request, device_sectors: u64) -> bool {
    let Extent { sector, sectors } = request.command.extent;
    match request.command.action {
        Action::Flush => sectors == 0,
        _ => {
            sectors > 0
                && sector
                    .checked_add(sectors)
                    .is_some_and(|end| end <= device_sectors)
        }
    }
}
