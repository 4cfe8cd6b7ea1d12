//! Tables as text: a line each, columns by name, others beside them.

use std::fs;
use std::path::Path;

use crate::profile::Fault;

/// A line behind the first, by its number, with what stands in the columns that are needed.
pub struct Row<'a, const N: usize> {
    pub number: usize,
    pub line: &'a str,
    fields: [Option<&'a str>; N],
}

impl<'a, const N: usize> Row<'a, N> {
    pub fn text(&self, nth: usize) -> Option<&'a str> {
        self.fields[nth]
    }

    pub fn number_in(&self, nth: usize) -> Option<u64> {
        self.fields[nth]?.parse().ok()
    }
}

/// The text of a file, and what the file is called in messages.
///
/// # Errors
/// If it cannot be read.
pub fn read(file: &Path) -> Result<(String, String), Fault> {
    let origin = file.display().to_string();
    let text = fs::read_to_string(file).map_err(|error| {
        Fault::new(
            format!("cannot read the trace: {error}"),
            &origin,
            "give the path of a CSV file",
        )
    })?;
    Ok((text, origin))
}

/// All lines with something in them.
///
/// # Errors
/// If the first line does not name a column that is needed.
pub fn rows<'a, const N: usize>(
    text: &'a str,
    origin: &str,
    needed: [&str; N],
) -> Result<Vec<Row<'a, N>>, Fault> {
    let mut lines = (1..).zip(text.lines());
    let head: Vec<_> = lines.next().map_or(Vec::new(), |(_, head)| fields(head));
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(needed) {
        *place = head
            .iter()
            .position(|&column| column == name)
            .ok_or_else(|| {
                Fault::new(
                    format!("the first line names no column {name}"),
                    origin,
                    format!("begin with a line such as {}", needed.join(",")),
                )
            })?;
    }
    let filled = lines.filter(|(_, line)| !line.trim().is_empty());
    let row = |(number, line)| {
        let found = fields(line);
        let fields = places.map(|place| found.get(place).copied());
        Row {
            number,
            line,
            fields,
        }
    };
    Ok(filled.map(row).collect())
}

fn fields(line: &str) -> Vec<&str> {
    line.split(',').map(str::trim).collect()
}
