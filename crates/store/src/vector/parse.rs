//! The parser: one SELECT from a table or another SELECT, with WHERE, GROUP BY, ORDER BY and LIMIT.
//!
//! Everything that it does not understand completely is left to SQLite, including errors.

use super::token::{Token, TokenKind, tokens};

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Select<'a> {
    pub(super) items: Vec<Item<'a>>,
    pub(super) from: From<'a>,
    pub(super) filters: Vec<Filter<'a>>,
    pub(super) group: Vec<Expression<'a>>,
    pub(super) order: Vec<(Expression<'a>, Direction)>,
    pub(super) limit: Option<u64>,
    pub(super) offset: u64,
}

/// A column of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item<'a> {
    pub(super) expression: Expression<'a>,
    pub(super) alias: Option<&'a str>,
    /// The source text of the expression.
    pub(super) text: &'a str,
}

/// The source of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum From<'a> {
    Table(&'a str),
    Select(Box<Select<'a>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Ascending,
    Descending,
}

/// A condition on rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Filter<'a> {
    Compare(Expression<'a>, &'a str, Expression<'a>),
    Between(Expression<'a>, Expression<'a>, Expression<'a>),
    In(Expression<'a>, Vec<Expression<'a>>),
    IsNull(Expression<'a>, bool),
    Like(Expression<'a>, Expression<'a>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expression<'a> {
    Name(&'a str),
    Integer(i64),
    /// A number with a fraction, as written.
    Real(&'a str),
    Text(String),
    /// A function: its lowercase name, whether its argument is DISTINCT, its arguments; `None` for `*`.
    Call(String, bool, Option<Vec<Expression<'a>>>),
    Binary(&'a str, Box<Expression<'a>>, Box<Expression<'a>>),
}

/// Parses a question; `None` if it is not understood.
pub(super) fn parse(sql: &str) -> Option<Select<'_>> {
    let tokens = tokens(sql)?;
    if tokens.len() > MAX_TOKENS {
        return None;
    }
    let mut parser = Parser { sql, tokens: &tokens, at: 0, depth: 0, operators: 0 };
    let select = parser.select()?;
    parser.sign(";");
    (parser.at == tokens.len()).then_some(select)
}

struct Parser<'a, 't> {
    sql: &'a str,
    tokens: &'t [Token<'a>],
    at: usize,
    depth: usize,
    operators: usize,
}

impl<'a> Parser<'a, '_> {
    fn select(&mut self) -> Option<Select<'a>> {
        self.expect("select")?;
        let items = self.list(Self::item)?;
        self.expect("from")?;
        let from = self.from()?;
        let mut filters = Vec::new();
        if self.keyword("where") {
            filters.push(self.filter()?);
            while self.keyword("and") {
                filters.push(self.filter()?);
            }
        }
        let mut group = Vec::new();
        if self.keyword("group") {
            self.expect("by")?;
            group = self.list(Self::expression)?;
        }
        let mut order = Vec::new();
        if self.keyword("order") {
            self.expect("by")?;
            order = self.list(Self::term)?;
        }
        let (mut limit, mut offset) = (None, 0);
        if self.keyword("limit") {
            limit = Some(self.count()?);
            if self.keyword("offset") {
                offset = self.count()?;
            }
        }
        Some(Select { items, from, filters, group, order, limit, offset })
    }

    fn item(&mut self) -> Option<Item<'a>> {
        let start = self.tokens.get(self.at)?.start;
        let expression = self.expression()?;
        let text = self.sql.get(start..self.tokens.get(self.at.checked_sub(1)?)?.end)?;
        let alias = if self.keyword("as") { Some(self.name()?) } else { None };
        Some(Item { expression, alias, text })
    }

    fn from(&mut self) -> Option<From<'a>> {
        if !self.sign("(") {
            return Some(From::Table(self.name()?));
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let select = self.select()?;
        self.sign(")").then(|| From::Select(Box::new(select)))
    }

    fn filter(&mut self) -> Option<Filter<'a>> {
        let left = self.expression()?;
        if self.keyword("is") {
            let is_not = self.keyword("not");
            self.expect("null")?;
            return Some(Filter::IsNull(left, !is_not));
        }
        if self.keyword("like") {
            return Some(Filter::Like(left, self.expression()?));
        }
        if self.keyword("between") {
            let least = self.expression()?;
            self.expect("and")?;
            return Some(Filter::Between(left, least, self.expression()?));
        }
        if self.keyword("in") {
            if !self.sign("(") {
                return None;
            }
            let values = self.list(Self::expression)?;
            return self.sign(")").then_some(Filter::In(left, values));
        }
        let sign = ["<=", ">=", "<>", "!=", "==", "<", ">", "="].into_iter().find(|sign| self.sign(sign))?;
        Some(Filter::Compare(left, sign, self.expression()?))
    }

    fn term(&mut self) -> Option<(Expression<'a>, Direction)> {
        let expression = self.expression()?;
        let is_descending = self.keyword("desc");
        if !is_descending {
            self.keyword("asc");
        }
        Some((expression, if is_descending { Direction::Descending } else { Direction::Ascending }))
    }

    fn expression(&mut self) -> Option<Expression<'a>> {
        self.binary(&["+", "-"], |parser| parser.binary(&["*", "/", "%"], Self::factor))
    }

    fn binary(
        &mut self,
        signs: &[&'static str],
        part: impl Fn(&mut Self) -> Option<Expression<'a>>,
    ) -> Option<Expression<'a>> {
        let mut left = part(self)?;
        while let Some(sign) = signs.iter().find(|sign| self.sign(sign)) {
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return None;
            }
            left = Expression::Binary(sign, Box::new(left), Box::new(part(self)?));
        }
        Some(left)
    }

    fn factor(&mut self) -> Option<Expression<'a>> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        match &token.kind {
            TokenKind::Number(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(Expression::Integer(number.parse().ok()?))
            }
            TokenKind::Number(number) => Some(Expression::Real(number)),
            TokenKind::Text(text) => Some(Expression::Text(text.clone())),
            TokenKind::Name(name) if KEYWORDS.iter().any(|word| name.eq_ignore_ascii_case(word)) => None,
            TokenKind::Name(name) if self.sign("(") => self.call(name),
            TokenKind::Name(name) => Some(Expression::Name(name)),
            TokenKind::Sign("(") => {
                self.depth += 1;
                let inner = (self.depth <= MAX_DEPTH).then(|| self.expression())??;
                self.sign(")").then_some(inner)
            }
            TokenKind::Sign("-") => {
                self.depth += 1;
                let negated = (self.depth <= MAX_DEPTH).then(|| self.factor())??;
                Some(Expression::Binary("-", Box::new(Expression::Integer(0)), Box::new(negated)))
            }
            TokenKind::Sign(_) => None,
        }
    }

    fn call(&mut self, name: &str) -> Option<Expression<'a>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let name = name.to_ascii_lowercase();
        if self.sign("*") {
            return self.sign(")").then_some(Expression::Call(name, false, None));
        }
        if self.sign(")") {
            return Some(Expression::Call(name, false, Some(Vec::new())));
        }
        let is_distinct = self.keyword("distinct");
        let arguments = self.list(Self::expression)?;
        self.sign(")").then_some(Expression::Call(name, is_distinct, Some(arguments)))
    }

    fn list<T>(&mut self, part: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut parts = vec![part(self)?];
        while self.sign(",") {
            parts.push(part(self)?);
        }
        Some(parts)
    }

    fn count(&mut self) -> Option<u64> {
        match self.factor()? {
            Expression::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    fn name(&mut self) -> Option<&'a str> {
        match self.tokens.get(self.at)?.kind {
            TokenKind::Name(name) if !KEYWORDS.iter().any(|word| name.eq_ignore_ascii_case(word)) => {
                self.at += 1;
                Some(name)
            }
            _ => None,
        }
    }

    fn expect(&mut self, word: &str) -> Option<()> {
        self.keyword(word).then_some(())
    }

    /// Consumes a keyword if it is next.
    fn keyword(&mut self, word: &str) -> bool {
        let kind = self.tokens.get(self.at).map(|token| &token.kind);
        let is_next = matches!(kind, Some(TokenKind::Name(name)) if name.eq_ignore_ascii_case(word));
        self.at += usize::from(is_next);
        is_next
    }

    /// Consumes a sign if it is next.
    fn sign(&mut self, sign: &str) -> bool {
        let is_next = self.tokens.get(self.at).is_some_and(|token| token.kind == TokenKind::Sign(sign));
        self.at += usize::from(is_next);
        is_next
    }
}

/// Words that cannot be names here; SQLite has more; a question that uses those is left to it.
const KEYWORDS: [&str; 38] = [
    "select",
    "from",
    "where",
    "group",
    "by",
    "order",
    "limit",
    "offset",
    "as",
    "and",
    "or",
    "not",
    "is",
    "null",
    "between",
    "in",
    "asc",
    "desc",
    "distinct",
    "having",
    "union",
    "except",
    "intersect",
    "join",
    "case",
    "when",
    "cast",
    "collate",
    "like",
    "glob",
    "exists",
    "filter",
    "over",
    "window",
    "with",
    "true",
    "false",
    "all",
];
/// Maximum number of parentheses, nested or consecutive.
const MAX_DEPTH: usize = 32;
/// Maximum number of operators: each may be a level of the tree, which is walked by recursion.
const MAX_OPERATORS: usize = 200;
/// Maximum number of words, numbers and signs: all are looked at for every row between two looks at the clock.
const MAX_TOKENS: usize = 2_000;
