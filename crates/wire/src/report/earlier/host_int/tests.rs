//! Every field of the drop summary is where the figure has it.

use zerocopy::IntoBytes;

use super::{DropSummary, Gap};

#[test]
fn a_summary_is_written_as_it_is_drawn() {
    // host-int-0.5/report-05
    let gap = Gap { seen_at_s: 0x0102_0304, sequence: 0x0506_0708, count: 0x090a_0b0c };
    let summary = DropSummary::new(2, 3, 0x0405, 0x0607, gap);
    let expected = [0, 0, 0, 2, 0, 0, 0, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    assert_eq!(summary.as_bytes(), expected);
    assert_eq!((summary.source_node_id(), summary.sink_node_id(), summary.gap()), (2, 3, gap));
    assert_eq!((summary.ingress_port(), summary.egress_port()), (0x0405, 0x0607));
}
