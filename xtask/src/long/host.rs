//! Long checks of hosts: every network, a thousand kills, and the cost of INT.

use std::path::Path;

use anyhow::Result;
use clap::Parser;

use crate::cargo::{cargo, run as finish};

/// Sends every kind of traffic over every network, with every encapsulation, over IPv4 and IPv6.
#[derive(Parser)]
#[command(name = "cargo xtask long host")]
struct Matrix {
    /// Only this one, such as `SourceNat`
    #[arg(long, value_name = "NETWORK")]
    network: Option<String>,
}

/// Kills agents, shims and devices at random under traffic.
#[derive(Parser)]
#[command(name = "cargo xtask long host-kills")]
struct Kills {
    /// Number of kills
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    kills: u32,
    /// Seed; default: the time
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
}

/// Measures throughput, latency and programs with and without INT, alternately.
#[derive(Parser)]
#[command(name = "cargo xtask long host-cost")]
struct Cost {
    /// Rounds of each form
    #[arg(long, value_name = "N", default_value_t = 10)]
    rounds: u32,
}

/// Checks every network.
///
/// # Errors
/// A byte has changed, a connection hangs, an application received INT, or a filter did not work.
pub(super) fn matrix(root: &Path, arguments: &[String]) -> Result<()> {
    let Matrix { network } = parse("host", arguments);
    let settings: Vec<_> = network.into_iter().map(|network| ("NETWORK", network)).collect();
    test(root, "every_network_kind_and_version_changes_no_byte", &settings)
}

/// Kills agents, shims and devices.
///
/// # Errors
/// A connection broke, or a packet was delivered with INT.
pub(super) fn kills(root: &Path, arguments: &[String]) -> Result<()> {
    let Kills { kills, seed } = parse("host-kills", arguments);
    let mut settings = vec![("KILLS", kills.to_string())];
    settings.extend(seed.map(|seed| ("SEED", seed.to_string())));
    test(root, "nothing_breaks_when_a_thousand_agents_shims_and_devices_die", &settings)
}

/// Measures the cost of INT.
///
/// # Errors
/// A packet was reordered, or an interval of a flow had no packet with INT.
pub(super) fn cost(root: &Path, arguments: &[String]) -> Result<()> {
    let Cost { rounds } = parse("host-cost", arguments);
    test(root, "cost_of_int_beside_none", &[("ROUNDS", rounds.to_string())])
}

fn parse<T: Parser>(name: &str, arguments: &[String]) -> T {
    T::parse_from(std::iter::once(name).chain(arguments.iter().map(String::as_str)))
}

fn test(root: &Path, name: &str, settings: &[(&str, String)]) -> Result<()> {
    let mut command = cargo(root);
    command.envs(settings.iter().map(|(key, value)| (key, value)));
    command.args(["test", "--release", "-p", "inband", "--test", "host", "--"]);
    finish(command.args(["--ignored", "--nocapture", name]))
}
