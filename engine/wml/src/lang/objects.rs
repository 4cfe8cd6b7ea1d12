//! Filesets, processes, threads and flowops, each from its attributes.

use super::ast::{self, Span, Spanned};
use super::attributes::AttributeReader;
use super::diagnostic::{Diagnostic, suggestion};
use super::resolve::Resolver;
use super::vocabulary::{self, LATER_FLOWOPS};
use crate::model::{Fileset, Flowop, Node, Operation, Process, SLOTS, Select, Thread};

impl Resolver {
    pub(super) fn fileset(
        &mut self,
        single: bool,
        attributes: &[ast::Attribute],
        span: Span,
    ) -> Fileset {
        let mut read = self.reader(attributes, &vocabulary::FILESET, span);
        let fileset = Fileset {
            name: read.required_text("name"),
            path: read.required_text("path"),
            size: read.amount("size", 1024.0),
            entries: read.count("entries", u64::from(single), 1),
            dirwidth: read.amount("dirwidth", if single { 10.0 } else { 0.0 }),
            dirgamma: read.number("dirgamma", if single { 0.0 } else { 1500.0 }) / 1000.0,
            prealloc_percent: read.percentage("prealloc"),
            paralloc: read.flag("paralloc"),
            readonly: read.flag("readonly"),
            writeonly: read.flag("writeonly"),
            ..Fileset::default()
        };
        let plain = !fileset.name.is_empty()
            && fileset
                .name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
            && fileset.name.chars().any(|c| c.is_ascii_alphanumeric());
        if read.has("name") && !plain {
            read.error(
                "name",
                "a fileset's name is one folder: letters, digits, . _ -".into(),
            );
        }
        if fileset.dirwidth.mean() < 2.0 {
            read.error("dirwidth", "'dirwidth' must be at least 2".to_owned());
        }
        if fileset.entries > u64::from(u32::MAX) {
            read.error(
                "entries",
                "a fileset has at most 4 billion entries".to_owned(),
            );
        }
        fileset
    }

    pub(super) fn process(&mut self, process: &ast::Process, span: Span) -> Process {
        let mut read = self.reader(&process.attributes, &vocabulary::PROCESS, span);
        let name = read.required_text("name");
        let instances = read.count("instances", 1, 1);
        let nice = read.number("nice", 0.0) as i32;
        if process.threads.is_empty() {
            read.error("name", format!("process '{name}' has no thread"));
        }
        let threads = process
            .threads
            .iter()
            .map(|thread| self.thread(thread))
            .collect();
        Process {
            name,
            instances,
            nice,
            threads,
        }
    }

    fn thread(&mut self, thread: &ast::Thread) -> Thread {
        let mut read = self.reader(&thread.attributes, &vocabulary::THREAD, thread.span);
        let name = read.required_text("name");
        let instances = read.count("instances", 1, 1);
        let memsize = read.count("memsize", 0, 0);
        if thread.flowops.is_empty() {
            read.error("name", format!("thread '{name}' has no flowop"));
        }
        let flowops: Vec<Flowop> = thread
            .flowops
            .iter()
            .filter_map(|flowop| self.flowop(flowop))
            .collect();
        Thread {
            name,
            instances,
            memsize,
            ioprio: None,
            arrivals: None,
            body: (0..flowops.len()).map(Node::Flowop).collect(),
            flowops,
        }
    }

    fn flowop(&mut self, flowop: &ast::Flowop) -> Option<Flowop> {
        let Spanned { node: word, span } = &flowop.operation;
        let Some(operation) = Operation::ALL
            .iter()
            .find(|operation| operation.name() == word)
        else {
            let message = if LATER_FLOWOPS.contains(&word.as_str()) {
                format!("flowop '{word}' is not supported yet")
            } else {
                let near = suggestion(word, Operation::ALL.iter().map(|known| known.name()));
                format!("unknown flowop '{word}'{near}")
            };
            self.diagnostics.push(Diagnostic::error(*span, message));
            return None;
        };
        let filesets: Vec<String> = self.model.filesets.iter().map(|f| f.name.clone()).collect();
        let mut read = self.reader(&flowop.attributes, &vocabulary::FLOWOP, *span);
        let fileset = read.text("filesetname").and_then(|name| {
            let found = filesets.iter().position(|known| *known == name);
            if found.is_none() {
                let near = suggestion(&name, filesets.iter().map(String::as_str));
                read.error(
                    "filesetname",
                    format!("no fileset '{name}' is defined above{near}"),
                );
            }
            found
        });
        let target = read.text("target");
        let target = target.map(|node| Spanned {
            node,
            span: read.span_of("target"),
        });
        let slot = |read: &mut AttributeReader, name: &str| {
            let fd = read.count(name, 0, 0) as usize;
            if fd >= SLOTS {
                read.error(name, format!("'{name}' must be below {SLOTS}"));
            }
            fd
        };
        let resolved = Flowop {
            name: read.required_text("name"),
            operation: *operation,
            fileset,
            fd: slot(&mut read, "fd"),
            srcfd: read.has("srcfd").then(|| slot(&mut read, "srcfd")),
            iosize: read.amount("iosize", 0.0),
            workingset: read.amount("workingset", 0.0),
            iters: read.amount("iters", 1.0),
            random: read.flag("random"),
            dsync: read.flag("dsync"),
            directio: read.flag("directio"),
            noreadahead: false,
            opennext: false,
            select: Select::default(),
            indexed: None,
            value: read.amount("value", 0.0),
            targets: Vec::new(),
            blocking: read.flag("blocking"),
            highwater: read.count("highwater", 1, 1).min(u64::from(u32::MAX >> 1)) as u32,
        };
        self.spans.flowops.push(*span);
        self.spans.targets.push(target);
        Some(resolved)
    }
}
