//! The `--reload` option: configurations that apply from a given packet on.

use std::path::{Path, PathBuf};

use anyhow::{Context, Error};
use inband_node::{Node, NodeConfig};

use crate::failure::Failure;
use crate::node_config::read_node;

/// One `--reload N:NODE.TOML`.
#[derive(Clone, Debug)]
pub(super) struct Reload {
    after: u64,
    path: PathBuf,
}

/// The pending configurations, the next one last.
pub(super) struct Reloads(Vec<(u64, PathBuf, NodeConfig)>);

impl Reload {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once(':').and_then(|(after, path)| Some((after.parse().ok()?, path)));
        match parts {
            Some((after, path)) if !path.is_empty() => Ok(Self { after, path: path.into() }),
            _ => Err("expected the number of a packet, a colon and a file, as in `100:node.toml`".to_owned()),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Reloads {
    /// Reads all files at once, so that an error in one of them is found before anything is written.
    pub(super) fn read(reloads: &[Reload]) -> Result<Self, Failure> {
        let mut all = Vec::new();
        for Reload { after, path } in reloads {
            let (config, _) = read_node(path)?;
            all.push((*after, path.clone(), config));
        }
        all.sort_by_key(|(after, ..)| std::cmp::Reverse(*after));
        Ok(Self(all))
    }

    /// Applies the configurations that are due before packet `number`.
    pub(super) fn apply_before(&mut self, number: u64, node: &mut Node) -> Result<(), Error> {
        while self.0.last().is_some_and(|(after, ..)| *after < number) {
            let Some((_, path, config)) = self.0.pop() else { break };
            node.reload(&config).with_context(|| format!("cannot take over {}", path.display()))?;
        }
        Ok(())
    }

    /// The files that have not been applied, each with the packet before it.
    pub(super) fn pending(&self) -> impl Iterator<Item = (u64, &Path)> {
        self.0.iter().rev().map(|(after, path, _)| (*after, path.as_path()))
    }
}
