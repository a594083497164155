//! Import cycles between the files of a crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;

use self::graph::Graph;
use super::imports;
use super::modules::Modules;
use crate::problem::Problem;
use crate::source::{Source, read_all};

mod graph;

#[cfg(test)]
mod tests;

/// Finds the import cycles of every crate below `crates` and of this one, without tests.
///
/// A file imports another when it names an item that the other defines, in a `use` or in a path, also through
/// a re-export. Declaring a module is no import.
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

/// The `src` folders of the workspace, sorted.
///
/// # Errors
/// The folder of the crates cannot be read.
pub(super) fn workspace_folders(root: &Path) -> Result<Vec<String>> {
    let mut folders = vec!["xtask/src".to_owned()];
    if root.join("crates").is_dir() {
        for entry in std::fs::read_dir(root.join("crates"))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            folders.push(format!("crates/{name}/src"));
        }
    }
    folders.retain(|folder| root.join(folder).is_dir());
    folders.sort();
    Ok(folders)
}

/// The cycles among `sources`, the files of one crate whose root is in `folder`.
pub(super) fn check_crate(folder: &str, sources: &[Source]) -> Vec<Problem> {
    let modules = Modules::new(folder, sources);
    let mut graph = Graph::default();
    let mut places: BTreeMap<(usize, usize), String> = BTreeMap::new();
    for (file, source) in sources.iter().enumerate() {
        for import in imports::of(source) {
            let Some(target) = modules.definition(file, &import.path) else { continue };
            if target != file {
                graph.add(file, target);
                places.entry((file, target)).or_insert_with(|| source.place(import.offset));
            }
        }
    }
    graph.cycles().iter().map(|cycle| problem(sources, &places, cycle)).collect()
}

/// Describes a cycle: its files, each arrow with the line that makes it.
fn problem(
    sources: &[Source],
    places: &BTreeMap<(usize, usize), String>,
    group: &BTreeSet<usize>,
) -> Problem {
    let inside: Vec<String> = places
        .iter()
        .filter(|((from, to), _)| group.contains(from) && group.contains(to))
        .map(|((_, to), place)| format!("\n    {place} imports {}", sources[*to].path))
        .collect();
    let first = group.first().map_or("", |file| sources[*file].path.as_str());
    Problem::new(first, format!("import cycle between {} files:{}", group.len(), inside.concat()))
}
