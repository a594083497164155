//! Types that are too large.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use anyhow::Result;
use regex_lite::Regex;

use super::cycles::workspace_folders;
use super::modules::Modules;
use crate::problem::Problem;
use crate::source::{Source, read_all};

/// Number of fields allowed to any type.
const MAX_FIELDS: usize = 12;
/// Maximum number of files with `impl` blocks of a type with more fields than that.
const MAX_FILES: usize = 3;

/// The name of a type with named fields, up to the text after it.
static STRUCT: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bstruct\s+([A-Za-z_]\w*)"));
/// The head of an `impl` block, at the beginning of a formatted line.
static IMPL: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^ *(?:unsafe +)?impl\b([^{;]*)\{"));
/// A field: a name and a colon that is not half of a path separator.
static FIELD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[A-Za-z_]\w*\s*:(?:[^:]|$)"));
/// A path at the beginning of a type.
static TYPE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*"));

/// A type with named fields.
struct Object {
    name: String,
    fields: usize,
    offset: usize,
    /// The files with `impl` blocks of the type.
    files: BTreeSet<usize>,
}

/// Finds the types of every crate, without tests, that have more than 12 fields and `impl` blocks in more
/// than three files: such a type should be several types.
///
/// # Errors
/// A source cannot be read.
pub(super) fn check(root: &Path) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for folder in workspace_folders(root)? {
        problems.extend(check_crate(&folder, &read_all(root, &folder, &["rs"])?));
    }
    Ok(problems)
}

/// The types of one crate that are too large.
pub(super) fn check_crate(folder: &str, sources: &[Source]) -> Vec<Problem> {
    let modules = Modules::new(folder, sources);
    let mut objects: BTreeMap<(usize, String), Object> = BTreeMap::new();
    for (file, source) in sources.iter().enumerate() {
        for object in objects_of(source) {
            objects.insert((file, object.name.clone()), object);
        }
    }
    for (file, source) in sources.iter().enumerate() {
        for path in implemented(source) {
            let Some(name) = path.last().cloned() else { continue };
            let is_local = path.len() == 1 && objects.contains_key(&(file, name.clone()));
            let home = if is_local { Some(file) } else { modules.definition(file, &path) };
            if let Some(object) = home.and_then(|home| objects.get_mut(&(home, name))) {
                object.files.insert(file);
            }
        }
    }
    let too_large = objects
        .into_iter()
        .filter(|(_, object)| object.fields > MAX_FIELDS && object.files.len() > MAX_FILES);
    too_large
        .map(|((file, name), object)| {
            let what = format!(
                "`{name}` has {} fields and `impl` blocks in {} files; with more than {MAX_FIELDS} and {MAX_FILES} it is \
                 several types",
                object.fields,
                object.files.len()
            );
            Problem::new(sources[file].place(object.offset), what)
        })
        .collect()
}

/// The types with named fields that a source defines outside tests.
fn objects_of(source: &Source) -> impl Iterator<Item = Object> {
    STRUCT.captures_iter(&source.code).filter_map(|found| {
        let (whole, name) = (found.get(0)?, found.get(1)?);
        if source.is_test(whole.start()) {
            return None;
        }
        let body = body(source.code.get(whole.end()..)?)?;
        let (name, fields) = (name.as_str().to_owned(), FIELD.find_iter(&body).count());
        Some(Object { name, fields, offset: whole.start(), files: BTreeSet::new() })
    })
}

/// The text between the braces of a type whose name has just ended, without what is nested in brackets;
/// `None` for a type without braces.
fn body(code: &str) -> Option<String> {
    let open = code.find(['{', ';', '('])?;
    if code.as_bytes()[open] != b'{' {
        return None;
    }
    let mut depth = 0_usize;
    let mut body = String::new();
    for letter in code[open..].chars() {
        match letter {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' if depth == 1 => break,
            '}' | ')' | ']' => depth -= 1,
            _ if depth == 1 => body.push(letter),
            _ => {}
        }
    }
    Some(body)
}

/// The types of the `impl` blocks of a source outside tests, by the segments of their paths.
fn implemented(source: &Source) -> impl Iterator<Item = Vec<String>> {
    IMPL.captures_iter(&source.code).filter_map(|found| {
        let head = found.get(1)?;
        if source.is_test(head.start()) {
            return None;
        }
        let head = without_generics(head.as_str());
        let head = head.rsplit(" for ").next()?;
        let head = head.trim_start_matches(['&', ' ']);
        let path = TYPE.find(head)?.as_str();
        Some(path.split("::").map(|segment| segment.trim().to_owned()).collect())
    })
}

/// The head of an `impl` block without the text between angle brackets.
fn without_generics(head: &str) -> String {
    let mut depth = 0_usize;
    let mut kept = String::new();
    for letter in head.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '\n' if depth == 0 => kept.push(' '),
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    kept
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is fixed, and a test reads it")
}

#[cfg(test)]
mod tests;
