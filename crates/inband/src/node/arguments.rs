//! The command line of `inband node`.

use std::path::{Path, PathBuf};

use super::reload::Reload;
use crate::number::number;

/// Run one INT node over a capture file.
///
/// Reads packets as received on one interface and writes them as sent from another. The node is source, transit hop
/// or sink as its interfaces say: INT starts where a watched packet enters by an edge interface, and is taken out
/// where it leaves by one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Configuration of the node
    #[arg(short, long, value_name = "NODE.TOML")]
    pub(super) config: PathBuf,
    /// Capture to read, pcap or pcapng; `-` is stdin
    #[arg(long, value_name = "IN")]
    pub(super) read: PathBuf,
    /// Capture to write, in the format of the one that is read; `-` is stdout
    #[arg(long, value_name = "OUT")]
    pub(super) write: PathBuf,
    /// Capture to write the node's reports to, as UDP packets to its collector
    #[arg(long, value_name = "REP")]
    pub(super) reports: Option<PathBuf>,
    /// Capture to write the node's messages to senders of packets to, in the format of the one that is read
    #[arg(long, value_name = "REPLIES", long_help = REPLIES_HELP)]
    pub(super) replies: Option<PathBuf>,
    /// Interface the packets come in by
    #[arg(long, value_name = "N", value_parser = number::<u16>)]
    pub(super) ingress: u16,
    /// Interface the packets leave by
    #[arg(long, value_name = "M", value_parser = number::<u16>)]
    pub(super) egress: u16,
    /// Configuration whose watchlist, filters and drop reasons apply after packet N; can be given more than
    /// once
    #[arg(long, value_name = "N:NODE.TOML", value_parser = Reload::parse)]
    pub(super) reload: Vec<Reload>,
    /// Print the counters as one JSON object on stdout
    #[arg(long)]
    pub(super) json: bool,
}

/// A file of the command line, with its option.
pub(super) type Named<'a> = (&'static str, &'a Path);

impl Args {
    /// The files that are read.
    pub(super) fn files_read(&self) -> Vec<Named<'_>> {
        let reloads = self.reload.iter().map(|reload| ("--reload", reload.path()));
        [("--config", self.config.as_path()), ("--read", &self.read)].into_iter().chain(reloads).collect()
    }

    /// The files that are written.
    pub(super) fn written(&self) -> Vec<Named<'_>> {
        let others = [("--reports", &self.reports), ("--replies", &self.replies)];
        let others = others.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)));
        [("--write", self.write.as_path())].into_iter().chain(others).collect()
    }
}

const REPLIES_HELP: &str = "\
Capture to write the node's messages to senders of packets to, in the format of the one that is read: ICMP \
\"fragmentation needed\" and ICMPv6 \"packet too big\", which `mtu.icmp` switches on. They leave by the interface the \
packets came in by, at the time of the packet they answer";

const EXAMPLES: &str = "\
Examples:
  inband node -c source.toml --read host.pcap --write fabric.pcap --ingress 1 --egress 2
  inband node -c sink.toml --read fabric.pcap --write host.pcap --reports reports.pcap --ingress 1 --egress 2
  inband decode reports.pcap

A smallest source.toml:
  node.id = 1
  [[interface]]
  id = 1
  edge = true
  [[interface]]
  id = 2
  [[watch]]
  destination = \"0.0.0.0/0\"";
