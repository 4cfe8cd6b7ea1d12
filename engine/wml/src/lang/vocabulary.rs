//! The words of the language, in tables. The kinds of flowops are [`Operation::ALL`].

use super::diagnostic::suggestion;
use crate::model::{ArrivalProcess, Operation, Quit};

pub const COMMANDS: &[&str] = &[
    "set",
    "define",
    "create",
    "eventgen",
    "run",
    "psrun",
    "warmup",
    "sleep",
    "system",
    "echo",
    "list",
    "debug",
    "version",
    "quit",
    "enable",
    "domultisync",
    "sync",
    "dropcaches",
    "verify",
    "foreach",
    "usage",
    "load",
    "stats",
    "shutdown",
];

/// What `define` defines.
pub const DEFINITIONS: &[&str] = &["file", "fileset", "process", "flowop", "randvar"];

/// What `create` creates.
pub const CREATIONS: &[&str] = &["files", "fileset", "filesets", "processes"];

/// What `set mode` sets.
pub const MODES: &[&str] = &["quit", "nousestats"];

/// What `enable` enables.
pub const FEATURES: &[&str] = &["lathist", "multi"];

/// What `list` lists.
pub const LISTS: &[&str] = &["fileset", "flowop"];

pub const QUIT_MODES: &[(&str, Quit)] = &[
    ("timeout", Quit::Timeout),
    ("firstdone", Quit::FirstDone),
    ("alldone", Quit::AllDone),
];

/// What version 1.4's `stats` does, and whether a file or command belongs to it.
pub const STATISTICS: &[(&str, bool)] = &[
    ("clear", false),
    ("snap", false),
    ("dump", true),
    ("xmldump", true),
    ("multidump", true),
    ("command", true),
    ("directory", true),
];

/// The attributes of one kind of object.
pub struct Attributes {
    pub of: &'static str,
    pub known: &'static [&'static str],
}

pub const FILESET: Attributes = Attributes {
    of: "a fileset",
    known: &[
        "name",
        "path",
        "size",
        "entries",
        "leafdirs",
        "dirwidth",
        "dirgamma",
        "dirdepthrv",
        "prealloc",
        "paralloc",
        "reuse",
        "trusttree",
        "readonly",
        "writeonly",
        "compress",
        "cached",
        "filesizegamma",
    ],
};

pub const PROCESS: Attributes = Attributes {
    of: "a process",
    known: &["name", "instances", "nice"],
};

pub const THREAD: Attributes = Attributes {
    of: "a thread",
    known: &[
        "name",
        "instances",
        "memsize",
        "useism",
        "ioprio",
        "rate",
        "arrivals",
    ],
};

pub const FLOWOP: Attributes = Attributes {
    of: "a flowop",
    known: &[
        "name",
        "filesetname",
        "fd",
        "srcfd",
        "iosize",
        "workingset",
        "iters",
        "random",
        "dsync",
        "directio",
        "noreadahead",
        "streams",
        "opennext",
        "indexed",
        "select",
        "theta",
        "value",
        "target",
        "blocking",
        "highwater",
    ],
};

/// Of its definition and of each use; its local variables stand beside them.
pub const COMPOSITE: Attributes = Attributes {
    of: "a composite flowop",
    known: &["name", "iters"],
};

pub const EVENTGEN: Attributes = Attributes {
    of: "eventgen",
    known: &["rate"],
};

pub const RANDVAR: Attributes = Attributes {
    of: "a random variable",
    known: &[
        "type",
        "mean",
        "gamma",
        "min",
        "max",
        "round",
        "seed",
        "randsrc",
        "randtable",
    ],
};

pub const CVAR: Attributes = Attributes {
    of: "a custom variable",
    known: &["type", "parameters", "min", "max", "round"],
};

pub const MULTI: Attributes = Attributes {
    of: "enable multi",
    known: &["master", "client"],
};

pub const MULTISYNC: Attributes = Attributes {
    of: "domultisync",
    known: &["value"],
};

/// Everything that has attributes.
pub const OBJECTS: &[&Attributes] = &[
    &FILESET, &PROCESS, &THREAD, &FLOWOP, &COMPOSITE, &EVENTGEN, &RANDVAR, &CVAR, &MULTI,
    &MULTISYNC,
];

/// Other spellings of attributes, with the one that the engine uses.
pub const SYNONYMS: &[(&str, &str)] = &[("filename", "filesetname"), ("filesize", "size")];

/// The one spelling that the engine uses.
pub fn canonical(attribute: &str) -> &str {
    SYNONYMS
        .iter()
        .find(|(other, _)| *other == attribute)
        .map_or(attribute, |(_, canonical)| canonical)
}

/// How a file or directory is picked (`select`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Selection {
    Rotor,
    Sequential,
    Uniform,
    Zipf,
}

pub const SELECTIONS: &[(&str, Selection)] = &[
    ("rotor", Selection::Rotor),
    ("sequential", Selection::Sequential),
    ("uniform", Selection::Uniform),
    ("zipf", Selection::Zipf),
];

pub const ARRIVALS: &[(&str, ArrivalProcess)] = &[
    ("poisson", ArrivalProcess::Poisson),
    ("constant", ArrivalProcess::Constant),
];

/// The types of `randvar`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RandomType {
    Uniform,
    Gamma,
    Tabular,
}

pub const RANDOM_TYPES: &[(&str, RandomType)] = &[
    ("uniform", RandomType::Uniform),
    ("gamma", RandomType::Gamma),
    ("tabular", RandomType::Tabular),
];

/// Accepted for `randsrc`, without effect: there is one generator.
pub const RANDOM_SOURCES: &[(&str, ())] = &[("rand48", ()), ("urandom", ())];

/// The names and defaults of the parameters of a custom variable.
pub type Parameters = &'static [(&'static str, f64)];

/// The types of `cvar`; each may be written with the prefix `cvar-`.
pub const CUSTOM_TYPES: &[(&str, Parameters)] = &[
    ("uniform", &[("lower", 0.0), ("upper", 1.0)]),
    ("normal", &[("mean", 0.0), ("sigma", 1.0)]),
    ("lognormal", &[("shape", 1.0), ("scale", 1.0)]),
    ("exponential", &[("mean", 1.0)]),
    ("gamma", &[("mean", 4096.0), ("gamma", 1.5)]),
    ("erlang", &[("shape", 1.0), ("rate", 1.0)]),
    ("weibull", &[("shape", 1.0), ("scale", 1.0)]),
    (
        "triangular",
        &[("lower", 0.0), ("upper", 1.0), ("mode", 0.5)],
    ),
];

/// The meaning of a word in a table, or a message with the words that there are.
pub fn choose<T: Copy>(word: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(known, _)| *known == word);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
        let near = suggestion(word, words.iter().copied());
        format!("'{word}' is none of {}{near}", words.join(", "))
    })
}

/// Whether any object has an attribute of that name.
pub fn is_attribute(word: &str) -> bool {
    OBJECTS
        .iter()
        .any(|object| object.known.contains(&canonical(word)))
}

/// The kind of flowop that a word names.
pub fn operation(word: &str) -> Option<Operation> {
    Operation::ALL
        .iter()
        .copied()
        .find(|operation| operation.name() == word)
}
