//! `inband convert`: another system's configuration as `node.toml`, or its topology as `names.toml`.

mod deepinsight;
mod json;
mod netcfg;
mod node_toml;
mod onos;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, anyhow};
use inband_model::NameList;
use inband_node::{Node, NodeConfig};

use crate::failure::Failure;
use crate::input::is_dash;
use crate::note::note;
use crate::number::number;
use crate::stdout::Stdout;
use netcfg::Netcfg;
use node_toml::Identity;

/// Turn another system's configuration into node.toml, or its topology into names for the collector.
///
/// The result goes to stdout; stderr says what could not be carried over.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, clap::Subcommand)]
enum From {
    OnosNetcfg(NetcfgArgs),
    OnosTopology(OnosArgs),
    DeepinsightTopology(DeepinsightArgs),
}

/// The names in a topology of DeepInsight (topology.json), for [names] of collector.toml.
#[derive(Debug, clap::Args)]
#[command(after_help = DEEPINSIGHT_EXAMPLES)]
struct DeepinsightArgs {
    /// The topology, JSON; `-` is stdin
    file: PathBuf,
}

const DEEPINSIGHT_EXAMPLES: &str = "\
Examples:
  inband convert deepinsight-topology topology.json > names.toml
  printf '[names]\\nfile = \"names.toml\"\\n' >> collector.toml";

/// The names that ONOS knows, for [names] of collector.toml.
///
/// The files are responses of its REST API in any order: /onos/v1/network/configuration, which is required
/// because only it contains node ids (ipv4NodeSid), and /onos/v1/devices, /onos/v1/links and /onos/v1/hosts.
#[derive(Debug, clap::Args)]
#[command(after_help = ONOS_EXAMPLES)]
struct OnosArgs {
    /// Responses of ONOS, JSON; `-` is stdin
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

const ONOS_EXAMPLES: &str = "\
Examples:
  inband convert onos-topology netcfg.json > names.toml
  inband convert onos-topology netcfg.json devices.json links.json hosts.json > names.toml";

/// The INT application of SD-Fabric in a network configuration of ONOS, for one of its devices.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
struct NetcfgArgs {
    /// Network configuration, JSON; `-` is stdin
    file: PathBuf,
    /// The device that the node represents; required if there are several
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Node ID [default: the device's ipv4NodeSid]
    #[arg(long, value_name = "N", value_parser = number::<u32>)]
    node_id: Option<u32>,
}

const EXAMPLES: &str = "\
Examples:
  inband convert onos-netcfg netcfg.json > node.toml
  inband convert onos-netcfg netcfg.json --device device:leaf1 > leaf1.toml
  curl -s -u onos:rocks http://onos:8181/onos/v1/network/configuration | inband convert onos-netcfg - --device device:leaf1";

/// Writes the result to stdout.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut notes = Vec::new();
    let toml = match &args.from {
        From::OnosNetcfg(args) => node(args, &mut notes)?,
        From::OnosTopology(OnosArgs { files }) => {
            let texts = files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
            let name = files.iter().map(|file| name(file)).collect::<Vec<_>>().join(", ");
            let names = onos::names(&texts, &mut notes).with_context(|| name.clone())?;
            list(&name, names, &mut notes)?
        }
        From::DeepinsightTopology(DeepinsightArgs { file }) => {
            let (name, text) = (name(file), read(file)?);
            let names = deepinsight::names(&text, &mut notes).with_context(|| name.clone())?;
            list(&name, names, &mut notes)?
        }
    };
    Stdout::new().write_all(toml.as_bytes()).context("cannot write the output")?;
    for note in notes {
        note!("note: {note}");
    }
    Ok(())
}

/// The node's configuration.
fn node(args: &NetcfgArgs, notes: &mut Vec<String>) -> Result<String, Failure> {
    let (name, text) = (name(&args.file), read(&args.file)?);
    let netcfg = Netcfg::parse(&text, notes).with_context(|| name.clone())?;
    let identity = identify(&netcfg, args, notes)?;
    let toml = node_toml::write(&name, &netcfg, &identity, notes);
    // The output must be a configuration that a node accepts.
    let config: NodeConfig = toml::from_str(&toml).map_err(Error::from).with_context(|| name.clone())?;
    Node::new(&config).map_err(Error::from).with_context(|| name.clone())?;
    Ok(toml)
}

/// The names as a file, in which nothing is named twice.
fn list(from: &str, mut names: NameList, notes: &mut Vec<String>) -> Result<String, Error> {
    let dropped = names.keep_last();
    notes.extend(dropped.iter().map(|repeated| format!("{repeated} is named twice: the last name applies")));
    let toml = toml::to_string(&names).context("cannot write the names down")?;
    Ok(format!("# Names out of {from}, for `[names] file` of collector.toml.\n\n{toml}"))
}

fn name(path: &Path) -> String {
    if is_dash(path) { "stdin".to_owned() } else { path.display().to_string() }
}

/// Selects the device, and finds its id and address.
fn identify(netcfg: &Netcfg, args: &NetcfgArgs, notes: &mut Vec<String>) -> Result<Identity, Failure> {
    let names = || netcfg.devices.iter().map(|device| device.name.as_str()).collect::<Vec<_>>().join(", ");
    let device = match (&args.device, netcfg.devices.as_slice()) {
        (Some(name), devices) => {
            Some(devices.iter().find(|device| device.name == *name).ok_or_else(|| {
                let others = match devices {
                    [] => "it has none".to_owned(),
                    _ => format!("only: {}", names()),
                };
                Failure::usage(format!("--device {name}: the file has no such device, {others}"))
            })?)
        }
        (None, [device]) => Some(device),
        (None, []) => None,
        (None, _) if args.node_id.is_some() => None,
        (None, _) => {
            return Err(Failure::usage(format!(
                "there are several devices, choose one by --device: {}",
                names()
            )));
        }
    };
    let node_id = args.node_id.or_else(|| device?.node_sid).ok_or_else(|| {
        Failure::usage("the file has no ipv4NodeSid for the node, give its id by --node-id")
    })?;
    let others = netcfg.devices.iter().filter(|other| device.is_none_or(|device| other.name != device.name));
    let others: Vec<_> = others.map(|other| other.name.as_str()).collect();
    if !others.is_empty() {
        notes.push(format!("a node.toml is of one node; not in it: {}", others.join(", ")));
    }
    Ok(Identity {
        device: device.map(|device| device.name.clone()),
        node_id,
        source_address: device.and_then(|device| device.loopback),
    })
}

fn read(path: &Path) -> Result<String, Error> {
    let mut text = String::new();
    let source: io::Result<Box<dyn Read>> = if is_dash(path) {
        Ok(Box::new(io::stdin().lock()))
    } else {
        File::open(path).map(|file| Box::new(file) as _)
    };
    source
        .and_then(|source| source.take(LIMIT_BYTES + 1).read_to_string(&mut text))
        .with_context(|| format!("cannot read {}", name(path)))?;
    if text.len() as u64 > LIMIT_BYTES {
        return Err(anyhow!("cannot read {}: more than {LIMIT_BYTES} bytes", name(path)));
    }
    Ok(text)
}

/// Size limit of a configuration, bytes.
const LIMIT_BYTES: u64 = 16 * 1024 * 1024;
