//! The kinds of flowops.

use serde::Serialize;

macro_rules! operations {
    ($($variant:ident $name:literal $class:ident,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Operation { $($variant),* }

        impl Operation {
            pub const ALL: &'static [Operation] = &[$(Operation::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $(Operation::$variant => $name),* }
            }

            pub fn class(self) -> Class {
                match self { $(Operation::$variant => Class::$class),* }
            }
        }
    };
}

/// How a flowop is accounted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// I/O that moves no data.
    Metadata,
    Reads,
    Writes,
    /// Synchronisation, limits and idling: measured, but no work.
    Other,
}

operations! {
    OpenFile "openfile" Metadata,
    CreateFile "createfile" Metadata,
    CloseFile "closefile" Metadata,
    DeleteFile "deletefile" Metadata,
    StatFile "statfile" Metadata,
    Read "read" Reads,
    Write "write" Writes,
    ReadWholeFile "readwholefile" Reads,
    WriteWholeFile "writewholefile" Writes,
    AppendFile "appendfile" Writes,
    AppendFileRand "appendfilerand" Writes,
    Fsync "fsync" Metadata,
    FsyncSet "fsyncset" Metadata,
    Fdatasync "fdatasync" Metadata,
    FsyncDir "fsyncdir" Metadata,
    ListDir "listdir" Metadata,
    ListStatDir "liststatdir" Metadata,
    MakeDir "makedir" Metadata,
    RemoveDir "removedir" Metadata,
    RenameFile "renamefile" Metadata,
    LinkFile "linkfile" Metadata,
    SymlinkFile "symlinkfile" Metadata,
    TruncateFile "truncatefile" Metadata,
    Fallocate "fallocate" Metadata,
    ChmodFile "chmodfile" Metadata,
    SetXattr "setxattr" Metadata,
    GetXattr "getxattr" Metadata,
    MmapRead "mmapread" Reads,
    MmapWrite "mmapwrite" Writes,
    CopyFileRange "copyfilerange" Writes,
    UringRead "uringread" Reads,
    UringWrite "uringwrite" Writes,
    UringWait "uringwait" Metadata,
    AioWrite "aiowrite" Writes,
    AioWait "aiowait" Metadata,
    Block "block" Other,
    Wakeup "wakeup" Other,
    SemBlock "semblock" Other,
    SemPost "sempost" Other,
    Hog "hog" Other,
    Delay "delay" Other,
    EventLimit "eventlimit" Other,
    OpsLimit "opslimit" Other,
    IopsLimit "iopslimit" Other,
    BwLimit "bwlimit" Other,
    FinishOnCount "finishoncount" Other,
    FinishOnBytes "finishonbytes" Other,
    Print "print" Other,
    TestRandvar "testrandvar" Other,
}

impl Operation {
    /// Whether its ops are work: those of the kinds IO and AIO.
    pub fn is_counted(self) -> bool {
        self.class() != Class::Other
    }

    /// Opens a file by itself if its slot is empty and it names a fileset.
    pub fn transfers(self) -> bool {
        matches!(self.class(), Class::Reads | Class::Writes)
    }

    /// Takes a file, or the name of one, for itself alone.
    pub fn claims_files(self) -> bool {
        use Operation as O;
        matches!(
            self,
            O::CreateFile | O::DeleteFile | O::RenameFile | O::LinkFile | O::SymlinkFile
        )
    }

    /// Ends its thread once enough is done.
    pub fn is_goal(self) -> bool {
        matches!(self, Operation::FinishOnCount | Operation::FinishOnBytes)
    }

    /// Blocks until another flowop targets it.
    pub fn is_gate(self) -> bool {
        matches!(self, Operation::Block | Operation::SemBlock)
    }
}
