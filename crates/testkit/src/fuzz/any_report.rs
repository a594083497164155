//! Target that reads report datagrams of every version.

use inband_wire::Strictness;
use inband_wire::int::CodePoints;
use inband_wire::report::earlier::{DraftVersion, EarlierReport, SinkNodeId};
use inband_wire::report::{AnyIndividual, AnyReport, Leniency, ReportReading, ReportVersion};

use crate::report_again::draft_of;

use super::wire::read_int;

/// The first byte selects how the rest is read: leniency, strictness, and whether Host-INT's latency reports
/// name their sink. The rest is the UDP payload of a telemetry report.
///
/// # Panics
/// A packet outside its report, INT outside the packet, or a report that changes when it is written and read
/// again.
pub fn any_report(input: &[u8]) {
    let Some((choice, datagram)) = input.split_first() else { return };
    let reading = reading(*choice);
    let Ok(read) = AnyReport::parse_with(datagram, reading) else { return };
    assert!(read.hw_id() < 64 && u64::from(read.sequence()) < 1 << read.version().sequence_bits());
    for report in read.reports().flatten() {
        read_packet(datagram, &report);
        let _ = (report.metadata(), report.drop(), report.drop_summary());
        if let AnyIndividual::Single(single) = report
            && reading.leniency == Leniency::Strict
            && reading.strictness == Strictness::Whole
        {
            write_and_read(&single);
        }
    }
}

fn reading(choice: u8) -> ReportReading {
    ReportReading {
        leniency: if choice & 1 == 0 { Leniency::Strict } else { Leniency::Lenient },
        strictness: if choice & 2 == 0 { Strictness::Whole } else { Strictness::Truncated },
        sink_node_id: match choice >> 2 & 3 {
            0 | 3 => SinkNodeId::Auto,
            1 => SinkNodeId::Present,
            _ => SinkNodeId::Absent,
        },
    }
}

fn read_packet(datagram: &[u8], report: &AnyIndividual<'_>) {
    let found = report.dissect(&CodePoints::DEFAULT);
    let Some((_, packet, at)) = report.packet() else {
        assert_eq!(found.int().count(), 0);
        return;
    };
    assert_eq!(&datagram[at..at + packet.len()], packet);
    for (_, location) in found.int() {
        assert!(location.shim + 4 == location.header && location.header <= location.end, "{location:?}");
        read_int(packet, location);
    }
}

/// Writes the parsed report, and parses the result.
fn write_and_read(report: &EarlierReport<'_>) {
    let version = match report.version {
        ReportVersion::V0_5 => DraftVersion::V0_5,
        ReportVersion::V1_0 => DraftVersion::V1_0,
        // These have their own writers, which take the headers of the packet separately from its INT.
        ReportVersion::HostInt | ReportVersion::V2_0 => return,
    };
    let Some(draft) = draft_of(report, version) else { return };
    let mut bytes = vec![0xa5; draft.length()];
    assert_eq!(draft.write(&mut bytes), Some(bytes.len()), "{draft:?}");
    let Ok(AnyReport::Single(again)) = AnyReport::parse(&bytes) else { panic!("{draft:?}") };
    assert_eq!(
        (again.version, again.kind, again.node_id, again.hw_id, again.sequence),
        (report.version, report.kind, report.node_id, report.hw_id, report.sequence)
    );
    assert_eq!(
        (again.dropped, again.congested_queue, again.tracked_flow, again.drop),
        (report.dropped, report.congested_queue, report.tracked_flow, report.drop)
    );
    assert_eq!(again.packet, report.packet);
    // A time of all ones is written a nanosecond early, and the ingress time, which has no bit, as 0 if it is not
    // available.
    let mut expected = report.metadata;
    let early = |time: u64| time.min(0xffff_fffe);
    expected.ingress_timestamp = Some(expected.ingress_timestamp.map_or(0, early));
    expected.egress_timestamp = expected.egress_timestamp.map(early);
    assert_eq!(again.metadata, expected);
}
