//! The programs that a long check in Python measures.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::cargo::{cargo, run, target_directory};

/// How the programs are built, and what runs the check.
#[derive(Args)]
pub(super) struct Programs {
    /// The Cargo profile of the programs
    #[arg(long, value_name = "PROFILE", default_value = "release")]
    profile: String,
    /// The Python that runs the check
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: String,
}

impl Programs {
    /// Builds `packages`; returns the folder that contains their programs.
    ///
    /// # Errors
    /// They do not build.
    pub(super) fn build(&self, root: &Path, packages: &[&str]) -> Result<PathBuf> {
        let mut build = cargo(root);
        build.args(["build", "--profile", &self.profile]);
        for package in packages {
            build.args(["--package", package]);
        }
        run(&mut build)?;
        let folder = if self.profile == "dev" { "debug" } else { &self.profile };
        Ok(target_directory(root).join(folder))
    }

    /// A script of `checks/` with `--program`, the program in `folder`.
    pub(super) fn check(&self, root: &Path, script: &str, folder: &Path) -> Command {
        let mut check = Command::new(&self.python);
        check.arg(root.join("checks").join(script)).arg("--program").arg(folder.join("inband"));
        check
    }
}
