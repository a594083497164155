//! Turns a message about unknown names into one that suggests the nearest known ones.

/// Rewords a deserializer's message, with suggestions and the table it concerns.
pub(crate) fn explain(message: &str, table: Option<&str>) -> String {
    let place = table.map(|table| format!(" in {table}")).unwrap_or_default();
    if let Some(unknown) = Unknown::parse(message) {
        return unknown.explain(&place);
    }
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("missing key {key}{place}");
    }
    // The TOML parser puts what it expected on the second line.
    message.trim().replace('\n', ", ")
}

/// A message of the form ``unknown field `a`, expected one of `b`, `c` ``.
struct Unknown<'a> {
    /// What the names are: `key`, `value`, `instructions` …
    noun: &'a str,
    names: Vec<&'a str>,
    known: Vec<&'a str>,
    /// What is expected, in the message's words.
    expected: &'a str,
}

impl<'a> Unknown<'a> {
    fn parse(message: &'a str) -> Option<Self> {
        let rest = message.strip_prefix("unknown ")?;
        let (left, right) = SPLITS.iter().find_map(|split| rest.split_once(split))?;
        let noun = match left.split('`').next()?.trim() {
            "field" => "key",
            "variant" => "value",
            noun => noun,
        };
        let names = quoted(left);
        (!names.is_empty()).then(|| Self { noun, names, known: quoted(right), expected: right.trim() })
    }

    fn explain(&self, place: &str) -> String {
        let unknown = format!("unknown {} {}{place}", self.noun, list(&self.names));
        let nearest: Option<Vec<&str>> = self.names.iter().map(|name| nearest(name, &self.known)).collect();
        match nearest {
            _ if self.known.is_empty() => format!("{unknown}; none is known here"),
            Some(nearest) => format!("{unknown}; did you mean {}?", list(&nearest)),
            None => format!("{unknown}; expected {}", self.expected),
        }
    }
}

/// The known name most similar to `name`, if one is similar enough.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|candidate| (likeness(&name.to_lowercase(), &candidate.to_lowercase()), *candidate))
        .filter(|(likeness, _)| *likeness > LIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

/// The similarity of two names, 0 to 1; a single typo is tolerated, however short the name.
fn likeness(a: &str, b: &str) -> f64 {
    if strsim::osa_distance(a, b) <= 1 { 1.0 } else { strsim::jaro_winkler(a, b) }
}

/// Every part of `text` between backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{}`", name.escape_debug())).collect::<Vec<_>>().join(", ")
}

/// The separators between the unknown names and the known ones.
const SPLITS: [&str; 4] = [", expected", "; expected", ": expected", ", there are no "];

/// Similarity above which a known name is suggested; clap uses the same for options.
const LIKE: f64 = 0.7;

#[cfg(test)]
mod tests;
