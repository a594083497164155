//! The hops of reports, pending for history.

use inband_model::{
    HopColumns, HopField, HopFields, HopRecord, ReportRecord, ReportReference, ReportVersion,
};
use inband_wire::report::{AnyIndividual, ReportVersion as Version};

use crate::report::{HopReading, Reading};

/// The hops of reports until the caller takes them.
#[derive(Debug, Default)]
pub(crate) struct Records {
    hops: HopColumns,
    reports: u64,
    dropped: u64,
}

/// A report, with the fields of its datagram.
pub(crate) struct Told<'a> {
    pub(crate) reference: ReportReference,
    pub(crate) version: Version,
    /// Index of the report in the datagram.
    pub(crate) index: u16,
    pub(crate) report: &'a AnyIndividual<'a>,
}

impl Records {
    /// Adds the hops of a report; one without hops is kept as a record of its node.
    pub(crate) fn add(&mut self, told: &Told<'_>, reading: &Reading, hops: &[HopReading]) {
        if self.hops.len() + hops.len().max(1) > MAX_HOPS_WAITING {
            self.dropped += 1;
            return;
        }
        let record = ReportRecord {
            received_at: told.reference.received_at,
            sequence: told.reference.sequence,
            reporter: told.reference.node_id,
            report_index: told.index,
            hw_id: told.reference.hw_id,
            hop_count: u8::try_from(hops.len()).unwrap_or(u8::MAX),
            version: version(told.version),
            origin: reading.origin,
            dropped: reading.dropped,
            congested_queue: reading.congested_queue,
            tracked_flow: reading.tracked_flow,
            intermediate: told.report.intermediate(),
            drop_reason: told.report.drop().map(|drop| drop.reason),
            flow: reading.flow,
        };
        self.reports += 1;
        match hops {
            [] => self.hops.push(&HopRecord { node_id: record.reporter, ..record.hop() }),
            hops => self.hops.add_report(record, hops),
        }
    }

    /// Appends the pending hops to `into`; returns how many reports they came from.
    pub(crate) fn take(&mut self, into: &mut HopColumns) -> u64 {
        into.take_from(&mut self.hops);
        std::mem::take(&mut self.reports)
    }

    /// Number of pending hops.
    pub(crate) fn waiting(&self) -> usize {
        self.hops.len()
    }

    /// Reports that were dropped because hops were not taken in time.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl HopFields for HopReading {
    #[inline(always)]
    fn value(&self, place: usize, field: HopField) -> Option<u64> {
        let (hop, rest) = (&self.hop, &self.metadata);
        match field {
            HopField::HopIndex => Some(place as u64),
            // A hop without a node keeps the id that means "not available".
            HopField::NodeId => Some(hop.node_id.0.into()),
            HopField::IngressInterface => hop.ingress_interface.map(u64::from),
            HopField::EgressInterface => hop.egress_interface.map(u64::from),
            HopField::IngressInterfaceLevel2 => rest.ingress_interface_level2.map(u64::from),
            HopField::EgressInterfaceLevel2 => rest.egress_interface_level2.map(u64::from),
            HopField::Latency => self.latency.map(|latency| latency.0),
            HopField::QueueId => rest.queue.map(|queue| queue.id.into()),
            HopField::QueueOccupancy => rest.queue.map(|queue| queue.occupancy.into()),
            HopField::IngressTimestamp => rest.ingress_timestamp,
            HopField::EgressTimestamp => rest.egress_timestamp,
            HopField::EgressUtilization => rest.egress_utilization.map(u64::from),
            HopField::BufferId => rest.buffer.map(|buffer| buffer.id.into()),
            HopField::BufferOccupancy => rest.buffer.map(|buffer| buffer.occupancy.into()),
        }
    }
}

pub(crate) fn version(version: Version) -> ReportVersion {
    match version {
        Version::V0_5 => ReportVersion::V0_5,
        Version::V1_0 => ReportVersion::V1_0,
        Version::V2_0 => ReportVersion::V2_0,
        Version::HostInt => ReportVersion::HostInt,
    }
}

/// Maximum number of pending hops.
const MAX_HOPS_WAITING: usize = 65_536;
