//! Where the flowops of a model stand in its text.

use crate::lang::ast::{Span, Spanned};

/// Where a flowop of a model comes from.
pub struct FlowopSpans {
    /// Of its kind; inside a composite one, of the definition.
    pub flowop: Span,
    pub target: Option<Spanned<String>>,
    /// The names of the composites that it stands in, with a dot behind each.
    pub prefix: String,
}

/// In the order of [`crate::model::Model::flowops`].
#[derive(Default)]
pub struct Spans(pub Vec<FlowopSpans>);
