//! Host-INT's reports, written and read back.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::flow::FiveTuple;
use crate::report::earlier::host_int::{DropSummary, Gap};

use super::DropSummaryDraft;

fn draft(flow: FiveTuple) -> DropSummaryDraft {
    let gap = Gap { seen_at_s: 1, sequence: 2, count: 3 };
    DropSummaryDraft { sequence: 9, reported_at_s: 8, summary: DropSummary::new(2, 3, 4, 5, gap), flow }
}

fn flow(protocol: u8) -> FiveTuple {
    FiveTuple {
        source: IpAddr::V4(Ipv4Addr::new(192, 168, 10, 1)),
        destination: IpAddr::V4(Ipv4Addr::new(192, 168, 20, 2)),
        protocol,
        source_port: 0x0102,
        destination_port: 0x0304,
    }
}

#[test]
fn the_headers_of_a_summary_hold_the_flow_and_nothing_else() {
    // host-int-0.5/report-06
    let mut out = [0xa5; 80];
    assert_eq!(draft(flow(17)).write(&mut out), Some(64));
    let ip = [0x45, 0, 0, 0, 0, 0, 0, 0, 0, 17, 0, 0, 192, 168, 10, 1, 192, 168, 20, 2];
    assert_eq!((&out[36..56], &out[56..65]), (&ip[..], &[1, 2, 3, 4, 0, 0, 0, 0, 0xa5][..]));
    assert_eq!(draft(flow(6)).write(&mut out), Some(76));
    assert_eq!((out[45], &out[56..60], &out[60..76]), (6, &[1, 2, 3, 4][..], &[0; 16][..]));
    assert_eq!(draft(flow(6)).write(&mut out[..75]), None);
}

#[test]
fn other_flows_have_no_summary() {
    let mut out = [0xa5; 80];
    assert_eq!(draft(flow(1)).write(&mut out), None);
    let v6 = FiveTuple { source: IpAddr::V6(Ipv6Addr::LOCALHOST), ..flow(17) };
    assert_eq!(draft(v6).write(&mut out), None);
}
