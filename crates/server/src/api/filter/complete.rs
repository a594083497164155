//! Completion of a filter at the caret.

use inband_model::Names;
use inband_model::api::{Completion, CompletionOption};

use super::fields::Field;
use super::parse::{Token, parse, tokens};

/// The completions of the text in front of the caret.
pub(in crate::api) fn complete(text: &str, caret: Option<u32>, names: &Names) -> Completion {
    let length = text.chars().count();
    let caret = caret.map_or(length, |caret| caret as usize).min(length);
    let before: String = text.chars().take(caret).collect();
    let mut tokens = tokens(&before);
    // The token that touches the caret is incomplete.
    let is_open =
        tokens.last().is_some_and(|last| last.to == caret && !matches!(last.text.as_str(), "(" | ")"));
    let begun = if is_open { tokens.pop() } else { None };
    let options = options(&tokens, names);
    let part = begun.as_ref().map_or(String::new(), |token| token.text.to_lowercase());
    let fits = |option: &CompletionOption| {
        let value = self::tokens(&option.text).into_iter().next();
        value.is_some_and(|value| value.text.to_lowercase().starts_with(&part))
    };
    let error = if text.trim().is_empty() { None } else { parse(text, names).err() };
    Completion {
        from: u32::try_from(begun.map_or(caret, |token| token.from)).unwrap_or(u32::MAX),
        options: options.into_iter().filter(fits).take(MAX_OPTIONS).collect(),
        error_at: error.as_ref().and_then(|error| u32::try_from(error.at).ok()),
        error: error.map(|error| format!("expected {}", error.expected)),
    }
}

fn options(tokens: &[Token], names: &Names) -> Vec<CompletionOption> {
    let word = |back: usize| {
        let token = tokens.len().checked_sub(back).and_then(|at| tokens.get(at));
        token.filter(|token| !token.is_quoted).map_or("", |token| token.text.as_str())
    };
    let plain = |words: &[&str]| {
        words.iter().map(|word| option((*word).to_owned(), String::new())).collect::<Vec<_>>()
    };
    let is_joint =
        |word: &str| ["and", "or", "not", "("].iter().any(|joint| joint.eq_ignore_ascii_case(word));
    if tokens.is_empty() || is_joint(word(1)) {
        let fields =
            Field::ALL.iter().map(|(_, name, about)| option((*name).to_owned(), (*about).to_owned()));
        return fields.chain(plain(&["not", "("])).collect();
    }
    if let Some(field) = Field::of(word(1)).filter(|_| tokens.len() == 1 || is_joint(word(2))) {
        return plain(&field.comparisons().iter().map(|comparison| comparison.sign()).collect::<Vec<_>>());
    }
    if let Some(field) = Field::of(word(2)).filter(|_| tokens.len() == 2 || is_joint(word(3))) {
        return field.values(names).into_iter().map(|(value, about)| option(quoted(value), about)).collect();
    }
    plain(&["and", "or"])
}

fn option(text: String, about: String) -> CompletionOption {
    CompletionOption { text, about }
}

/// A value, quoted where the filter needs it, with the quotes that it lacks if possible.
fn quoted(value: String) -> String {
    let has = |letter| value.contains(letter);
    match tokens(&value).as_slice() {
        [token] if !token.is_quoted => value,
        _ if has('"') && !has('\'') => format!("'{value}'"),
        _ => format!("\"{}\"", value.replace('"', "\"\"")),
    }
}

/// Maximum number of options of an answer.
const MAX_OPTIONS: usize = 100;
