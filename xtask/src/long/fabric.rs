//! A fabric of network namespaces that forwards ten million packets, and its faults.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use clap::Parser;

use crate::cargo::{cargo, run as finish, target_directory};

/// Runs labs of 4 leaves, 2 spines and 8 hosts, whose switches forward themselves, let Linux forward, or are
/// of both kinds. Needs root.
#[derive(Parser)]
#[command(name = "cargo xtask long fabric")]
struct Arguments {
    /// Packets with INT through each of the three fabrics
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    packets: u64,
    /// Payloads a second, of all hosts together: as many as the machine can forward without loss
    #[arg(long, value_name = "N", default_value_t = 30_000)]
    rate: u32,
    /// Only the parts whose name, such as kernel-packets or mixed-loop, contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// The Cargo profile of the program
    #[arg(long, value_name = "PROFILE", default_value = "release")]
    profile: String,
    /// The Python that runs the check
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: String,
}

/// Builds the program and runs the check.
///
/// # Errors
/// The program does not build, or one of the expectations does not hold; the output names each of them.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("fabric");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    finish(cargo(root).args(["build", "--quiet", "--package", "inband", "--profile", &arguments.profile]))?;
    let folder = if arguments.profile == "dev" { "debug" } else { &arguments.profile };
    let mut check = Command::new(&arguments.python);
    check.arg(root.join("checks/fabric.py"));
    check.arg("--program").arg(target_directory(root).join(folder).join("inband"));
    check.args(["--packets", &arguments.packets.to_string(), "--rate", &arguments.rate.to_string()]);
    finish(check.args(["--only", &arguments.only]))
}
