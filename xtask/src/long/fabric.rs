//! A fabric of network namespaces that forwards ten million packets, and its faults.

use std::path::Path;

use anyhow::Result;
use clap::Parser;

use super::programs::Programs;
use crate::cargo::run as finish;

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
    #[command(flatten)]
    programs: Programs,
}

/// Builds the program and runs the check.
///
/// # Errors
/// The program does not build, or one of the expectations does not hold; the output names each of them.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let name = std::iter::once("fabric");
    let arguments = Arguments::parse_from(name.chain(arguments.iter().map(String::as_str)));
    let folder = arguments.programs.build(root, &["inband"])?;
    let mut check = arguments.programs.check(root, "fabric.py", &folder);
    check.args(["--packets", &arguments.packets.to_string(), "--rate", &arguments.rate.to_string()]);
    finish(check.args(["--only", &arguments.only]))
}
