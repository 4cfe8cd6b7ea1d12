//! The words of the language, and those that are known but not supported yet.

pub const COMMANDS: &[&str] = &["set", "define", "create", "eventgen", "run", "echo"];

pub const LATER_COMMANDS: &[&str] = &[
    "psrun",
    "sleep",
    "system",
    "list",
    "debug",
    "version",
    "quit",
    "enable",
    "domultisync",
    "usage",
    "load",
    "stats",
    "foreach",
    "shutdown",
];

/// The attributes of one kind of object.
pub struct Attributes {
    pub of: &'static str,
    pub known: &'static [&'static str],
    pub later: &'static [&'static str],
}

pub const FILESET: Attributes = Attributes {
    of: "a fileset",
    known: &[
        "name",
        "path",
        "size",
        "entries",
        "dirwidth",
        "dirgamma",
        "prealloc",
        "paralloc",
        "readonly",
        "writeonly",
    ],
    later: &[
        "leafdirs",
        "dirdepthrv",
        "reuse",
        "trusttree",
        "cached",
        "filesizegamma",
    ],
};

pub const PROCESS: Attributes = Attributes {
    of: "a process",
    known: &["name", "instances", "nice"],
    later: &[],
};

pub const THREAD: Attributes = Attributes {
    of: "a thread",
    known: &["name", "instances", "memsize"],
    later: &["useism", "ioprio"],
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
        "value",
        "target",
        "blocking",
        "highwater",
    ],
    later: &["opennext", "indexed", "noreadahead"],
};

pub const EVENTGEN: Attributes = Attributes {
    of: "eventgen",
    known: &["rate"],
    later: &[],
};

pub const RANDVAR: Attributes = Attributes {
    of: "a random variable",
    known: &["type", "mean", "gamma", "min", "round"],
    later: &["seed", "randsrc", "randtable"],
};

pub const LATER_FLOWOPS: &[&str] = &[
    "fsyncset",
    "listdir",
    "makedir",
    "removedir",
    "print",
    "testrandvar",
    "rename",
    "truncate",
    "fdatasync",
];

/// The one spelling that the engine uses.
pub fn canonical(attribute: &str) -> &str {
    match attribute {
        "filename" => "filesetname",
        "filesize" => "size",
        other => other,
    }
}
