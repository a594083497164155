//! No input makes a node with filters, queue thresholds and drops panic or write nonsense.

use inband_node::config::{EncapsulationKind, Mode, NodeConfig, ReportFilter, WatchEntry};
use inband_node::{DeviceMetadata, Frame, Node, Outcome, Output, Passage};
use inband_testkit::strategies::{int_packet, ip_packet, mutation, payload};
use inband_wire::Link;
use inband_wire::int::Queue;
use inband_wire::report::ReportGroup;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::many;

/// The inputs for one frame.
#[derive(Clone, Debug)]
struct Step {
    frame: Vec<u8>,
    latency_ns: u32,
    queue: u8,
    /// Time since the previous frame; the clock may go back.
    after_ns: i64,
    drop: Option<u8>,
}

fn step() -> impl Strategy<Value = Step> {
    let frame = prop_oneof![
        payload(200),
        (ip_packet(100), vec(mutation(), 0..3)).prop_map(|(packet, harm)| harmed(packet.build(), &harm)),
        (int_packet(), vec(mutation(), 0..2)).prop_map(|(packet, harm)| harmed(packet.build(), &harm)),
    ];
    let device = (0..4000_u32, 0..3_u8, prop_oneof![0..2_000_000_000_i64, Just(0), -2_000_000_000..0_i64]);
    let reason = prop::option::weighted(0.3, prop_oneof![Just(71), any::<u8>()]);
    (frame, device, reason).prop_map(|(frame, (latency_ns, queue, after_ns), drop)| Step {
        frame,
        latency_ns,
        queue,
        after_ns,
        drop,
    })
}

fn harmed(mut frame: Vec<u8>, harm: &[inband_testkit::strategies::Mutation]) -> Vec<u8> {
    harm.iter().for_each(|mutation| mutation.apply(&mut frame));
    frame
}

fn config(mode: Mode, is_sink: bool, remembered: u32) -> NodeConfig {
    let mut config: NodeConfig = toml::from_str(
        "node.id = 1\n[[interface]]\nid = 1\n[[interface]]\nid = 2\n[loss]\ndetect = true\n[smart.queue.1]\n\
         trigger_ns = 2000\nquota = 3",
    )
    .expect("a configuration");
    config.interfaces[1].edge = is_sink;
    config.encapsulation.kind = Some(EncapsulationKind::Dscp);
    config.source.mode = mode;
    config.watchlist = vec![WatchEntry::default()];
    config.report.filter = ReportFilter::Smart;
    config.smart.flows = remembered;
    config
}

proptest! {
    // A filter allocates its memory at once, which takes time.
    #![proptest_config(ProptestConfig { cases: many().cases / 10, ..many() })]

    #[test]
    fn every_packet_counts_once_and_every_report_can_be_read(
        steps in vec(step(), 1..20),
        mode in prop::sample::select(vec![Mode::Md, Mode::Mx, Mode::Xd]),
        is_sink in any::<bool>(),
        is_ip in any::<bool>(),
        remembered in prop::sample::select(vec![0_u32, 8, 64]),
    ) {
        let link = if is_ip { Link::Ip } else { Link::Ethernet };
        let mut node = Node::new(&config(mode, is_sink, remembered)).expect("a node");
        let mut now = 1_700_000_000_000_000_000_u64;
        for step in &steps {
            now = now.saturating_add_signed(step.after_ns);
            let metadata = DeviceMetadata {
                ingress_timestamp: Some(now),
                hop_latency: Some(step.latency_ns),
                queue: Some(Queue { id: step.queue, occupancy: 5 }),
                ..DeviceMetadata::default()
            };
            let passage = Passage { ingress: 1, egress: 2, metadata };
            node.handle_timeout(now);
            match step.drop {
                Some(reason) => node.handle_drop(link, &step.frame, &passage, reason),
                None => {
                    let mut buffer = vec![0xa5; 1100];
                    buffer.extend(&step.frame);
                    let end = buffer.len();
                    let mut frame = Frame::new(&mut buffer, 1100..end).expect("inside the buffer");
                    let _ = node.handle_frame(link, &mut frame, &passage);
                }
            }
        }
        node.flush_reports();
        let mut reports = 0;
        while let Some(datagram) = node.poll_output().and_then(Output::into_report) {
            let group = ReportGroup::parse(datagram.payload).expect("a node's own report");
            for report in group.reports() {
                let report = report.expect("a node's own report");
                reports += 1;
                prop_assert!(report.tracked_flow() || report.congested_queue() || report.dropped());
            }
        }
        let counters = node.counters();
        prop_assert_eq!(counters.packets(), steps.len() as u64);
        prop_assert_eq!(counters.get(Outcome::Reported), reports);
        let drops = steps.iter().filter(|step| step.drop.is_some()).count();
        prop_assert_eq!(counters.get(Outcome::Dropped), drops as u64);
    }
}
