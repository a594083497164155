//! Rows for tests.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use inband_model::table::OBSERVATIONS;
use inband_model::{
    EventId, Flow, HopRecord, Nanos, NodeId, Origin, ReportBytes, ReportReference, ReportVersion,
};

use crate::batch::Batch;
use crate::history::{History, Value};
use crate::range::TimeRange;
use crate::settings::StoreSettings;

/// Pseudorandom numbers, reproducible by seed.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn small(&mut self, end: u8) -> u8 {
        u8::try_from(self.below(end.into())).unwrap()
    }

    fn maybe<T: TryFrom<u64>>(&mut self) -> Option<T> {
        let number = self.next() >> self.below(64);
        if self.below(3) == 0 { None } else { T::try_from(number).ok() }
    }
}

/// A random hop.
pub(crate) fn any_hop(numbers: &mut Numbers, received_at: Nanos) -> HopRecord {
    HopRecord {
        received_at,
        reporter: NodeId(numbers.maybe().unwrap_or(7)),
        hw_id: numbers.maybe().unwrap_or(0),
        sequence: numbers.maybe().unwrap_or(0),
        report_index: numbers.maybe().unwrap_or(0),
        version: [ReportVersion::V0_5, ReportVersion::V1_0, ReportVersion::V2_0, ReportVersion::HostInt]
            [usize::from(numbers.small(4))],
        origin: [Origin::MdStack, Origin::MxReport, Origin::XdReport][usize::from(numbers.small(3))],
        dropped: numbers.below(2) == 0,
        congested_queue: numbers.below(2) == 0,
        tracked_flow: numbers.below(2) == 0,
        intermediate: numbers.below(2) == 0,
        drop_reason: numbers.maybe(),
        flow: (numbers.below(4) > 0).then(|| any_flow(numbers)),
        hop_index: numbers.maybe().unwrap_or(0),
        hop_count: numbers.maybe().unwrap_or(1),
        node_id: NodeId(numbers.maybe().unwrap_or(1)),
        ingress_interface: numbers.maybe(),
        egress_interface: numbers.maybe(),
        ingress_interface_level2: numbers.maybe(),
        egress_interface_level2: numbers.maybe(),
        latency: numbers.maybe().map(Nanos),
        queue_id: numbers.maybe(),
        queue_occupancy: numbers.maybe(),
        ingress_timestamp: numbers.maybe(),
        egress_timestamp: numbers.maybe(),
        egress_utilization: numbers.maybe(),
        buffer_id: numbers.maybe(),
        buffer_occupancy: numbers.maybe(),
    }
}

fn any_flow(numbers: &mut Numbers) -> Flow {
    let v6 = numbers.below(3) == 0;
    let mut address = || {
        let octets = [10, 0, 0, numbers.small(4)];
        if v6 { [0xfd00, 0, 0, 0, 0, 0, 0, octets[3].into()].into() } else { octets.into() }
    };
    let (source, destination) = (address(), address());
    Flow { source, destination, protocol: 6, source_port: numbers.small(9).into(), destination_port: 80 }
}

/// Reports `first..first + count`, one hop each, a millisecond apart, identified by their sequence number.
pub(crate) fn reports(first: u32, count: u32) -> Batch {
    let hop = |sequence: u32| HopRecord {
        received_at: Nanos(START.0 + u64::from(sequence) * 1_000_000),
        sequence,
        hop_count: 1,
        node_id: NodeId(sequence % 3),
        latency: Some(Nanos(u64::from(sequence))),
        flow: Some(Flow { source_port: u16::try_from(sequence % 5).unwrap(), ..Flow::default() }),
        ..HopRecord::default()
    };
    Batch { hops: (first..first + count).map(hop).collect(), reports: count.into(), ..Batch::default() }
}

/// A batch with the bytes of every third of its reports as evidence.
pub(crate) fn with_evidence(batch: Batch) -> Batch {
    let third = batch.hops.reports().iter().filter(|report| report.sequence % 3 == 0);
    let evidence = third.map(|report| ReportBytes {
        event: EventId(report.sequence.into()),
        report: ReportReference {
            node_id: report.reporter,
            hw_id: report.hw_id,
            sequence: report.sequence,
            received_at: report.received_at,
        },
        version: report.version,
        from: ([127, 0, 0, 1], 7).into(),
        to: ([0u16, 0, 0, 0, 0, 0, 0, 1], 32_766).into(),
        length: 4_000,
        bytes: report.sequence.to_be_bytes().repeat(1 + report.sequence as usize % 300),
    });
    let evidence = evidence.collect();
    Batch { evidence, ..batch }
}

/// The same reports, all with this time of arrival.
pub(crate) fn received_at(received_at: Nanos, batch: Batch) -> Batch {
    let hops = batch.hops.iter().map(|hop| HopRecord { received_at, ..hop }).collect();
    Batch { hops, ..batch }
}

/// The sorted numbers of a column of all observations.
pub(crate) fn integers(history: &History, column: &str) -> Vec<i64> {
    let shape = OBSERVATIONS.shape();
    let column = shape.column(column).unwrap();
    let mut found = Vec::new();
    for chunk in history.chunks(&shape, TimeRange::ALL).unwrap() {
        let data = chunk.column(column).unwrap();
        let values = (0..chunk.rows()).map(|row| data.value(row));
        found.extend(
            values.filter_map(|value| if let Value::Integer(number) = value { Some(number) } else { None }),
        );
    }
    found.sort_unstable();
    found
}

/// A temporary directory, removed on drop.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("inband-store-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Settings that keep everything in this directory.
    pub(crate) fn settings(&self) -> StoreSettings {
        StoreSettings { path: self.0.clone(), retain: FOREVER, ..StoreSettings::default() }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A time in 2023, one second before the hour ends.
pub(crate) const START: Nanos = Nanos(1_699_999_199_000_000_000);
/// Longer than the age of any test's rows.
pub(crate) const FOREVER: std::time::Duration = std::time::Duration::from_secs(100 * 365 * 24 * 3600);
