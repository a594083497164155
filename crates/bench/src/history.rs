//! Speed of writing and querying history, and its size.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use inband_collector::{Collector, CollectorSettings};
use inband_model::{Flow, HopRecord, Nanos, NodeId, Origin};
use inband_store::{Batch, History, Limits, Offered, Store, StoreSettings, TimeRange};

use crate::folder::Folder;
use crate::reports::Datagrams;

/// Stores reports of five hops each, queries them, and returns the times.
///
/// # Errors
/// Not all reports were stored, or a query has no answer.
pub(crate) fn report(reports: u32) -> Result<String> {
    let folder = Folder::new("bench");
    let mut lines = vec![format!("History: {reports} reports of {HOPS} hops each, {} rows", reports * HOPS)];
    lines.push(collect_and_store(&folder.0.join("collected"), reports)?);
    let path = folder.0.join("made");
    lines.push(store(&path, reports)?);
    let history = History::open(&path)?;
    let rows = u64::from(reports) * u64::from(HOPS);
    let bytes = observation_bytes(&path)?;
    lines.push(format!("on disk: {:.1} bytes a hop", bytes as f64 / rows as f64));
    let (took, nodes) = timed(|| history.hop_latency(TimeRange::ALL, 0.99))?;
    ensure!(nodes.iter().map(|node| node.count).sum::<u64>() == rows, "latencies are missing");
    lines.push(format!("p99 hop latency by node, direct: {took:.1?}"));
    let (took, path) = timed(|| history.flow_hops(&flow(7), TimeRange::ALL, usize::MAX))?;
    ensure!(path.len() as u64 == rows.div_ceil(FLOWS), "hops of a flow are missing: {}", path.len());
    lines.push(format!("one flow's hops, direct: {took:.1?}"));
    let sql = "SELECT node_id, quantile(hop_latency, 0.99) FROM observations GROUP BY node_id";
    let (took, answer) = timed(|| history.query(sql, Limits::default()))?;
    let told: Vec<_> = nodes.iter().map(|node| node.latency.0.to_string()).collect();
    let asked: Vec<_> = answer.rows.iter().map(|row| format!("{:?}", row[1])).collect();
    ensure!(
        told.iter().zip(&asked).all(|(told, asked)| asked.contains(told.as_str()))
            && told.len() == asked.len(),
        "SQL and direct reading differ"
    );
    lines.push(format!("p99 hop latency by node, SQL: {took:.1?}"));
    Ok(lines.join("\n"))
}

/// Reports as datagrams, through ledger, decoding, correlation and store.
fn collect_and_store(path: &Path, reports: u32) -> Result<String> {
    let mut collector = Collector::new(CollectorSettings::default()).with_records();
    let mut datagrams = Datagrams::new(BATCH as usize, 1)?;
    let store = open(path)?;
    let (started, used) = (Instant::now(), processor_time()?);
    let mut offered = 0;
    let mut now_ns = START_NS;
    let mut batch = Batch::default();
    while offered < u64::from(reports) {
        datagrams.renumber();
        for datagram in datagrams.iter() {
            now_ns += 1_000;
            collector.handle_datagram(Nanos(now_ns), ADDRESS, ADDRESS, datagram);
            while collector.poll_output().is_some() {}
        }
        batch.reports += collector.take_records(&mut batch.hops);
        if batch.hops.len() >= HOPS_AT_ONCE {
            offered += batch.reports;
            let next = Batch { hops: store.columns(), ..Batch::default() };
            offer(&store, std::mem::replace(&mut batch, next))?;
        }
    }
    finish("collect and store", store, offered, started, used)
}

/// Rows as the collector returns them, each with a latency.
fn store(path: &Path, reports: u32) -> Result<String> {
    let store = open(path)?;
    let (started, used) = (Instant::now(), processor_time()?);
    for first in (0..reports).step_by(BATCH as usize) {
        let numbers = first..(first + BATCH).min(reports);
        let reports = u64::from(numbers.end - numbers.start);
        let hops = numbers.flat_map(|report| (0..HOPS).map(move |hop| record(report, hop))).collect();
        offer(&store, Batch { hops, reports, ..Batch::default() })?;
    }
    finish("store", store, reports.into(), started, used)
}

