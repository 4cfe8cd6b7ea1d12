//! Values and arithmetic.

use super::ast::{Attribute, Chunk, Expression, Operator, Row, Span, Spanned};
use super::diagnostic::Diagnostic;
use super::lexer::{self, Token};
use super::parser::{Parsed, Parser};

/// More parentheses or operators than this are an error, not a stack overflow.
const MAX_NESTING: usize = 100;
const MAX_OPERATORS: usize = 1000;

/// Parse a value as it stands on the command line: a number, true, false, or else text.
pub fn parse_value(text: &str) -> Expression {
    match text {
        "true" => Expression::Bool(true),
        "false" => Expression::Bool(false),
        _ => number(text).map_or_else(
            || Expression::Text(vec![Chunk::Literal(text.to_owned())]),
            Expression::Number,
        ),
    }
}

/// Read a number that may have a sign, as nothing but text gives it.
pub fn number(text: &str) -> Option<f64> {
    match text.strip_prefix('-') {
        Some(positive) => lexer::number(positive).map(|number| -number),
        None => lexer::number(text),
    }
}

impl Parser<'_> {
    pub(super) fn optional_value(&mut self) -> Parsed<Option<Spanned<Expression>>> {
        match self.peek().node {
            Token::Number(_) | Token::Variable(_) | Token::Symbol('(' | '-') => {
                self.expression().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A value, or a table in braces.
    pub(super) fn attribute_value(&mut self) -> Parsed<Spanned<Expression>> {
        if self.begins_table() {
            self.nested(Self::table)
        } else {
            self.expression()
        }
    }

    pub(super) fn expression(&mut self) -> Parsed<Spanned<Expression>> {
        if self.nesting == 0 {
            self.operators = 0;
        }
        let mut left = self.product()?;
        loop {
            let operator = match self.peek().node {
                Token::Symbol('+') => Operator::Add,
                Token::Symbol('-') => Operator::Subtract,
                _ => return Ok(left),
            };
            self.next();
            let right = self.product()?;
            left = self.binary(operator, left, right)?;
        }
    }

    fn product(&mut self) -> Parsed<Spanned<Expression>> {
        let mut left = self.operand()?;
        loop {
            let operator = match self.peek().node {
                Token::Symbol('*') => Operator::Multiply,
                Token::Symbol('/') => Operator::Divide,
                _ => return Ok(left),
            };
            self.next();
            let right = self.operand()?;
            left = self.binary(operator, left, right)?;
        }
    }

    fn operand(&mut self) -> Parsed<Spanned<Expression>> {
        let Spanned { node, span } = self.peek().clone();
        let value = match node {
            Token::Number(number) => Expression::Number(number),
            Token::Text(chunks) => Expression::Text(chunks),
            Token::Variable(name) => Expression::Variable(name),
            Token::Word(word) if word == "randvar" => {
                return self.nested(|parser| parser.variable_of(Expression::Random));
            }
            Token::Word(word) if word == "cvar" => {
                return self.nested(|parser| parser.variable_of(Expression::Custom));
            }
            Token::Word(word) => parse_value(&word),
            Token::Symbol('(') => {
                return self.nested(|parser| {
                    parser.next();
                    let inner = parser.expression()?;
                    parser.expect_symbol(')')?;
                    Ok(inner.node)
                });
            }
            Token::Symbol('-') => {
                return self.nested(|parser| {
                    parser.next();
                    parser.operand().map(Box::new).map(Expression::Negative)
                });
            }
            _ => return self.wanted("a value"),
        };
        self.next();
        Ok(Spanned { node: value, span })
    }

    /// The attributes behind `randvar` or `cvar`.
    fn variable_of(
        &mut self,
        kind: impl FnOnce(Vec<Attribute>) -> Expression,
    ) -> Parsed<Expression> {
        self.next();
        self.expect_symbol('(')?;
        let attributes = self.attributes()?;
        self.expect_symbol(')')?;
        Ok(kind(attributes))
    }

    /// `{{a, b, c}, {a, b, c}, ...}`
    fn table(&mut self) -> Parsed<Expression> {
        let mut rows: Vec<Row> = Vec::new();
        self.expect_symbol('{')?;
        loop {
            let start = self.peek().span.start;
            self.expect_symbol('{')?;
            let mut node = vec![self.expression()?];
            while self.take_symbol(',') {
                node.push(self.expression()?);
            }
            let end = self.peek().span.end;
            self.expect_symbol('}')?;
            let span = Span { start, end };
            rows.push(Spanned { node, span });
            if !self.take_symbol(',') {
                self.expect_symbol('}')?;
                return Ok(Expression::Table(rows));
            }
        }
    }

    /// Parse what stands one level deeper.
    fn nested(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Parsed<Expression>,
    ) -> Parsed<Spanned<Expression>> {
        let Span { start, end } = self.peek().span;
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            let message = "too many values in one another";
            return Err(Diagnostic::error(Span { start, end }, message));
        }
        let node = inner(self)?;
        self.nesting -= 1;
        let end = self.last_end();
        Ok(Spanned {
            node,
            span: Span { start, end },
        })
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: Spanned<Expression>,
        right: Spanned<Expression>,
    ) -> Parsed<Spanned<Expression>> {
        let span = Span {
            start: left.span.start,
            end: right.span.end,
        };
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            return Err(Diagnostic::error(right.span, "too many operators"));
        }
        let node = Expression::Binary(operator, Box::new(left), Box::new(right));
        Ok(Spanned { node, span })
    }
}
