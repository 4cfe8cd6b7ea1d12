//! Values and arithmetic.

use super::ast::{Chunk, Expression, Operator, Span, Spanned};
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
        _ => lexer::number(text).map_or_else(
            || Expression::Text(vec![Chunk::Literal(text.to_owned())]),
            Expression::Number,
        ),
    }
}

impl Parser {
    pub(super) fn optional_value(&mut self) -> Parsed<Option<Spanned<Expression>>> {
        match self.peek().node {
            Token::Number(_) | Token::Variable(_) | Token::Symbol('(') => {
                self.expression().map(Some)
            }
            _ => Ok(None),
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
                self.nest(span)?;
                self.next();
                self.expect_symbol('(')?;
                let attributes = self.attributes()?;
                let end = self.peek().span.end;
                self.expect_symbol(')')?;
                self.nesting -= 1;
                let span = Span {
                    start: span.start,
                    end,
                };
                return Ok(Spanned {
                    node: Expression::Random(attributes),
                    span,
                });
            }
            Token::Word(word) if word == "cvar" => {
                return Err(Diagnostic::error(span, "'cvar' is not supported yet"));
            }
            Token::Word(word) => parse_value(&word),
            Token::Symbol('(') => {
                self.nest(span)?;
                self.next();
                let inner = self.expression()?;
                self.expect_symbol(')')?;
                self.nesting -= 1;
                return Ok(inner);
            }
            Token::Symbol('{') => {
                return Err(Diagnostic::error(
                    span,
                    "tables in braces are not supported yet",
                ));
            }
            _ => return self.wanted("a value"),
        };
        self.next();
        Ok(Spanned { node: value, span })
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

    /// Go one level deeper, to come back by `self.nesting -= 1`.
    fn nest(&mut self, span: Span) -> Parsed<()> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(Diagnostic::error(span, "too many nested parentheses"));
        }
        Ok(())
    }
}
