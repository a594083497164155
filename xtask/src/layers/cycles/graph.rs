//! A directed graph of files, and the groups of files that reach each other.

use std::collections::{BTreeMap, BTreeSet};

/// The imports between files, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Graph {
    arrows: BTreeMap<usize, BTreeSet<usize>>,
}

impl Graph {
    /// Adds an arrow.
    pub(super) fn add(&mut self, from: usize, to: usize) {
        self.arrows.entry(from).or_default().insert(to);
    }

    /// The groups of at least two files in which each reaches every other, ordered by their smallest number.
    pub(super) fn cycles(&self) -> Vec<BTreeSet<usize>> {
        let reach: BTreeMap<usize, BTreeSet<usize>> =
            self.arrows.keys().map(|file| (*file, self.reachable(*file))).collect();
        let mut groups = BTreeSet::new();
        for (file, reached) in &reach {
            let group: BTreeSet<usize> = reached
                .iter()
                .copied()
                .filter(|other| reach.get(other).is_some_and(|back| back.contains(file)))
                .collect();
            if group.len() > 1 {
                groups.insert(group);
            }
        }
        groups.into_iter().collect()
    }

    /// Every file that can be reached from `start` by at least one arrow.
    fn reachable(&self, start: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![start];
        while let Some(file) = open.pop() {
            for next in self.arrows.get(&file).into_iter().flatten() {
                if reached.insert(*next) {
                    open.push(*next);
                }
            }
        }
        reached
    }
}
