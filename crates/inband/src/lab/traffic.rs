//! `inband lab traffic`: packets whose every byte is checked, for labs on machines without other programs.

mod pattern;
mod receive;
mod send;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use inband_lab::quantity::Rate;

use crate::failure::Failure;

/// Send or receive packets whose every byte is checked
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, clap::Subcommand)]
enum Task {
    /// Send to one or more receivers
    Send(SendArgs),
    /// Receive, and check what comes
    Receive(ReceiveArgs),
}

/// What is sent.
#[derive(Debug, clap::Args)]
pub(super) struct SendArgs {
    /// Addresses of receivers
    #[arg(required = true)]
    destinations: Vec<IpAddr>,
    /// Their port
    #[arg(long, default_value_t = PORT)]
    port: u16,
    /// Over TCP, and not UDP
    #[arg(long)]
    tcp: bool,
    /// Flows to each of them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    flows: u16,
    /// Rate of all flows together, such as 10Mbit; 0: as fast as possible
    #[arg(long, default_value = "1Mbit")]
    rate: Rate,
    /// Bytes of each payload
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u16).range(16..=9000))]
    bytes: u16,
    /// Payloads of all flows together; without it, until the time is over
    #[arg(long)]
    packets: Option<u64>,
    /// For how long
    #[arg(long = "for", value_name = "TIME", default_value = "5s", value_parser = humantime::parse_duration)]
    time: Duration,
}

/// What is received.
#[derive(Debug, clap::Args)]
pub(super) struct ReceiveArgs {
    /// Port of UDP and TCP
    #[arg(long, default_value_t = PORT)]
    port: u16,
    /// For how long; without it, until it is ended
    #[arg(long = "for", value_name = "TIME", value_parser = humantime::parse_duration)]
    time: Option<Duration>,
    /// End when so many payloads have come
    #[arg(long)]
    packets: Option<u64>,
}

/// Sends or receives; the result is a JSON object on stdout.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    match &args.task {
        Task::Send(args) => send::run(args),
        Task::Receive(args) => receive::run(args),
    }
}

/// Any address of the family of `of`.
fn any(of: IpAddr) -> SocketAddr {
    match of {
        IpAddr::V4(_) => (std::net::Ipv4Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(_) => (std::net::Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

const PORT: u16 = 5000;
