//! What the parser makes of a text. Every node knows where it stands.

use crate::model::Quit;

/// A half-open range of bytes in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Spanned<T> {
    pub node: T,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// A piece of a quoted string.
#[derive(Clone, Debug, PartialEq)]
pub enum Chunk {
    Literal(String),
    Variable(Spanned<String>),
}

/// `{percent, minimum, maximum}`
pub type Row = Spanned<Vec<Spanned<Expression>>>;

#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Number(f64),
    Bool(bool),
    Text(Vec<Chunk>),
    Variable(String),
    Negative(Box<Spanned<Expression>>),
    Binary(Operator, Box<Spanned<Expression>>, Box<Spanned<Expression>>),
    /// `randvar(...)`
    Random(Vec<Attribute>),
    /// `cvar(...)`
    Custom(Vec<Attribute>),
    /// `{{...}, ...}`
    Table(Vec<Row>),
}

/// `name` or `name=value`
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub name: Spanned<String>,
    pub value: Option<Spanned<Expression>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Flowop {
    /// Of the word `flowop`.
    pub span: Span,
    /// A kind of flowop or the name of a composite one.
    pub operation: Spanned<String>,
    pub attributes: Vec<Attribute>,
    /// `$name=value`, for a composite flowop.
    pub locals: Vec<Attribute>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    pub span: Span,
    pub attributes: Vec<Attribute>,
    pub flowops: Vec<Flowop>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    pub attributes: Vec<Attribute>,
    pub threads: Vec<Thread>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Fileset {
    /// `define file`
    pub single: bool,
    pub attributes: Vec<Attribute>,
}

/// `define flowop`
#[derive(Clone, Debug, PartialEq)]
pub struct Composite {
    pub attributes: Vec<Attribute>,
    /// `$name` or `$name=default`
    pub locals: Vec<Attribute>,
    pub flowops: Vec<Flowop>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Foreach {
    pub variable: Spanned<String>,
    pub values: Vec<Spanned<Expression>>,
    pub body: Script,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    Filesets,
    Flowops,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Set {
        name: Spanned<String>,
        value: Spanned<Expression>,
    },
    SetQuit(Quit),
    DefineFileset(Fileset),
    DefineProcess(Process),
    DefineComposite(Composite),
    CreateFiles,
    Eventgen(Vec<Attribute>),
    Run(Option<Spanned<Expression>>),
    /// `psrun`
    PeriodicRun {
        period: Option<Spanned<Expression>>,
        duration: Option<Spanned<Expression>>,
    },
    Warmup(Spanned<Expression>),
    Sleep(Spanned<Expression>),
    System(Spanned<Expression>),
    Echo(Spanned<Expression>),
    List(List),
    Debug(Spanned<Expression>),
    Version,
    Quit,
    EnableLathist,
    EnableMulti(Vec<Attribute>),
    Multisync(Vec<Attribute>),
    Sync,
    DropCaches,
    Verify,
    Foreach(Foreach),
    /// Accepted without effect; a warning has said so.
    Ignored,
}

pub type Script = Vec<Spanned<Command>>;