pub(crate) fn open(path: &Path) -> Result<Store> {
    let forever = Duration::from_secs(100 * 365 * 24 * 3600);
    let settings = StoreSettings { path: path.to_owned(), retain: forever, ..StoreSettings::default() };
    Store::open(settings).context("cannot open the store")
}

/// Passes a batch on when there is room for it.
pub(crate) fn offer(store: &Store, batch: Batch) -> Result<()> {
    while store.tally().waiting > MAX_WAITING {
        thread::sleep(Duration::from_millis(1));
    }
    ensure!(store.offer(batch) == Offered::Queued, "the store sheds");
    Ok(())
}

pub(crate) fn finish(
    what: &str,
    store: Store,
    reports: u64,
    started: Instant,
    used: Duration,
) -> Result<String> {
    let tally = store.close();
    ensure!(tally.stored == reports, "not all of {reports} reports are stored: {tally:?}");
    let (wall, cpu) = (started.elapsed(), processor_time()?.saturating_sub(used));
    let per_second = |time: Duration| reports as f64 / time.as_secs_f64().max(1e-9) / 1e6;
    Ok(format!(
        "{what}: {:.2} million reports, {:.2} million rows a second of one core; {wall:.1?} with all cores",
        per_second(cpu),
        per_second(cpu) * f64::from(HOPS),
    ))
}

/// The time of a query: the lowest of several, as the machine may do other work meanwhile.
fn timed<T, E: Into<anyhow::Error>>(ask: impl Fn() -> Result<T, E>) -> Result<(Duration, T)> {
    let mut answer = ask().map_err(Into::into)?;
    let mut least = Duration::MAX;
    for _ in 0..TIMES_ASKED {
        let started = Instant::now();
        answer = ask().map_err(Into::into)?;
        least = least.min(started.elapsed());
    }
    Ok((least, answer))
}

fn record(report: u32, hop: u32) -> HopRecord {
    // Spreads latencies without a pattern that would compress too well.
    let noise = (report * HOPS + hop).wrapping_mul(0x9e37_79b9).rotate_left(11) % 4_096;
    HopRecord {
        received_at: Nanos(START_NS + u64::from(report) * 1_000),
        reporter: NodeId(5),
        sequence: report,
        origin: Origin::MdStack,
        tracked_flow: true,
        flow: Some(flow(u64::from(report) % FLOWS)),
        hop_index: u8::try_from(hop).unwrap_or(0),
        hop_count: 5,
        node_id: NodeId(1 + (hop + report % 7) % 20),
        ingress_interface: Some(1),
        egress_interface: Some(2),
        latency: Some(Nanos(1_000 + u64::from(noise))),
        queue_id: Some(0),
        queue_occupancy: Some(noise / 64),
        ..HopRecord::default()
    }
}

fn flow(number: u64) -> Flow {
    let [.., high, low] = number.to_be_bytes();
    let source = Ipv4Addr::new(10, 0, high, low).into();
    let destination = Ipv4Addr::new(10, 1, 0, 1).into();
    Flow { source, destination, protocol: 6, source_port: 40_000, destination_port: 443 }
}

/// Bytes of all files under the observations.
pub(crate) fn observation_bytes(path: &Path) -> Result<u64> {
    let mut folders = vec![path.join("observations")];
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                bytes += entry.metadata()?.len();
            }
        }
    }
    Ok(bytes)
}

/// Processor time of all threads of this process.
pub(crate) fn processor_time() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").context("cannot read the processor time")?;
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 =
        fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * MILLISECONDS_OF_A_TICK))
}

/// Number of runs of a query; one more before them warms the caches.
const TIMES_ASKED: usize = 9;
/// Hops of a report.
const HOPS: u32 = 5;
/// Number of datagrams handled in a row, and of reports created at once.
const BATCH: u32 = 256;
/// Number of hops passed on at once, as in the server.
const HOPS_AT_ONCE: usize = 8_192;
/// Number of flows of the rows that are queried.
const FLOWS: u64 = 1_000;
/// Number of reports that may be pending before more are created.
const MAX_WAITING: u64 = 45_000;
/// A time in 2023, nanoseconds since 1970.
const START_NS: u64 = 1_700_000_000_000_000_000;
/// Linux counts processor time in hundredths of a second.
const MILLISECONDS_OF_A_TICK: u64 = 10;
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 32_766);
