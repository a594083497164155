//! Parsing of a filter into a tree of conditions.

use inband_model::Names;

use super::fields::{Comparison, Field, Operand};

/// A tree of conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tree {
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
    Test(Field, Comparison, Operand),
}

/// What is wrong with a filter, and at which character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::api) struct FilterError {
    pub(in crate::api) at: usize,
    pub(in crate::api) expected: String,
}

/// A word, a sign or a quoted text, with its range of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) is_quoted: bool,
}

/// Parses a filter.
pub(super) fn parse(text: &str, names: &Names) -> Result<Tree, FilterError> {
    let tokens = tokens(text);
    let end = text.chars().count();
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, end, names };
    let tree = parser.any()?;
    match parser.tokens.get(parser.at) {
        None => Ok(tree),
        Some(token) => Err(FilterError { at: token.from, expected: "and, or".to_owned() }),
    }
}

/// The tokens of a text. A quote inside a quoted text is doubled; an unclosed one ends with the text.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let letters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        let from = at;
        match letter {
            letter if letter.is_whitespace() => {
                at += 1;
                continue;
            }
            '"' | '\'' => {
                let text;
                (text, at) = quoted(&letters, at);
                tokens.push(Token { text, from, to: at, is_quoted: true });
                continue;
            }
            '(' | ')' => at += 1,
            '=' | '!' | '<' | '>' => {
                at += letters[at..].iter().take_while(|letter| is_sign(**letter)).count();
            }
            _ => at += letters[at..].iter().take_while(|letter| is_word(**letter)).count(),
        }
        let text = letters[from..at].iter().collect();
        tokens.push(Token { text, from, to: at, is_quoted: false });
    }
    tokens
}

/// The quoted text that begins at a letter, and the place behind it.
fn quoted(letters: &[char], begin: usize) -> (String, usize) {
    let quote = letters.get(begin);
    let (mut text, mut at) = (String::new(), begin + 1);
    while let Some(letter) = letters.get(at) {
        at += 1;
        if Some(letter) == quote {
            if letters.get(at) != quote {
                break;
            }
            at += 1;
        }
        text.push(*letter);
    }
    (text, at)
}

fn is_sign(letter: char) -> bool {
    matches!(letter, '=' | '!' | '<' | '>')
}

fn is_word(letter: char) -> bool {
    !letter.is_whitespace() && !is_sign(letter) && !matches!(letter, '(' | ')' | '"' | '\'')
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    end: usize,
    names: &'a Names,
}

impl Parser<'_> {
    fn any(&mut self) -> Result<Tree, FilterError> {
        let mut tree = self.all()?;
        while self.word("or") {
            tree = Tree::Or(Box::new(tree), Box::new(self.all()?));
        }
        Ok(tree)
    }

    fn all(&mut self) -> Result<Tree, FilterError> {
        let mut tree = self.one()?;
        while self.word("and") {
            tree = Tree::And(Box::new(tree), Box::new(self.one()?));
        }
        Ok(tree)
    }

    fn one(&mut self) -> Result<Tree, FilterError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.expected("a filter with fewer parentheses and conditions"));
        }
        if self.word("not") {
            return Ok(Tree::Not(Box::new(self.one()?)));
        }
        if self.word("(") {
            let tree = self.any()?;
            return if self.word(")") { Ok(tree) } else { Err(self.expected(")")) };
        }
        let names = || Field::ALL.map(|(_, name, _)| name).join(", ");
        let field = self.tokens.get(self.at).filter(|token| !token.is_quoted);
        let Some(field) = field.and_then(|token| Field::of(&token.text)) else {
            return Err(self.expected(&names()));
        };
        self.at += 1;
        let sign = self.tokens.get(self.at).filter(|token| !token.is_quoted);
        let comparison =
            field.comparisons().iter().find(|known| sign.is_some_and(|sign| sign.text == known.sign()));
        let Some(comparison) = comparison else {
            let signs: Vec<&str> = field.comparisons().iter().map(|known| known.sign()).collect();
            return Err(self.expected(&signs.join(", ")));
        };
        self.at += 1;
        let text = self.tokens.get(self.at).map_or("", |token| token.text.as_str());
        let operand = field.operand(text, self.names).map_err(|expected| self.expected(expected))?;
        self.at += 1;
        Ok(Tree::Test(field, *comparison, operand))
    }

    /// Consumes the next token if it is this word.
    fn word(&mut self, word: &str) -> bool {
        let token = self.tokens.get(self.at);
        let is_it = token.is_some_and(|token| !token.is_quoted && token.text.eq_ignore_ascii_case(word));
        self.at += usize::from(is_it);
        is_it
    }

    fn expected(&self, what: &str) -> FilterError {
        let at = self.tokens.get(self.at).map_or(self.end, |token| token.from);
        FilterError { at, expected: what.to_owned() }
    }
}

/// Maximum number of conditions and parentheses of a filter.
const MAX_DEPTH: usize = 64;
