//! The Python module `fsgreen_engine`: checking texts, and disks in virtual time. Runs go through
//! the program `fsgreen-wml`, so that their processor time and their end are apart from Python's.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use simdisk::profile::Profile;
use simdisk::simulate::Experiment;
use wml::lang::{self, Diagnostic, Source};
use wml::model::{Program, Run};

/// Return the version of the engine.
#[pyfunction]
fn version() -> &'static str {
    wml::ENGINE
}

/// Check a text in the Workload Model Language.
///
/// Parameters
/// ----------
/// text : str
///     The text.
/// variables : dict of str to str, optional
///     Values that override the text's own `set` commands, as on the command line.
///
/// Returns
/// -------
/// dict
///     `diagnostics`: a list of dicts with severity, line, column and message.
///     `model`: None if there was an error or the text has no run; else the filesets with their
///     size in bytes, the processes, the rate in ops/s and the variables of the first run.
#[pyfunction]
#[pyo3(signature = (text, variables=None))]
fn check<'py>(
    py: Python<'py>,
    text: &str,
    variables: Option<BTreeMap<String, String>>,
) -> PyResult<Bound<'py, PyAny>> {
    let variables = variables.unwrap_or_default();
    let overrides = variables
        .into_iter()
        .map(|(name, value)| (name, lang::parse_value(&value)));
    let checked = lang::check(text, &overrides.collect());
    let source = Source::new("", text);
    let found = json!({
        "diagnostics":
            checked.diagnostics.iter().map(|found| diagnostic(found, &source)).collect::<Vec<_>>(),
        "model": checked.program.as_ref().and_then(summary),
    });
    loads(py, found.to_string())
}

/// Simulate a device in virtual time: concurrent readers, random writes, or the requests of a trace.
///
/// Nothing is measured: `basis` in what is returned is `simulated`. The same text gives the same
/// result to the last digit.
///
/// Parameters
/// ----------
/// experiment : str
///     What is to be simulated, in JSON: `disk` (the name of a profile, or the path of one),
///     `work` (`{"readers": {...}}`, `{"writes": {...}}` or `{"replay": {"file": PATH}}`) and, if
///     they are not the defaults, `scheduler`, `overrides`, `state`, `power` and `log`. The options
///     of the commands `fsgreen-simdisk readers`, `writes` and `replay` have the same names.
///
/// Returns
/// -------
/// dict
///     Times in ns, energies in fJ by part of the device, counters, when each reader was done,
///     and how far the scheduler and the device changed the order of the requests.
///
/// Raises
/// ------
/// ValueError
///     If the text, the profile, the trace or a number is wrong: what, where, and the next step.
#[pyfunction]
fn simulate<'py>(py: Python<'py>, experiment: &str) -> PyResult<Bound<'py, PyAny>> {
    let done = py.detach(|| Experiment::parse(experiment)?.run());
    let report = done.map_err(|fault| PyValueError::new_err(fault.to_string()))?;
    let text = serde_json::to_string(&report).expect("a report is plain data");
    loads(py, text)
}

/// Return the files of the built-in profiles of disks and SSDs, by name.
#[pyfunction]
fn profiles() -> BTreeMap<&'static str, &'static str> {
    let names = Profile::names();
    names
        .filter_map(|name| Some((name, Profile::text(name)?)))
        .collect()
}

fn loads(py: Python<'_>, text: String) -> PyResult<Bound<'_, PyAny>> {
    py.import("json")?.call_method1("loads", (text,))
}

fn diagnostic(diagnostic: &Diagnostic, source: &Source) -> Value {
    let (line, column) = source.position(diagnostic);
    let severity = diagnostic.severity.name();
    json!({ "severity": severity, "line": line, "column": column, "message": diagnostic.message })
}

/// What the first run of a program works with.
fn summary(program: &Program) -> Option<Value> {
    let Run {
        model, variables, ..
    } = program.runs().next()?;
    let processes = model.processes.iter().map(|process| {
        let threads = process.threads.iter().map(|thread| {
            json!({
                "name": thread.name,
                "instances": thread.instances,
                "flowops": thread.flowops.iter().map(|f| f.operation.name()).collect::<Vec<_>>(),
            })
        });
        json!({
            "name": process.name,
            "instances": process.instances,
            "threads": threads.collect::<Vec<_>>(),
        })
    });
    Some(json!({
        "filesets": model.filesets,
        "processes": processes.collect::<Vec<_>>(),
        "rate_ops_s": model.rate,
        "variables": variables,
        "size_b": model.filesets.iter().map(wml::model::Fileset::mean_size_b).sum::<f64>().ceil(),
    }))
}

#[pymodule]
fn fsgreen_engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(simulate, module)?)?;
    module.add_function(wrap_pyfunction!(profiles, module)?)
}
