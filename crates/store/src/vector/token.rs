//! The tokens of a question.

/// A token and its position in the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind<'a>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The kind of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind<'a> {
    /// A name or a keyword.
    Name(&'a str),
    /// A number, as written.
    Number(&'a str),
    /// A string without its quotes.
    Text(String),
    /// A sign of one or two characters.
    Sign(&'a str),
}

/// The tokens of a question; `None` if it contains anything else, such as comments or quoted names.
pub(super) fn tokens(sql: &str) -> Option<Vec<Token<'_>>> {
    let bytes = sql.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = bytes.get(at) {
        if first.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let start = at;
        let kind = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                at +=
                    length(bytes, at, |byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'$');
                TokenKind::Name(&sql[start..at])
            }
            b'0'..=b'9' | b'.' => {
                at +=
                    length(bytes, at, |byte| byte.is_ascii_alphanumeric() || *byte == b'.' || *byte == b'_');
                TokenKind::Number(&sql[start..at])
            }
            b'\'' => {
                let (text, end) = text(sql, at)?;
                at = end;
                TokenKind::Text(text)
            }
            _ => {
                let two = sql.get(at..at + 2).filter(|two| SIGNS.contains(two));
                let sign = two.or_else(|| sql.get(at..=at).filter(|sign| SIGNS.contains(sign)))?;
                at += sign.len();
                TokenKind::Sign(sign)
            }
        };
        tokens.push(Token { kind, start, end: at });
    }
    // Two minus signs begin a comment, which would read as two tokens.
    (!sql.contains("--") && !sql.contains("/*") && sql.is_ascii()).then_some(tokens)
}

fn length(bytes: &[u8], at: usize, is_part: impl Fn(&u8) -> bool) -> usize {
    bytes[at..].iter().take_while(|byte| is_part(byte)).count()
}

/// The string that begins with the quote at this position, and its end; two quotes stand for one.
fn text(sql: &str, at: usize) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut rest = at + 1;
    loop {
        let quote = rest + sql.get(rest..)?.find('\'')?;
        text.push_str(&sql[rest..quote]);
        rest = quote + 1;
        if sql[rest..].starts_with('\'') {
            text.push('\'');
            rest += 1;
        } else {
            return Some((text, rest));
        }
    }
}

/// The signs that are understood.
const SIGNS: [&str; 17] =
    ["<=", ">=", "<>", "!=", "==", "(", ")", ",", "*", "+", "-", "/", "%", "<", ">", "=", ";"];
