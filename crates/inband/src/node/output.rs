//! The captures of packets, replies and reports.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, anyhow};
use inband_capture::{ByteOrder, Format, Interface, LinkType, Record, Resolution, Writer};
use inband_node::config::ReportConfig;
use inband_node::{NodeConfig, ReportDatagram};
use inband_wire::datagram::{Datagram, MAX_HEADER_BYTES};

use super::arguments::{Args, Named};
use crate::failure::Failure;
use crate::input::is_dash;
use crate::stdout::Stdout;

/// The captures a node writes.
pub(super) struct Outputs {
    packets: Output,
    reports: Option<Output>,
    replies: Option<Output>,
    sessions: Vec<Session>,
    /// The report that is being encapsulated.
    report: Record,
}

/// How reports reach one collector.
struct Session {
    datagram: Datagram,
    config: ReportConfig,
}

struct Output {
    name: String,
    writer: Writer<BufWriter<Box<dyn Write>>>,
}

impl Outputs {
    /// Creates the files; the one for packets has the format `format`.
    pub(super) fn create(args: &Args, config: &NodeConfig, format: Format) -> Result<Self, Error> {
        let [a, b, c, d] = config.node.id.to_be_bytes();
        // Locally administered addresses: the node's contains its id, the other is the collector's.
        let (source_mac, sessions) = ([0x02, 0x01, a, b, c, d], config.report.sessions());
        Ok(Self {
            packets: Output::create(&args.write, format)?,
            reports: args.reports.as_deref().map(|path| Output::create(path, REPORT_FORMAT)).transpose()?,
            replies: args.replies.as_deref().map(|path| Output::create(path, format)).transpose()?,
            sessions: sessions.into_iter().map(|session| Session::new(source_mac, session)).collect(),
            report: Record { link_type: LinkType::ETHERNET, ..Record::default() },
        })
    }

    /// Writes a packet that the node forwards.
    pub(super) fn write_packet(&mut self, record: &Record, interfaces: &[Interface]) -> Result<(), Error> {
        self.packets.write(record, interfaces)
    }

    /// Writes a packet that the node sends back; discards it without a file for replies.
    pub(super) fn write_reply(&mut self, record: &Record, interfaces: &[Interface]) -> Result<(), Error> {
        self.replies.as_mut().map_or(Ok(()), |output| output.write(record, interfaces))
    }

    /// Writes a report about a packet captured at `captured_at_ns`; discards it without a file for reports.
    pub(super) fn write_report(
        &mut self,
        sent: ReportDatagram<'_>,
        captured_at_ns: u64,
    ) -> Result<(), Error> {
        let Some(output) = &mut self.reports else { return Ok(()) };
        let Some(session) = self.sessions.get_mut(sent.session) else { return Ok(()) };
        session.datagram.source.set_port(session.config.port(sent.flow_hash));
        let payload = sent.payload;
        let report = &mut self.report;
        report.number += 1;
        report.captured_at_ns = captured_at_ns;
        report.data.resize(MAX_HEADER_BYTES + payload.len(), 0);
        let length = session
            .datagram
            .write(payload, &mut report.data)
            .map_err(|error| anyhow!("report {} cannot be sent: {error:?}", report.number))?;
        report.data.truncate(length);
        report.original_length = u32::try_from(length)?;
        output.write(report, &[])
    }

    /// Flushes all files.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        let others = self.reports.iter_mut().chain(&mut self.replies);
        std::iter::once(&mut self.packets).chain(others).try_for_each(Output::flush)
    }
}

impl Session {
    fn new(source_mac: [u8; 6], config: ReportConfig) -> Self {
        let datagram = Datagram {
            source_mac,
            destination_mac: [0x02, 0, 0, 0, 0, 0],
            source: SocketAddr::new(config.source(), config.source_port),
            destination: config.collector,
            dscp: config.dscp,
        };
        Self { datagram, config }
    }
}

impl Output {
    fn create(path: &Path, format: Format) -> Result<Self, Error> {
        let name = path.display().to_string();
        let out: Box<dyn Write> = if is_dash(path) {
            Box::new(Stdout::new())
        } else {
            Box::new(File::create(path).with_context(|| format!("cannot create {name}"))?)
        };
        let writer = Writer::new(BufWriter::with_capacity(OUT_BYTES, out), format)
            .with_context(|| format!("cannot write {name}"))?;
        Ok(Self { name, writer })
    }

    fn write(&mut self, record: &Record, interfaces: &[Interface]) -> Result<(), Error> {
        let written = self.writer.write_record(record, interfaces);
        self.check(written)
    }

    fn flush(&mut self) -> Result<(), Error> {
        let flushed = self.writer.flush();
        self.check(flushed)
    }

    /// Names the file in an error.
    fn check(&self, written: io::Result<()>) -> Result<(), Error> {
        written.with_context(|| format!("cannot write {}", self.name))
    }
}

/// Rejects paths by which one file would be read and written, or written twice.
pub(super) fn check_distinct(read: &[Named<'_>], written: &[Named<'_>]) -> Result<(), Failure> {
    for (index, (option, path)) in written.iter().enumerate() {
        let read = read.iter().map(|named| (named, false));
        let written = written.iter().take(index).map(|named| (named, true));
        for ((earlier, other), is_written) in read.chain(written) {
            if is_same_file(path, other, is_written) {
                let path = path.display();
                return Err(Failure::usage(format!("{earlier} and {option} are the same file: {path}")));
            }
        }
    }
    Ok(())
}

/// Whether two paths name one regular file, also through links; `-` counts as one file if both are written.
fn is_same_file(path: &Path, other: &Path, both_written: bool) -> bool {
    if is_dash(path) || is_dash(other) {
        return path == other && both_written;
    }
    match (fs::metadata(path), fs::metadata(other)) {
        (Ok(a), Ok(b)) => a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino()),
        (Err(_), Err(_)) => match (future(path), future(other)) {
            (Some(path), Some(other)) => path == other,
            _ => false,
        },
        _ => false,
    }
}

/// The path, without links, at which a file that does not exist would be created.
fn future(path: &Path) -> Option<PathBuf> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()?;
    Some(folder.join(path.file_name()?))
}

const REPORT_FORMAT: Format =
    Format::Pcap { order: ByteOrder::Little, resolution: Resolution::Nanoseconds, link: 1 };

const OUT_BYTES: usize = 256 * 1024;
