//! What the parser makes of a text. Every node knows where it stands.

/// A half-open range of bytes in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
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

#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    Number(f64),
    Bool(bool),
    Text(Vec<Chunk>),
    Variable(String),
    Binary(Operator, Box<Spanned<Expression>>, Box<Spanned<Expression>>),
    /// `randvar(...)`
    Random(Vec<Attribute>),
}

/// `name` or `name=value`
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub name: Spanned<String>,
    pub value: Option<Spanned<Expression>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Flowop {
    pub operation: Spanned<String>,
    pub attributes: Vec<Attribute>,
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
pub enum Command {
    Set {
        name: Spanned<String>,
        value: Spanned<Expression>,
    },
    DefineFileset {
        single: bool,
        attributes: Vec<Attribute>,
    },
    DefineProcess(Process),
    CreateFiles,
    Eventgen(Vec<Attribute>),
    Run(Option<Spanned<Expression>>),
    Echo(Spanned<Expression>),
}

pub type Script = Vec<Spanned<Command>>;
