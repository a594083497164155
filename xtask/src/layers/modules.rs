//! The modules of a crate, and the file that defines the item of a path.

use std::collections::HashMap;

use super::imports::{self, Name};
use crate::source::Source;

/// Maximum number of re-exports in one path; more is a mistake of the crate.
const MAX_REEXPORTS: usize = 16;

/// The module tree of a crate: one file is one module.
pub(super) struct Modules {
    files: HashMap<Vec<String>, usize>,
    paths: Vec<Vec<String>>,
    names: Vec<Vec<Name>>,
}

/// The target of a path.
enum Found {
    /// A module as a whole.
    Module,
    /// An item of a file.
    Item(usize),
}

impl Modules {
    /// The modules of `sources`, which are below `folder`; test files are left out.
    pub(super) fn new(folder: &str, sources: &[Source]) -> Self {
        let paths: Vec<_> = sources.iter().map(|source| module_path(folder, &source.path)).collect();
        let files = paths
            .iter()
            .enumerate()
            .filter(|(file, _)| !sources[*file].is_test(0))
            .map(|(file, path)| (path.clone(), file))
            .collect();
        Self { files, paths, names: sources.iter().map(imports::names).collect() }
    }

    /// The file that defines the item which `path`, as written in `file`, names; `None` for a whole module
    /// and for items of other crates.
    pub(super) fn definition(&self, file: usize, path: &[String]) -> Option<usize> {
        match self.resolve(file, path, MAX_REEXPORTS)? {
            Found::Item(file) => Some(file),
            Found::Module => None,
        }
    }

    fn resolve(&self, file: usize, path: &[String], reexports: usize) -> Option<Found> {
        let (first, rest) = path.split_first()?;
        let here = &self.paths[file];
        match first.as_str() {
            "crate" => self.walk(self.root()?, rest, reexports),
            "self" => self.walk(file, rest, reexports),
            "super" => self.walk(self.parent(here)?, rest, reexports),
            _ if self.child(file, first).is_some() => self.walk(file, path, reexports),
            _ => {
                // The first segment was imported by a `use` of this file.
                let name = self.names[file].iter().find(|name| name.name == *first && name.path != path)?;
                let mut whole = name.path.clone();
                whole.extend_from_slice(rest);
                if whole.first() == Some(first) && self.child(file, first).is_none() {
                    return None;
                }
                self.resolve(file, &whole, reexports.checked_sub(1)?)
            }
        }
    }

    /// Follows `path` from the module `file`.
    fn walk(&self, file: usize, path: &[String], reexports: usize) -> Option<Found> {
        let Some((first, rest)) = path.split_first() else { return Some(Found::Module) };
        if first == "super" {
            return self.walk(self.parent(&self.paths[file])?, rest, reexports);
        }
        if let Some(child) = self.child(file, first) {
            return self.walk(child, rest, reexports);
        }
        match self.names[file].iter().find(|name| name.name == *first) {
            Some(name) => {
                let mut whole = name.path.clone();
                whole.extend_from_slice(rest);
                self.resolve(file, &whole, reexports.checked_sub(1)?)
            }
            None => Some(Found::Item(file)),
        }
    }

    fn child(&self, file: usize, name: &str) -> Option<usize> {
        let mut path = self.paths[file].clone();
        path.push(name.to_owned());
        self.files.get(&path).copied()
    }

    fn parent(&self, path: &[String]) -> Option<usize> {
        let (_, parent) = path.split_last()?;
        self.files.get(parent).copied()
    }

    /// The root of the crate: the library, or else the program.
    fn root(&self) -> Option<usize> {
        self.files.get([].as_slice()).copied()
    }
}

/// The module of the file at `path`.
fn module_path(folder: &str, path: &str) -> Vec<String> {
    let inner = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/').trim_end_matches(".rs");
    let mut segments: Vec<String> = inner.split('/').map(str::to_owned).collect();
    match segments.last().map(String::as_str) {
        Some("mod") => drop(segments.pop()),
        Some("lib" | "main") if segments.len() == 1 => segments.clear(),
        _ => {}
    }
    segments
}
