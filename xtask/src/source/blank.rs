//! Sources without comments and literals.

/// Replaces the comments and literals of Rust or C code with spaces; line breaks and offsets are kept.
pub(crate) fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = Vec::with_capacity(bytes.len());
    while code.len() < bytes.len() {
        let at = code.len();
        match literal_end(bytes, at) {
            Some(end) => code.extend(bytes[at..end].iter().map(|byte| blanked(*byte))),
            None => code.push(bytes[at]),
        }
    }
    String::from_utf8(code).expect("whole literals are replaced by ASCII, so the rest stays UTF-8")
}

fn blanked(byte: u8) -> u8 {
    if byte == b'\n' { byte } else { b' ' }
}

/// The offset after the comment or literal that starts at `at`, if one does.
fn literal_end(bytes: &[u8], at: usize) -> Option<usize> {
    match &bytes[at..] {
        [b'/', b'/', ..] => Some(find(bytes, at, b'\n').unwrap_or(bytes.len())),
        [b'/', b'*', ..] => Some(block_comment_end(bytes, at)),
        [b'"', ..] => Some(quoted_end(bytes, at + 1, b'"')),
        [b'r', b'"' | b'#', ..] if starts_word(bytes, at) => raw_string_end(bytes, at + 1),
        [b'\'', b'\\', ..] => Some(quoted_end(bytes, at + 1, b'\'')),
        [b'\'', ..] => character_end(bytes, at),
        _ => None,
    }
}

fn find(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    bytes.iter().skip(from).position(|byte| *byte == wanted).map(|distance| from + distance)
}

/// Block comments nest in Rust; in C a second opening is rare enough to be read the same way.
fn block_comment_end(bytes: &[u8], at: usize) -> usize {
    let (mut depth, mut next) = (0_usize, at);
    while next < bytes.len() {
        match &bytes[next..] {
            [b'/', b'*', ..] => (depth, next) = (depth + 1, next + 2),
            [b'*', b'/', ..] if depth == 1 => return next + 2,
            [b'*', b'/', ..] => (depth, next) = (depth - 1, next + 2),
            _ => next += 1,
        }
    }
    bytes.len()
}

/// The offset after the closing `quote`; a backslash escapes the next byte.
fn quoted_end(bytes: &[u8], from: usize, quote: u8) -> usize {
    let mut next = from;
    while let Some(byte) = bytes.get(next) {
        match *byte {
            b'\\' => next += 2,
            byte if byte == quote => return next + 1,
            _ => next += 1,
        }
    }
    bytes.len()
}

/// The end of `"…"` or `#"…"#` after an `r`; `None` for a raw identifier.
fn raw_string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let hashes = bytes[from..].iter().take_while(|byte| **byte == b'#').count();
    if bytes.get(from + hashes) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let body = from + hashes + 1;
    let length = bytes[body..].windows(close.len()).position(|window| window == close);
    Some(length.map_or(bytes.len(), |length| body + length + close.len()))
}

/// The end of `'x'`; `None` for a lifetime.
fn character_end(bytes: &[u8], at: usize) -> Option<usize> {
    let length = match bytes.get(at + 1)? {
        0x00..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
    };
    (bytes.get(at + 1 + length) == Some(&b'\'')).then_some(at + 2 + length)
}

/// True when the `r` at `at` does not continue an identifier; `br` and `cr` start raw strings too.
fn starts_word(bytes: &[u8], at: usize) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    match before {
        Some(b'b' | b'c') => !is_word(at.checked_sub(2).and_then(|before| bytes.get(before))),
        before => !is_word(before),
    }
}
