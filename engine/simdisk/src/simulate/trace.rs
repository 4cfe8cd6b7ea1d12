//! Traces of requests as text: a line each, columns by name.

use std::fmt::Write;

use crate::device::{Action, Command, Extent};
use crate::host::{Request, Served};
use crate::profile::Fault;
use crate::simulate::columns::{Row, rows};
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
    let mut requests = Vec::new();
    for row in rows(text, origin, NEEDED)? {
        let request = request(&row).filter(|request| fits(request, device_sectors));
        requests.push(request.ok_or_else(|| {
            Fault::new(
                format!(
                    "this is no request to a device of {device_sectors} sectors: {}",
                    row.line
                ),
                format!("{origin}:{}", row.number),
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

fn request(row: &Row<'_, { NEEDED.len() }>) -> Option<Request> {
    let action = Action::named(row.text(1)?)?;
    let mut extent = Extent {
        sector: row.number_in(2)?,
        sectors: row.number_in(3)?,
    };
    if action == Action::Flush {
        extent.sector = 0;
    }
    let issued: Ns = row.number_in(4)?;
    Some(Request {
        command: Command {
            tag: 0,
            action,
            extent,
            through: false,
        },
        stream: row.number_in(0)?.try_into().ok()?,
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
