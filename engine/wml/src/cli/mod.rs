//! The command line.

mod arguments;
mod help;
mod output;

use std::ffi::OsString;
use std::fs;

use crate::ENGINE;
use crate::failure::{Exit, Failure};
use crate::lang::{self, Checked, Diagnostic, Severity};
use crate::model::Program;
use crate::report::{Host, Report, SCHEMA};
use crate::run::Halt;
use crate::session::{self, Done};
use crate::signals;
use crate::stderr::say;
use arguments::{Arguments, Command};

/// Do what the arguments ask; errors are printed here.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    dispatch(lexopt::Parser::from_args(arguments)).unwrap_or_else(|failure| {
        say!("fsgreen-wml: {failure}");
        Exit::Failed
    })
}

fn dispatch(mut parser: lexopt::Parser) -> Result<Exit, Failure> {
    use lexopt::prelude::*;
    let usage = |error: lexopt::Error| Failure::new(error.to_string()).next("fsgreen-wml --help");
    let command = match parser.next().map_err(usage)? {
        Some(Value(word)) => match word.to_str().and_then(Command::named) {
            Some(command) => command,
            None => return Err(usage(Value(word).unexpected())),
        },
        Some(Short('V') | Long("version")) => {
            output::print(&format!("{ENGINE}\n"))?;
            return Ok(Exit::Ok);
        }
        Some(Short('h') | Long("help")) | None => {
            output::print(help::HELP)?;
            return Ok(Exit::Ok);
        }
        Some(other) => return Err(usage(other.unexpected())),
    };
    match arguments::parse(command, &mut parser).map_err(usage)? {
        Some(arguments) => execute(command, arguments),
        None => {
            output::print(help::of(command))?;
            Ok(Exit::Ok)
        }
    }
}

fn execute(command: Command, mut arguments: Arguments) -> Result<Exit, Failure> {
    let file = arguments.file.display().to_string();
    let text = fs::read_to_string(&arguments.file)
        .map_err(|error| Failure::io(format!("cannot read {file}"), &error))?;
    if command == Command::Fmt {
        return format(&arguments, &file, &text);
    }
    let Some(program) = checked(&file, &text, &arguments) else {
        return Ok(Exit::Text);
    };
    if command == Command::Check {
        output::print(&format!("{file}: {}: no errors\n", size(&program)))?;
        return Ok(Exit::Ok);
    }
    if let Some(path) = &arguments.json {
        output::check(path)?;
    }
    signals::block();
    arguments.options.prepared |= command == Command::Verify;
    let done = match command {
        Command::Run => session::execute(&program, &arguments.options),
        _ => session::prepare(&program, &arguments.options),
    };
    finish(command, &arguments, file, program, done)
}

fn format(arguments: &Arguments, file: &str, text: &str) -> Result<Exit, Failure> {
    match lang::format(text) {
        Ok(formatted) if !arguments.write => output::print(&formatted)?,
        Ok(formatted) if formatted == text => {}
        Ok(formatted) => output::replace(&arguments.file, &formatted)?,
        Err(diagnostic) => {
            say!("{}", diagnostic.render(file, text));
            return Ok(Exit::Text);
        }
    }
    Ok(Exit::Ok)
}

/// The program, unless the text is wrong; everything found is printed.
fn checked(file: &str, text: &str, arguments: &Arguments) -> Option<Program> {
    let Checked {
        program,
        diagnostics,
    } = lang::check(text, &arguments.overrides);
    for diagnostic in &diagnostics {
        say!("{}", diagnostic.render(file, text));
    }
    let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
    let errors = diagnostics.iter().filter(is_error).count();
    if errors > 0 {
        let errors = counted(errors as u64, "error", "errors");
        say!("fsgreen-wml: {errors} in {file}");
    }
    program
}

/// What a text works with, in a line.
fn size(program: &Program) -> String {
    let runs: Vec<String> = program
        .runs()
        .map(|run| {
            let model = &run.model;
            [
                counted(model.filesets.len() as u64, "fileset", "filesets"),
                counted(model.process_count(), "process", "processes"),
                counted(model.thread_count(), "thread", "threads"),
                counted(model.flowops().count() as u64, "flowop", "flowops"),
            ]
            .join(", ")
        })
        .collect();
    match runs.as_slice() {
        [] => "no run".to_owned(),
        [run] => run.clone(),
        [first, ..] => format!("{} runs, the first with {first}", runs.len()),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    let what = if count == 1 { one } else { many };
    format!("{count} {what}")
}

/// Write the results and say how it ended.
fn finish(
    command: Command,
    arguments: &Arguments,
    file: String,
    program: Program,
    done: Done,
) -> Result<Exit, Failure> {
    let reason = match done.halt {
        None => None,
        Some(Halt::Failed(failure)) if done.runs.is_empty() => return Err(failure),
        Some(Halt::Failed(failure)) => {
            say!("fsgreen-wml: {failure}");
            Some(failure.message().to_owned())
        }
        Some(Halt::Cut(reason)) => {
            say!("fsgreen-wml: {reason}: what was done is partial");
            Some(reason)
        }
    };
    let exit = if reason.is_some() {
        Exit::Partial
    } else {
        Exit::Ok
    };
    if command == Command::Verify {
        if exit == Exit::Ok {
            let count = done.filesets.len() as u64;
            let filesets = counted(count, "fileset", "filesets");
            output::print(&format!("{file}: {filesets} as prepared\n"))?;
        }
        return Ok(exit);
    }
    let report = Report {
        schema: SCHEMA,
        engine: ENGINE,
        file,
        seed: arguments.options.seed,
        host: Host::here(),
        partial: reason.is_some(),
        reason,
        filesets: done.filesets,
        variables: program.variables,
        prepare: done.prepared,
        notes: done.notes,
        runs: done.runs,
    };
    output::report(&report, arguments.json.as_deref())?;
    Ok(exit)
}
