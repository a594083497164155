//! Engines open no socket, read no clock, spawn no task and take no lock.

use std::path::Path;
use std::sync::LazyLock;

use anyhow::Result;
use regex_lite::{Match, Regex};

use super::walls::ENGINES;
use crate::problem::Problem;
use crate::source::{Source, read_all};

/// A path into `std`: one module, or a braced list of them.
static STD_PATH: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bstd\s*::\s*(\w+|\{[^;]*)"));
/// A word of Rust.
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[A-Za-z_]\w*"));

/// Modules of `std` that reach outside the program.
const MODULES: [&str; 5] = ["env", "fs", "os", "process", "thread"];
/// Types that reach outside the program or wait; engines define no types with these names.
const TYPES: [&str; 11] = [
    "Condvar",
    "Instant",
    "Mutex",
    "RwLock",
    "SystemTime",
    "TcpListener",
    "TcpStream",
    "UdpSocket",
    "UnixDatagram",
    "UnixListener",
    "UnixStream",
];

/// Reads the sources of the existing engines, without tests.
///
/// # Errors
/// A source cannot be read.
pub(super) fn check(root: &Path) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for engine in ENGINES {
        let folder = format!("crates/{engine}/src");
        if root.join(&folder).is_dir() {
            let sources = read_all(root, &folder, &["rs"])?;
            problems.extend(sources.iter().flat_map(check_source));
        }
    }
    Ok(problems)
}

pub(super) fn check_source(source: &Source) -> Vec<Problem> {
    let code = source.code.as_str();
    let modules = STD_PATH
        .captures_iter(code)
        .filter_map(|path| path.get(1))
        .flat_map(|path| WORD.find_iter(path.as_str()).map(move |word| (path.start() + word.start(), word)))
        .filter(|(_, word)| MODULES.contains(&word.as_str()));
    let types = WORD
        .find_iter(code)
        .map(|word| (word.start(), word))
        .filter(|(_, word)| TYPES.contains(&word.as_str()));
    modules
        .chain(types)
        .filter(|(offset, _)| !source.is_test(*offset))
        .map(|(offset, word)| problem(source, offset, word))
        .collect()
}

fn problem(source: &Source, offset: usize, word: Match<'_>) -> Problem {
    let what = format!(
        "an engine opens no socket, reads no clock, spawns no task and takes no lock, but here is `{}`; \
         let the caller do it and hand the outcome in",
        word.as_str()
    );
    Problem::new(source.place(offset), what)
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant that the tests compile")
}
