//! Valid names of labs, hosts and switches.

/// The fault of a name; `None`: it is valid.
pub(super) fn fault(name: &str) -> Option<String> {
    let fits = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(fits) || name.starts_with(['-', '.']) {
        return Some(format!(
            "`{name}` is not a name: 1 to {MAX_NAME} letters, digits, `-`, `_` and `.`, the first a letter or digit"
        ));
    }
    RESERVED.contains(&name).then(|| format!("`{name}` is the name of a part of every lab"))
}

/// The namespaces reserved by every lab.
const RESERVED: [&str; 2] = ["collector", "links"];
/// Maximum length of a name, bytes.
const MAX_NAME: usize = 40;
