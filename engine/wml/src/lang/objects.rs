//! Filesets, processes and threads, each from its attributes.

use std::collections::HashSet;

use super::ast::{self, Span};
use super::diagnostic::Diagnostic;
use super::flowops::Place;
use super::resolve::{Defined, Resolver};
use super::vocabulary;
use crate::model::{ArrivalProcess, Arrivals, Fileset, MAX_ENTRIES, Process, Thread};
use crate::random::{Amount, Distribution, Shape};

const MAX_INSTANCES: u64 = 1_000_000;
const MAX_MEMORY_B: u64 = 1 << 40;
/// Best-effort I/O priorities are 0 to 7; this one leaves a thread what it has.
const LEAVE_PRIORITY: i32 = 8;

impl<'a> Resolver<'a> {
    pub(super) fn fileset(&mut self, fileset: &'a ast::Fileset, span: Span) -> Fileset {
        let single = fileset.single;
        let mut read = self.reader(&fileset.attributes, &vocabulary::FILESET, span);
        let name = read.required_text("name");
        if read.has("name") && !is_plain(&name) {
            let message = "a fileset's name is one folder: letters, digits, . _ -";
            read.error("name", message);
        }
        let path = read.required_text("path");
        if read.has("path") && path.is_empty() {
            read.error("path", "the path of a fileset must not be empty");
        }
        let dirwidth = read.amount("dirwidth", if single { 10.0 } else { 0.0 });
        if dirwidth.mean() < 2.0 {
            read.error(
                "dirwidth",
                "a fileset needs a 'dirwidth' of at least 2, such as dirwidth=20",
            );
        }
        let leafdirs = read.count("leafdirs", 0, 0..=MAX_ENTRIES);
        let least = u64::from(leafdirs == 0);
        let size = read.amount("size", 1024.0);
        let shape = read.number("filesizegamma", 0.0) / 1000.0;
        let fileset = Fileset {
            name,
            path,
            size: match size {
                Amount::Fixed(mean) if shape > 0.0 => Amount::Random(Distribution {
                    shape: Shape::Gamma(shape),
                    mean,
                    ..Distribution::default()
                }),
                size => size,
            },
            entries: read.count("entries", u64::from(single), least..=MAX_ENTRIES),
            leafdirs,
            dirwidth,
            dirgamma: read.number("dirgamma", if single { 0.0 } else { 1500.0 }) / 1000.0,
            dirdepth: read.distribution("dirdepthrv"),
            prealloc_percent: read.percentage("prealloc"),
            paralloc: read.flag("paralloc"),
            reuse: read.flag("reuse"),
            trusttree: read.flag("trusttree"),
            compress_percent: read.percentage("compress"),
            readonly: read.flag("readonly"),
            writeonly: read.flag("writeonly"),
        };
        if fileset.readonly && fileset.writeonly {
            read.error("writeonly", "a fileset is readonly or writeonly, not both");
        }
        read.warn_if_present(
            "cached",
            "version 1.4's 'cached' has no effect; 'dropcaches' empties the page cache",
        );
        read.warn_if_present(
            "filesizegamma",
            "version 1.4's 'filesizegamma' makes the sizes gamma variates around a fixed 'size'; \
             write size=$size with set $size=randvar(type=gamma, mean=..., gamma=...)",
        );
        fileset
    }

    pub(super) fn processes(&mut self) -> Vec<Process> {
        let mut processes = Vec::new();
        let mut names = HashSet::new();
        for nth in 0..self.definitions.processes.len() {
            let Defined { node, span, scope } = self.definitions.processes[nth].clone();
            if !self.spend(span) {
                break;
            }
            self.variables.enter(scope);
            let process = self.process(node, span);
            self.variables.leave();
            if !process.name.is_empty() && !names.insert(process.name.clone()) {
                let message = format!("there are two processes '{}'", process.name);
                self.diagnostics.push(Diagnostic::error(span, message));
            }
            processes.push(process);
        }
        processes
    }

    fn process(&mut self, process: &'a ast::Process, span: Span) -> Process {
        let mut read = self.reader(&process.attributes, &vocabulary::PROCESS, span);
        let name = read.required_text("name");
        let instances = read.count("instances", 1, 1..=MAX_INSTANCES);
        let nice = read.integer("nice", 0, -20..=19);
        if process.threads.is_empty() {
            read.error("name", format!("process '{name}' has no thread"));
        }
        let mut threads: Vec<Thread> = Vec::new();
        let mut names = HashSet::new();
        for thread in &process.threads {
            let span = thread.span;
            if !self.spend(span) {
                break;
            }
            let thread = self.thread(thread);
            if !thread.name.is_empty() && !names.insert(thread.name.clone()) {
                let message = format!("process '{name}' has two threads '{}'", thread.name);
                self.diagnostics.push(Diagnostic::error(span, message));
            }
            threads.push(thread);
        }
        Process {
            name,
            instances,
            nice,
            threads,
        }
    }

    fn thread(&mut self, thread: &'a ast::Thread) -> Thread {
        let mut read = self.reader(&thread.attributes, &vocabulary::THREAD, thread.span);
        let name = read.required_text("name");
        let instances = read.count("instances", 1, 1..=MAX_INSTANCES);
        let memsize = read.count("memsize", 0, 0..=MAX_MEMORY_B);
        let ioprio = read.integer("ioprio", LEAVE_PRIORITY, 0..=LEAVE_PRIORITY);
        let rate = read.number("rate", 0.0);
        let arrivals = read.choice("arrivals", vocabulary::ARRIVALS);
        if read.has("arrivals") && !read.has("rate") {
            read.error("arrivals", "'arrivals' needs a 'rate'");
        }
        read.flag("useism");
        read.warn_if_present(
            "useism",
            "'useism' has no effect: each thread has a buffer of its own",
        );
        if thread.flowops.is_empty() {
            read.error("name", format!("thread '{name}' has no flowop"));
        }
        let mut flowops = Vec::new();
        let body = self.nodes(&thread.flowops, &Place::outside(self), &mut flowops);
        Thread {
            name,
            instances,
            memsize,
            ioprio: (ioprio != LEAVE_PRIORITY).then_some(ioprio as u8),
            arrivals: (rate > 0.0).then(|| Arrivals {
                rate,
                process: arrivals.unwrap_or(ArrivalProcess::Poisson),
            }),
            flowops,
            body,
        }
    }
}

/// Whether a name is one folder.
fn is_plain(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    name.chars().all(allowed) && name.chars().any(|c| c.is_ascii_alphanumeric())
}
