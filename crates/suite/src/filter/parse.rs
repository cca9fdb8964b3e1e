//! Text into an expression, by recursive descent:
//!
//! ```text
//! or    = and   (("or"  | "|" | "||") and)*
//! and   = unary (("and" | "&" | "&&") unary | "-" unary)*
//! unary = ("not" | "!") unary | "(" or ")" | word "(" pattern ")"
//! ```

use miette::{Diagnostic, SourceSpan};
use regex::Regex;

use super::expression::Expression;
use super::pattern::{Comparison, Field, Pattern, Predicate};
use crate::source::nearest;

const MAX_TEXT: usize = 16 << 10;
const MAX_DEPTH: usize = 64;

/// Why a text is no filter, and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Diagnostic)]
#[error("{message}")]
pub struct FilterError {
    message: String,
    #[help]
    help: Option<String>,
    #[source_code]
    text: String,
    #[label("here")]
    span: SourceSpan,
}

pub(super) fn parse(text: &str) -> Result<Expression, FilterError> {
    let mut parser = Parser { text, at: 0 };
    if text.len() > MAX_TEXT {
        return Err(parser.error(0..0, "the filter is longer than 16 KiB"));
    }
    let expression = parser.or(0)?;
    parser.blanks();
    match parser.rest().chars().next() {
        None => Ok(expression),
        Some(next) => {
            let start = parser.at;
            let length = parser.word().len().max(next.len_utf8());
            let found = &text[start..start + length];
            let message = format!("`{found}` is not expected here");
            let error = parser.error(start..start + length, message);
            Err(error.help("combine predicates with `and`, `or`, `not` and parentheses"))
        }
    }
}

