//! The rows of the table.

use anyhow::{Context, Result};

use crate::domains::DOMAINS;
use crate::fabric::{self, Role};
use crate::measure::{self, Beside, Row, Subject, Time, measure};
use crate::reports::Datagrams;
use crate::subjects::decode::Decode;
use crate::subjects::etherparse::Etherparse;
use crate::subjects::ledger::Ledger;
use crate::subjects::memmove::Memmove;
use crate::subjects::role::OneNode;
use crate::subjects::smart::Postcards;
use crate::subjects::watchlist::Watching;
use crate::table::Table;

/// Measures all rows, or those whose name contains `only`, and writes the table with its legend.
///
/// # Errors
/// A row does not do what it is measured for.
pub(crate) fn report(rounds: usize, only: Option<&str>) -> Result<String> {
    let mut rows = Rows::all(Which::containing(only))?.rows;
    let times = measure(&mut rows, rounds)?;
    Ok(format!("{}\n{LEGEND}", table(&rows, &times).render()))
}

/// The names of all rows, a line each.
///
/// # Errors
/// A packet that is measured cannot be built.
pub(crate) fn names() -> Result<String> {
    Ok(Rows::all(Which::None)?.names.concat())
}

/// Runs the row with this name once, for a tool that counts its instructions; returns the number of items.
///
/// # Errors
/// There is no such row, or it does not do what it is measured for.
pub(crate) fn count(name: &str) -> Result<usize> {
    let mut rows = Rows::all(Which::Named(name))?.rows;
    let row = rows.first_mut().with_context(|| format!("there is no row {name}"))?;
    measure::count(row)
}

/// The rows that are selected.
#[derive(Clone, Copy)]
enum Which<'a> {
    All,
    Containing(&'a str),
    Named(&'a str),
    None,
}

impl<'a> Which<'a> {
    fn containing(only: Option<&'a str>) -> Self {
        only.map_or(Self::All, Self::Containing)
    }

    fn has(self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Containing(only) => name.contains(only),
            Self::Named(wanted) => name == wanted,
            Self::None => false,
        }
    }
}

/// The rows in their order.
struct Rows<'a> {
    which: Which<'a>,
    rows: Vec<Row>,
    /// The names of all rows, including those not selected, one per line.
    names: Vec<String>,
}

impl<'a> Rows<'a> {
    fn all(which: Which<'a>) -> Result<Self> {
        let mut rows = Self { which, rows: Vec::new(), names: Vec::new() };
        for payload in PAYLOADS {
            rows.add_packet_path(payload)?;
        }
        rows.add_watchlists()?;
        for domain in DOMAINS {
            rows.add(domain.name(), || OneNode::transit_hop(domain), None)?;
        }
        rows.add_postcards()?;
        rows.add_report_path()?;
        Ok(rows)
    }

    /// Packets with `payload` bytes after the TCP header.
    fn add_packet_path(&mut self, payload: usize) -> Result<()> {
        let plain = fabric::plain(payload, SOURCE_PORT)?;
        let carrying = fabric::with_hops(payload, SOURCE_PORT, HOPS)?;
        let start = SHIM_AND_MD + HOP;
        let stripped = SHIM_AND_MD + HOP * usize::try_from(HOPS)?;

        let name = format!("etherparse, {payload} B, plain");
        let etherparse = self.add(name, || Ok(Etherparse::new(&plain)), None)?;
        let memmove = self.add_memmove(payload, &plain, HEADERS, -start.cast_signed())?;
        self.add_node(payload, Role::Source, &plain, start.cast_signed(), Beside { memmove, etherparse })?;

        let name = format!("etherparse, {payload} B, with INT");
        let etherparse = self.add(name, || Ok(Etherparse::new(&carrying)), None)?;
        let memmove = self.add_memmove(payload, &carrying, HEADERS + SHIM_AND_MD, -HOP.cast_signed())?;
        self.add_node(payload, Role::Transit, &carrying, HOP.cast_signed(), Beside { memmove, etherparse })?;
        let memmove = self.add_memmove(payload, &carrying, HEADERS, stripped.cast_signed())?;
        self.add_node(payload, Role::Sink, &carrying, -stripped.cast_signed(), Beside { memmove, etherparse })
    }

    /// Watchlists from a handful of entries to tens of thousands.
    fn add_watchlists(&mut self) -> Result<()> {
        for entries in ENTRIES {
            self.add(format!("watchlist, {entries} entries"), || Ok(Watching::new(entries)), None)?;
        }
        Ok(())
    }

    /// XD nodes that report every packet, and that hold reports back.
    fn add_postcards(&mut self) -> Result<()> {
        for filter in ["none", "smart"] {
            for flows in FLOWS {
                let name = format!("XD, filter {filter}, {flows} flows");
                self.add(name, || Postcards::new(filter, flows), None)?;
            }
        }
        Ok(())
    }

