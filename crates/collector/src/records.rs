//! Which hops are kept for history?

use inband_model::{HopRecord, ReportReference, ReportVersion};
use inband_wire::report::{AnyIndividual, ReportVersion as Version};

use crate::report::{HopReading, Reading};

/// The hops of reports until somebody takes them.
#[derive(Debug, Default)]
pub(crate) struct Records {
    hops: Vec<HopRecord>,
    reports: u64,
    dropped: u64,
}

/// A report, and what its datagram says of it.
pub(crate) struct Told<'a> {
    pub(crate) reference: ReportReference,
    pub(crate) version: Version,
    /// Which report of the datagram it is.
    pub(crate) index: u16,
    pub(crate) report: &'a AnyIndividual<'a>,
}

impl Records {
    /// Adds the hops of a report; one that tells of none is kept as a record of its node.
    pub(crate) fn add(&mut self, told: &Told<'_>, reading: &Reading, hops: &[HopReading]) {
        if self.hops.len() + hops.len().max(1) > MOST_HOPS_WAITING {
            self.dropped += 1;
            return;
        }
        let record = HopRecord {
            received_at: told.reference.received_at,
            reporter: told.reference.node_id,
            hw_id: told.reference.hw_id,
            sequence: told.reference.sequence,
            report_index: told.index,
            version: version(told.version),
            origin: reading.origin,
            dropped: reading.dropped,
            congested_queue: reading.congested_queue,
            tracked_flow: reading.tracked_flow,
            intermediate: told.report.intermediate(),
            drop_reason: told.report.drop().map(|drop| drop.reason),
            flow: reading.flow,
            hop_count: u8::try_from(hops.len()).unwrap_or(u8::MAX),
            node_id: told.reference.node_id,
            ..HopRecord::default()
        };
        self.reports += 1;
        self.hops.extend((0..).zip(hops).map(|(index, hop)| with_hop(record, index, hop)));
        if hops.is_empty() {
            self.hops.push(record);
        }
    }

    /// Moves the hops to the end of `into`, and says of how many reports they are.
    pub(crate) fn take(&mut self, into: &mut Vec<HopRecord>) -> u64 {
        into.append(&mut self.hops);
        std::mem::take(&mut self.reports)
    }

    /// Reports that were dropped because nobody took hops in time.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

fn with_hop(record: HopRecord, hop_index: u8, reading: &HopReading) -> HopRecord {
    let (hop, rest) = (reading.hop, &reading.metadata);
    HopRecord {
        hop_index,
        // A hop that does not tell its node keeps the number that says so.
        node_id: hop.node_id,
        ingress_interface: hop.ingress_interface,
        egress_interface: hop.egress_interface,
        ingress_interface_level2: rest.ingress_interface_level2,
        egress_interface_level2: rest.egress_interface_level2,
        latency: reading.latency,
        queue_id: rest.queue.map(|queue| queue.id),
        queue_occupancy: rest.queue.map(|queue| queue.occupancy),
        ingress_timestamp: rest.ingress_timestamp,
        egress_timestamp: rest.egress_timestamp,
        egress_utilization: rest.egress_utilization,
        buffer_id: rest.buffer.map(|buffer| buffer.id),
        buffer_occupancy: rest.buffer.map(|buffer| buffer.occupancy),
        ..record
    }
}

fn version(version: Version) -> ReportVersion {
    match version {
        Version::V0_5 => ReportVersion::V0_5,
        Version::V1_0 => ReportVersion::V1_0,
        Version::V2_0 => ReportVersion::V2_0,
        Version::HostInt => ReportVersion::HostInt,
    }
}

/// Hops that may wait.
const MOST_HOPS_WAITING: usize = 65_536;