impl FilterError {
    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The bytes of the text that the error is about.
    pub fn span(&self) -> std::ops::Range<usize> {
        self.span.offset()..self.span.offset() + self.span.len()
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn or(&mut self, depth: usize) -> Result<Expression, FilterError> {
        let mut parts = vec![self.and(depth)?];
        while self.operator("or", &["||", "|"]) {
            parts.push(self.and(depth)?);
        }
        Ok(single_or(parts, Expression::Or))
    }

    fn and(&mut self, depth: usize) -> Result<Expression, FilterError> {
        let mut parts = vec![self.unary(depth)?];
        loop {
            if self.operator("and", &["&&", "&"]) {
                parts.push(self.unary(depth)?);
            } else if self.sign("-") {
                parts.push(Expression::Not(Box::new(self.unary(depth)?)));
            } else {
                return Ok(single_or(parts, Expression::And));
            }
        }
    }

    fn unary(&mut self, depth: usize) -> Result<Expression, FilterError> {
        self.blanks();
        if depth >= MAX_DEPTH {
            let message = format!("nested deeper than {MAX_DEPTH}");
            return Err(self.error(self.at..self.at, message));
        }
        if self.operator("not", &["!"]) {
            return Ok(Expression::Not(Box::new(self.unary(depth + 1)?)));
        }
        if self.sign("(") {
            let open = self.at - 1;
            let inner = self.or(depth + 1)?;
            if !self.sign(")") {
                return Err(self.error(open..open + 1, "this parenthesis is never closed"));
            }
            return Ok(inner);
        }
        self.predicate()
    }

    fn predicate(&mut self) -> Result<Expression, FilterError> {
        let start = self.at;
        let word = self.word();
        let span = start..self.at;
        if word.is_empty() {
            let error = self.error(start..start, "expected a predicate");
            return Err(error.help(PREDICATES));
        }
        if !self.sign("(") {
            let error = self.error(span, format!("`{word}` is no predicate: `(` is missing"));
            return Err(error.help(format!("to find tasks by name, write name({word})")));
        }
        match word {
            "all" => self.close().map(|()| Expression::All),
            "none" => self.close().map(|()| Expression::None),
            _ => match Field::ALL.into_iter().find(|field| field.name() == word) {
                Some(field) => self
                    .pattern(field)
                    .map(|pattern| Expression::Is(Predicate { field, pattern })),
                None => {
                    let names = Field::ALL.iter().map(|field| field.name());
                    let message = match nearest(word, names) {
                        Some(near) => format!("unknown predicate `{word}`, did you mean `{near}`?"),
                        None => format!("unknown predicate `{word}`"),
                    };
                    Err(self.error(span, message).help(PREDICATES))
                }
            },
        }
    }

    fn pattern(&mut self, field: Field) -> Result<Pattern, FilterError> {
        self.blanks();
        if self.sign("/") {
            return self.regex();
        }
        if field == Field::Level {
            let found = Comparison::ALL.into_iter().find(|c| self.sign(c.sign()));
            if let Some(comparison) = found {
                let (text, span) = self.argument()?;
                let level = text
                    .parse()
                    .map_err(|message: String| self.error(span, message))?;
                return Ok(Pattern::Compare(comparison, level));
            }
        }
        if self.sign("=") {
            return Ok(Pattern::Exact(self.argument()?.0));
        }
        if self.sign("~") {
            return Ok(Pattern::Substring(self.argument()?.0));
        }
        let (text, span) = self.argument()?;
        Pattern::glob(&text).map_err(|error| {
            self.error(span, format!("`{text}` is no glob: {}", error.kind()))
                .help("use *, ?, [abc] and {a,b}; write =text for an exact text")
        })
    }

    /// A text up to the closing parenthesis; `\)` and `\\` stand for `)` and `\`.
    fn argument(&mut self) -> Result<(String, std::ops::Range<usize>), FilterError> {
        self.blanks();
        let start = self.at;
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                ')' => {
                    let span = start..start + at;
                    self.at = start + at + 1;
                    let text = text.trim_end().to_owned();
                    if text.is_empty() {
                        return Err(self.error(span, "there is nothing between the parentheses"));
                    }
                    return Ok((text, span));
                }
                '\\' => match chars.next() {
                    Some((_, next @ (')' | '\\'))) => text.push(next),
                    Some((_, next)) => text.extend(['\\', next]),
                    None => text.push('\\'),
                },
                _ => text.push(c),
            }
        }
        let open = start.saturating_sub(1);
        Err(self.error(open..start, "the parenthesis before this is never closed"))
    }

    /// A regular expression up to the next slash that has no backslash before it.
    fn regex(&mut self) -> Result<Pattern, FilterError> {
        let start = self.at;
        let mut escaped = false;
        let end = self.rest().find(|c: char| {
            let ends = c == '/' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let Some(end) = end else {
            return Err(self.error(start - 1..start, "this regular expression is never closed"));
        };
        let text = &self.text[start..start + end];
        self.at = start + end + 1;
        let regex = Regex::new(text).map_err(|error| {
            let full = error.to_string();
            let reason = full.lines().last().unwrap_or_default();
            let reason = reason.trim_start_matches("error: ");
            let message = format!("`{text}` is no regular expression: {reason}");
            self.error(start..start + end, message)
        })?;
        self.close().map(|()| Pattern::Regex(regex))
    }

    fn close(&mut self) -> Result<(), FilterError> {
        if self.sign(")") {
            return Ok(());
        }
        Err(self.error(self.at..self.at, "expected `)`"))
    }

    fn operator(&mut self, word: &str, signs: &[&str]) -> bool {
        self.blanks();
        let start = self.at;
        if self.word() == word {
            return true;
        }
        self.at = start;
        signs.iter().any(|sign| self.sign(sign))
    }

    fn sign(&mut self, sign: &str) -> bool {
        self.blanks();
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn error(&self, span: std::ops::Range<usize>, message: impl Into<String>) -> FilterError {
        FilterError {
            message: message.into(),
            help: None,
            text: self.text.to_owned(),
            span: span.into(),
        }
    }
}

const PREDICATES: &str = "predicates: category(x), level(x), tag(x), name(x), id(x), all(), none()";

fn single_or(
    mut parts: Vec<Expression>,
    many: impl FnOnce(Vec<Expression>) -> Expression,
) -> Expression {
    match parts.len() {
        1 => parts.remove(0),
        _ => many(parts),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reads(text: &str) -> String {
        parse(text).unwrap().to_string()
    }

    #[test]
    fn operators_and_their_order() {
        for (text, printed) in [
            ("id(a)or id(b)&&id(c)", "id(a) or (id(b) and id(c))"),
            ("id(a)|id(b)|id(c)", "id(a) or id(b) or id(c)"),
            ("(id(a)|id(b))&!id(c)", "(id(a) or id(b)) and not id(c)"),
            ("id(a) - tag(b)", "id(a) and not tag(b)"),
            ("not not all()", "not not all()"),
            ("not(id(a) or none())", "not (id(a) or none())"),
            ("level( >= bronze )", "level(>=bronze)"),
            ("name(= a b )", "name(=a b)"),
            (r"name(/a\/b(c)/)", r"name(/a\/b(c)/)"),
            (r"id(~x\)y\\z)", r"id(~x\)y\\z)"),
            ("id(foo-*)", "id(foo-*)"),
        ] {
            assert_eq!(reads(text), printed, "{text}");
            assert_eq!(reads(printed), printed);
        }
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, message, place) in [
            ("", "expected a predicate", ""),
            ("id(a) and", "expected a predicate", ""),
            ("hello", "`(` is missing", "hello"),
            ("cat(x)", "unknown predicate `cat`", "cat"),
            ("categry(x)", "did you mean `category`", "categry"),
            ("id()", "nothing between", ""),
            ("id(a", "never closed", "("),
            ("(id(a)", "never closed", "("),
            ("id(/a)", "never closed", "/"),
            ("id(/[/)", "no regular expression", "["),
            ("id([)", "no glob", "["),
            ("level(>=iron)", "no level", "iron"),
            ("id(a) id(b)", "not expected", "id"),
            ("all(x)", "expected `)`", ""),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {error}");
            assert_eq!(&text[error.span()], place, "{text}");
        }
    }

    #[test]
    fn depth_and_length_are_limited() {
        for text in ["(".repeat(10_000), "not ".repeat(4_000), "!".repeat(10_000)] {
            assert!(parse(&text).unwrap_err().message.contains("deeper"));
        }
        assert!(parse(&"x".repeat(20_000)).is_err());
        let chain = vec!["id(a)"; 1_000].join(" and ");
        assert!(parse(&chain).is_ok());
    }

    fn predicate() -> impl Strategy<Value = Expression> {
        let field = prop::sample::select(Field::ALL.to_vec());
        let text = r"[a-z]([a-z0-9 *?_.()\\-]{0,8}[a-z*])?";
        let exact = "[!-~ß]([ -~ß]{0,8}[!-~])?";
        let pattern = prop_oneof![
            text.prop_filter_map("a glob", |text| Pattern::glob(&text).ok()),
            exact.prop_map(|text| Pattern::Exact(text.trim().to_owned())),
            exact.prop_map(|text| Pattern::Substring(text.trim().to_owned())),
            "[a-z/.*+()|^$\\\\]{0,8}".prop_filter_map("a regular expression", |text| {
                // As the parser would have cut it: no open slash.
                let text = text.replace('/', "");
                Regex::new(&text).ok().map(Pattern::Regex)
            }),
        ];
        let simple = (field, pattern)
            .prop_map(|(field, pattern)| Expression::Is(Predicate { field, pattern }));
        let comparison = (
            prop::sample::select(Comparison::ALL.to_vec()),
            prop::sample::select(agon_core::Level::ALL.to_vec()),
        )
            .prop_map(|(comparison, level)| {
                Expression::Is(Predicate {
                    field: Field::Level,
                    pattern: Pattern::Compare(comparison, level),
                })
            });
        prop_oneof![
            4 => simple,
            1 => comparison,
            1 => Just(Expression::All),
            1 => Just(Expression::None)
        ]
    }

    fn expression() -> impl Strategy<Value = Expression> {
        predicate().prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                inner.clone().prop_map(|e| Expression::Not(Box::new(e))),
                prop::collection::vec(inner.clone(), 2..4).prop_map(Expression::And),
                prop::collection::vec(inner, 2..4).prop_map(Expression::Or),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(expression in expression()) {
            let text = expression.to_string();
            prop_assert_eq!(parse(&text).unwrap(), expression, "{}", text);
        }

        #[test]
        fn arbitrary_text_never_panics(text in "\\PC{0,60}") {
            let _ = parse(&text);
        }

        #[test]
        fn filter_like_text_never_panics(
            text in "(id|level|name|and|or|not|\\(|\\)|/|\\\\|[<>=~!&|* -]|ß|x){0,24}"
        ) {
            if let Err(error) = parse(&text) {
                prop_assert!(text.get(error.span()).is_some(), "{:?}", error);
            }
        }
    }
}
