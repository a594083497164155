//! The citations of requirements in code and tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex_lite::Regex;

use crate::source::Source;

/// `int-2.1/md-07`: a document with its version, and the id within it, whose number may be missing by
/// mistake.
static CITATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b[a-z][a-z-]*-[0-9][0-9.]*/[a-z][a-z0-9]*(-[0-9]+)?\b")
        .expect("the pattern is a constant that the tests compile")
});

/// The places that cite one requirement.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    /// Files whose code cites it.
    pub code: BTreeSet<String>,
    /// Files whose tests cite it.
    pub tests: BTreeSet<String>,
    /// `path:line` of each citation, to show when the id is unknown.
    pub lines: Vec<String>,
}

/// The citations by document and id.
pub(super) type Citations = BTreeMap<String, Places>;

/// Collects the citations of all sources; the path of a requirement file is not a citation.
pub(super) fn find_all(sources: &[Source]) -> Citations {
    let mut citations = Citations::new();
    for source in sources {
        let all = CITATION.find_iter(&source.text);
        for found in all.filter(|found| !source.text[found.end()..].starts_with(".toml")) {
            let places = citations.entry(found.as_str().into()).or_default();
            places.lines.push(source.place(found.start()));
            let files = if source.is_test(found.start()) { &mut places.tests } else { &mut places.code };
            files.insert(source.path.clone());
        }
    }
    citations
}
