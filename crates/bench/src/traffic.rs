//! Reports of a synthetic network as datagrams: into a capture, or to a collector at the rate of such a
//! network.

use std::fs::File;
use std::io::{BufWriter, Write, stdout};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use clap::Args;
use inband_capture::{ByteOrder, Format, LinkType, Record, Resolution, Writer};
use inband_model::HopRecord;
use inband_testkit::network::{Encoder, HOPS, Network, Traffic};
use inband_testkit::packet;

/// What the synthetic network sends, and where to.
#[derive(Args)]
pub(crate) struct TrafficArguments {
    /// Write the reports of a network into this capture, `-` for stdout
    #[arg(long, value_name = "FILE", conflicts_with = "send")]
    capture: Option<PathBuf>,
    /// Send the reports of a network to this address
    #[arg(long, value_name = "ADDRESS")]
    send: Option<SocketAddr>,
    /// Number of reports
    #[arg(long, value_name = "NUMBER", default_value_t = 2_000_000)]
    reports: u64,
    /// Reports a second
    #[arg(long, value_name = "NUMBER", default_value_t = 3_333)]
    rate: u64,
    /// Number of flows of the network
    #[arg(long, value_name = "NUMBER", default_value_t = 200_000)]
    flows: usize,
    /// Begin with a report of each flow
    #[arg(long)]
    each_flow: bool,
}

/// Runs what the arguments request; `None` where they request nothing.
///
/// # Errors
/// The capture or the socket cannot be written.
pub(crate) fn run(arguments: &TrafficArguments) -> Option<Result<String>> {
    match (&arguments.capture, arguments.send) {
        (Some(path), _) => Some(capture(arguments, path)),
        (None, Some(to)) => Some(send(arguments, to)),
        (None, None) => None,
    }
}

fn capture(arguments: &TrafficArguments, path: &Path) -> Result<String> {
    let out: Box<dyn Write> = match path.to_str() {
        Some("-") => Box::new(stdout().lock()),
        _ => Box::new(File::create(path).context("cannot create the capture")?),
    };
    let format = Format::Pcap {
        order: ByteOrder::Little,
        resolution: Resolution::Nanoseconds,
        link: u32::from(LinkType::ETHERNET.0),
    };
    let mut writer = Writer::new(BufWriter::with_capacity(BUFFER_BYTES, out), format)?;
    let mut record = Record { link_type: LinkType::ETHERNET, ..Record::default() };
    // The frame of a datagram of this length; only addresses and payload are written later.
    let mut frame: Vec<u8> = Vec::new();
    let mut headers = 0;
    each_report(arguments, Traffic::default().start_ns, |hops, datagram| {
        if frame.len() != headers + datagram.len() || headers == 0 {
            frame = packet().udp(REPORTER_PORT, COLLECTOR_PORT).payload(datagram).unpadded().build();
            headers = frame.len() - datagram.len();
        }
        frame[SOURCE_AT..][..4].copy_from_slice(&reporter(hops).octets());
        frame[headers..].copy_from_slice(datagram);
        record.number += 1;
        record.captured_at_ns = hops[0].received_at.0;
        record.original_length = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        record.data.clone_from(&frame);
        writer.write_record(&record, &[])?;
        Ok(())
    })?;
    writer.finish()?.flush()?;
    // stdout holds the capture.
    Ok(String::new())
}

fn send(arguments: &TrafficArguments, to: SocketAddr) -> Result<String> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.connect(to)?;
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map(|now| now.as_nanos());
    let start = u64::try_from(now()?).context("the clock is set")?;
    let mut late = 0;
    each_report(arguments, start, |hops, datagram| {
        let due = u128::from(hops[0].received_at.0);
        let at = now()?;
        if let Some(early) = due.checked_sub(at).and_then(|early| u64::try_from(early).ok()) {
            if early > GRANULARITY_NS {
                thread::sleep(Duration::from_nanos(early));
            }
        } else {
            late = late.max(at - due);
        }
        socket.send(datagram)?;
        Ok(())
    })?;
    Ok(format!(
        "{} reports of {} flows sent to {to}, at most {:.1} ms late",
        arguments.reports,
        arguments.flows,
        late as f64 / 1e6
    ))
}

/// Passes each report, with its datagram, to `take`.
fn each_report(
    arguments: &TrafficArguments,
    start_ns: u64,
    mut take: impl FnMut(&[HopRecord; HOPS], &[u8]) -> Result<()>,
) -> Result<()> {
    let pause_ns = 1_000_000_000 / arguments.rate.max(1);
    let mut network = Network::with(SEED, Traffic { flows: arguments.flows, start_ns, pause_ns });
    let mut encoder = Encoder::default();
    for number in 0..arguments.reports {
        let hops = match usize::try_from(number) {
            Ok(flow) if arguments.each_flow && flow < arguments.flows => network.report_of(flow),
            _ => network.report(),
        };
        take(&hops, encoder.datagram(&hops).context("the report fits into a datagram")?)?;
    }
    Ok(())
}

/// The address of the node that reports.
fn reporter(hops: &[HopRecord; HOPS]) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(Ipv4Addr::new(172, 16, 0, 0)) + hops[0].reporter.0)
}

/// Arbitrary; the figures of the documentation use this seed.
const SEED: u64 = 1;
const REPORTER_PORT: u16 = 40_000;
const COLLECTOR_PORT: u16 = 32_766;
/// Offset of the source address in a frame.
const SOURCE_AT: usize = 14 + 12;
const BUFFER_BYTES: usize = 1 << 20;
/// How early a report may be sent.
const GRANULARITY_NS: u64 = 1_000_000;
