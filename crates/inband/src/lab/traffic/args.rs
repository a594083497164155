//! The arguments of sending and receiving.

use std::net::IpAddr;
use std::time::Duration;

use inband_lab::quantity::Rate;

/// Arguments of `send`.
#[derive(Debug, clap::Args)]
pub(super) struct SendArgs {
    /// Addresses of receivers
    #[arg(required = true)]
    pub(super) destinations: Vec<IpAddr>,
    /// Their port
    #[arg(long, default_value_t = PORT)]
    pub(super) port: u16,
    /// Over TCP instead of UDP
    #[arg(long)]
    pub(super) tcp: bool,
    /// Flows to each receiver
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) flows: u16,
    /// Rate of all flows together, such as 10Mbit; 0: as fast as possible
    #[arg(long, default_value = "1Mbit")]
    pub(super) rate: Rate,
    /// Bytes of each payload
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u16).range(16..=9000))]
    pub(super) bytes: u16,
    /// Payloads of all flows together; without it, until the time is up
    #[arg(long)]
    pub(super) packets: Option<u64>,
    /// How long to send
    #[arg(long = "for", value_name = "TIME", default_value = "5s", value_parser = humantime::parse_duration)]
    pub(super) time: Duration,
}

/// Arguments of `receive`.
#[derive(Debug, clap::Args)]
pub(super) struct ReceiveArgs {
    /// Port of UDP and TCP
    #[arg(long, default_value_t = PORT)]
    pub(super) port: u16,
    /// How long to receive; without it, until it is stopped
    #[arg(long = "for", value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(super) time: Option<Duration>,
    /// End after this many payloads
    #[arg(long)]
    pub(super) packets: Option<u64>,
}

/// The default port.
const PORT: u16 = 5000;