    /// Reports, one and twenty to a datagram.
    fn add_report_path(&mut self) -> Result<()> {
        for (datagrams, coalesced) in DATAGRAMS {
            let decode = || Ok(Decode::new(Datagrams::new(datagrams, coalesced)?));
            self.add(format!("decode, {coalesced} to a datagram"), decode, None)?;
            for (name, follow) in [("ledger", false), ("collect", true)] {
                let ledger = || Ok(Ledger::new(Datagrams::new(datagrams, coalesced)?, follow));
                self.add(format!("{name}, {coalesced} to a datagram"), ledger, None)?;
            }
        }
        Ok(())
    }

    fn add_memmove(&mut self, payload: usize, frame: &[u8], length: usize, shift: isize) -> Result<usize> {
        let name = format!("memmove, {payload} B, {length} bytes by {}", shift.unsigned_abs());
        self.add(name, || Ok(Memmove::new(frame, length, shift)), None)
    }

    fn add_node(
        &mut self,
        payload: usize,
        role: Role,
        frame: &[u8],
        growth: isize,
        beside: Beside,
    ) -> Result<()> {
        let node = || OneNode::new(role, frame.to_vec(), growth);
        self.add(format!("{}, {payload} B", role.name()), node, Some(beside))?;
        Ok(())
    }

    /// Adds a row if it is selected, and returns its index; it is compared with other rows only when all rows
    /// are selected.
    fn add<S: Subject + 'static>(
        &mut self,
        name: String,
        subject: impl FnOnce() -> Result<S>,
        beside: Option<Beside>,
    ) -> Result<usize> {
        self.names.push(format!("{name}\n"));
        if self.which.has(&name) {
            let beside = beside.filter(|_| matches!(self.which, Which::All));
            self.rows.push(Row { name, subject: Box::new(subject()?), beside });
        }
        Ok(self.rows.len().saturating_sub(1))
    }
}

fn table(rows: &[Row], times: &[Time]) -> Table {
    let mut table = Table::new(&["", "median ns", "least ns", "million/s", "x memmove", "x etherparse"]);
    for (row, time) in rows.iter().zip(times) {
        let ratio = |other: Option<usize>| match other.and_then(|other| times.get(other)) {
            Some(other) => format!("{:.2}", time.median_ns / other.median_ns),
            None => String::new(),
        };
        table.line(vec![
            row.name.clone(),
            format!("{:.1}", time.median_ns),
            format!("{:.1}", time.minimum_ns),
            format!("{:.2}", NANOS_PER_MICRO / time.median_ns),
            ratio(row.beside.map(|beside| beside.memmove)),
            ratio(row.beside.map(|beside| beside.etherparse)),
        ]);
    }
    table
}

/// Payloads of the TCP packets, bytes.
const PAYLOADS: [usize; 2] = [100, 1400];
/// Hops on the stack when a packet reaches the transit hop or the sink.
const HOPS: u32 = 4;
/// The TCP source port; the watchlist ignores it.
const SOURCE_PORT: u16 = 1234;
/// Datagrams of a batch, and reports in each.
const DATAGRAMS: [(usize, usize); 2] = [(256, 1), (32, 20)];
/// Entries of the watchlists.
const ENTRIES: [u32; 3] = [10, 1_000, 50_000];
/// Flows of the XD nodes: few enough for a cache, and many.
const FLOWS: [u16; 2] = [256, 4_096];
/// Nanoseconds of a microsecond: converts nanoseconds per item to millions per second.
const NANOS_PER_MICRO: f64 = 1e3;
/// Ethernet, IPv4 and TCP: the headers before the shim, bytes.
const HEADERS: usize = 14 + 20 + 20;
/// Shim and MD header, bytes.
const SHIM_AND_MD: usize = 4 + 12;
/// The metadata of one hop, node id and queue occupancy, bytes.
const HOP: usize = 4 + 4;

const LEGEND: &str = "\
Times are of one packet or one report; ratios are of medians; rows take turns batch by batch, 256 packets each, whose
headers are in the L1 or L2 cache. Packets are Ethernet, IPv4 and TCP with 100 or 1400 bytes of payload; INT-MD marked by
DSCP asks for node id and queue occupancy, and 4 hops are on the stack before transit hop and sink.
  source       starts INT: shim, MD header, its metadata, lengths, IPv4 and TCP checksum
  transit hop  adds its metadata, lengths, IPv4 and TCP checksum; aimed at: 15 million/s, 2 x memmove
               by version and encapsulation: 100 bytes of payload, 4 hops, of Host-INT the 1 of 2 that it has room for
  sink         adds its metadata, writes a report with 128 bytes of the packet, strips INT, lengths, checksums; the
               report is polled
  watchlist    decides about one of 4,096 flows: subnets, services in subnets, port ranges, single flows, all mixed
  XD           watches, and writes a report with 128 bytes of the packet, or finds that it is to be held back
  memmove      moves the headers in front of the gap by its size, a length the compiler does not know, and no more
  etherparse   parses the packet as the rows below it get it, Ethernet to TCP; INT is payload to it
  decode       reads group header, report, metadata, five-tuple and all 5 hops of a sink's report
  ledger       the collector on the same datagrams, without following flows: sequence ledger, decoding of all that decode
               reads; aimed at: 10 million/s with 20 to a datagram
  collect      the collector on the same datagrams: sequence ledger, decoding, paths, latency, queues; output polled
";
