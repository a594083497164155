//! The paths in a source, and the names that its `use` declarations import.

use std::ops::Range;
use std::sync::LazyLock;

use regex_lite::Regex;

use crate::source::Source;

/// `use …;` with the tree after it, and its visibility, which makes it a re-export.
static USE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(\bpub\s*(?:\([^)]*\)\s*)?)?\buse\s+([^;]+);"));
/// A path of at least two segments, as in an expression or a type.
static PATH: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)+"));
/// A word of Rust.
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[A-Za-z_]\w*"));

/// One path outside tests.
#[derive(Debug)]
pub(super) struct Import {
    /// Its segments, as written.
    pub(super) path: Vec<String>,
    /// Offset of the declaration or path in the source, bytes.
    pub(super) offset: usize,
}

/// A `use` declaration: the name it imports, and the path of the item.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// The name in this file; `*` for all names of a module.
    pub(super) name: String,
    /// The segments of the path, as written.
    pub(super) path: Vec<String>,
}

/// Every path in `source` outside tests, those of `use` declarations first.
///
/// A re-export counts where the file uses the name itself.
pub(super) fn of(source: &Source) -> Vec<Import> {
    let declarations = declarations(source);
    let inside = |offset: usize| declarations.iter().any(|declaration| declaration.span.contains(&offset));
    let outside = |offset: usize| !inside(offset) && !source.is_test(offset);
    let used = |name: &Name| {
        WORD.find_iter(&source.code).any(|word| word.as_str() == name.name && outside(word.start()))
    };

    let mut imports = Vec::new();
    for declaration in declarations.iter().filter(|declaration| !source.is_test(declaration.offset)) {
        for name in names_of(declaration.tree) {
            if !declaration.reexport || used(&name) {
                imports.push(Import { path: name.path, offset: declaration.offset });
            }
        }
    }
    let written = PATH.find_iter(&source.code).filter(|found| outside(found.start()));
    imports.extend(written.map(|found| Import {
        path: found.as_str().split("::").map(|segment| segment.trim().to_owned()).collect(),
        offset: found.start(),
    }));
    imports
}

/// The names that the `use` declarations of `source` import outside tests.
pub(super) fn names(source: &Source) -> Vec<Name> {
    declarations(source)
        .iter()
        .filter(|declaration| !source.is_test(declaration.offset))
        .flat_map(|declaration| names_of(declaration.tree))
        .collect()
}

/// One `use` declaration.
struct Declaration<'a> {
    tree: &'a str,
    /// Offset of the tree.
    offset: usize,
    /// The declaration without its visibility.
    span: Range<usize>,
    /// True after `pub`, also with a restriction such as `pub(crate)`.
    reexport: bool,
}

fn declarations(source: &Source) -> Vec<Declaration<'_>> {
    let found = USE.captures_iter(&source.code).filter_map(|found| {
        let (whole, tree) = (found.get(0)?, found.get(2)?);
        let reexport = found.get(1).is_some();
        Some(Declaration { tree: tree.as_str(), offset: tree.start(), span: whole.range(), reexport })
    });
    found.collect()
}

/// The names of one tree, such as `crate::a::{self, b::C as D}`.
pub(super) fn names_of(tree: &str) -> Vec<Name> {
    let mut found = Vec::new();
    expand(&[], tree.trim(), &mut found);
    found
}

fn expand(before: &[String], tree: &str, found: &mut Vec<Name>) {
    let (head, branches) = match tree.split_once('{') {
        Some((head, rest)) => (head, Some(rest.trim_end().trim_end_matches('}'))),
        None => (tree, None),
    };
    let mut path = before.to_vec();
    path.extend(head.split("::").map(str::trim).filter(|segment| !segment.is_empty()).map(str::to_owned));
    match branches {
        Some(branches) => {
            for branch in split(branches) {
                expand(&path, branch, found);
            }
        }
        None => found.extend(leaf(path)),
    }
}

/// The name imported by a path without braces.
fn leaf(mut path: Vec<String>) -> Option<Name> {
    let last = path.pop()?;
    let (original, name) = match last.split_once(" as ") {
        Some((original, name)) => (original.trim().to_owned(), name.trim().to_owned()),
        None => (last.clone(), last),
    };
    if original == "self" && !path.is_empty() {
        let name = if name == "self" { path.last()?.clone() } else { name };
        return Some(Name { name, path });
    }
    if original != "*" {
        path.push(original);
    }
    Some(Name { name, path })
}

/// The branches between two braces, split at the commas of the outer level.
fn split(branches: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (offset, byte) in branches.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(branches[start..offset].trim());
                start = offset + 1;
            }
            _ => {}
        }
    }
    parts.push(branches[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant that the tests compile")
}
