//! What `list` prints.

use std::fmt::Write;

use crate::model::{Fileset, Model};
use crate::random::Amount;

pub fn filesets(filesets: &[Fileset]) -> String {
    if filesets.is_empty() {
        return "no filesets".to_owned();
    }
    let mut text = format!("{} filesets", filesets.len());
    for fileset in filesets {
        let Fileset {
            name,
            path,
            entries,
            leafdirs,
            prealloc_percent,
            ..
        } = fileset;
        let size = amount(&fileset.size);
        let _ = write!(
            text,
            "\n  {name} in {path}: {entries} files of {size} bytes, {leafdirs} leaf directories, \
             {prealloc_percent} % exist at the start"
        );
    }
    text
}

pub fn flowops(model: &Model) -> String {
    let mut text = format!("{} flowops", model.flowops().count());
    for process in &model.processes {
        for thread in &process.threads {
            let instances = process.instances * thread.instances;
            let _ = write!(
                text,
                "\n  {}/{}, {instances} times",
                process.name, thread.name
            );
            for flowop in &thread.flowops {
                let _ = write!(text, "\n    {}: {}", flowop.name, flowop.operation.name());
                if let Some(fileset) = flowop.fileset.and_then(|nth| model.filesets.get(nth)) {
                    let _ = write!(text, " on {}", fileset.name);
                }
            }
        }
    }
    text
}

fn amount(amount: &Amount) -> String {
    match amount {
        Amount::Fixed(number) => number.to_string(),
        random => format!("about {:.0}", random.mean()),
    }
}
