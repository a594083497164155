//! Conclusions from INT-MD metadata stacks.

mod support;

use std::net::IpAddr;

use inband_collector::{CollectorSettings, EventSettings, LoopSettings, PathSettings};
use inband_model::{
    Confidence, EventDetail, EventKind, Flow, Nanos, Observation, Origin, PathChangeKind, Phase, Severity,
};
use inband_wire::int::{HopMetadata, Instructions};
use inband_wire::report::Draft;

use support::{
    Lab, MdPacket, datagram, flow, hop, hop_via, hops, node_report, nodes, plain_packet, sink_report,
};

#[test]
fn the_first_packet_of_a_flow_tells_its_path_and_the_latency_of_each_hop() {
    let mut lab = Lab::new();
    let packet = MdPacket::new(&[hop(1, 900, 0), hop(11, 1_200, 0), hop(2, 800, 0)]).bytes();

    lab.report(2, &sink_report(&packet));

    let paths = lab.path_observations();
    assert_eq!(paths.len(), 1);
    assert_eq!(paths[0].flow, flow(1));
    assert_eq!(nodes(&paths[0]), [1, 11, 2]);
    assert_eq!(paths[0].hop_latency, [Some(900), Some(1_200), Some(800)]);
    assert_eq!(paths[0].hops_expected, Some(3));
    assert_eq!(paths[0].origin, Origin::MdStack);
    assert!(lab.only_flow().path_is_complete());
}

#[test]
fn the_same_path_again_tells_nothing_but_the_latest_latencies_are_kept() {
    let mut lab = Lab::new();
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 2])).bytes()));
    lab.outputs();

    lab.report(2, &sink_report(&MdPacket::new(&[hop(1, 901, 0), hop(11, 902, 0), hop(2, 903, 0)]).bytes()));

    assert_eq!(lab.outputs(), []);
    let view = lab.only_flow();
    assert_eq!(view.reports, 2);
    assert_eq!(view.hop_latency, [Some(Nanos(901)), Some(Nanos(902)), Some(Nanos(903))]);
}

#[test]
fn half_an_interface_word_of_all_ones_is_an_unknown_interface() {
    // int-2.1/md-24
    let mut lab = Lab::new();
    let packet = MdPacket::new(&[hop_via(1, 65_535, 2, 900, 0), hop_via(2, 3, 65_535, 900, 0)]).bytes();

    lab.report(2, &sink_report(&packet));

    let paths = lab.path_observations();
    let ports: Vec<_> =
        paths[0].path.hops().iter().map(|hop| (hop.ingress_interface, hop.egress_interface)).collect();
    assert_eq!(ports, [(None, Some(2)), (Some(3), None)]);
}

#[test]
fn the_sinks_own_hop_is_the_same_in_the_stack_and_in_the_report() {
    // report-2.0/modes-03, int-2.1/md-35
    let mut in_stack = Lab::new();
    let mut in_report = Lab::new();

    in_stack.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 2])).bytes()));
    in_report.report(2, &node_report(&MdPacket::new(&hops(&[1, 11])).bytes(), hop(2, 900, 0)));

    let (in_stack, in_report) = (in_stack.path_observations(), in_report.path_observations());
    assert_eq!(in_stack[0].path, in_report[0].path);
    assert_eq!(in_stack[0].hop_latency, in_report[0].hop_latency);
}

#[test]
fn a_sink_that_says_nothing_of_itself_is_not_on_the_path() {
    let mut lab = Lab::new();

    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11])).bytes()));

    assert_eq!(lab.paths(), [[1, 11]]);
}

#[test]
fn what_the_sink_puts_into_the_report_completes_its_hop_on_the_stack() {
    let mut lab = Lab::new();
    let nodes_only = MdPacket { instructions: Instructions::NODE_ID, ..MdPacket::new(&hops(&[1, 2])) };

    lab.report(2, &node_report(&nodes_only.bytes(), hop(2, 777, 0)));

    let path = &lab.path_observations()[0];
    assert_eq!(nodes(path), [1, 2]);
    assert_eq!(path.hop_latency, [None, Some(777)]);
    assert_eq!(path.path.hops()[1].egress_interface, Some(2));
}

#[test]
fn latency_comes_from_the_timestamps_where_it_is_not_told() {
    let mut lab = Lab::new();
    let instructions =
        Instructions::NODE_ID | Instructions::INGRESS_TIMESTAMP | Instructions::EGRESS_TIMESTAMP;
    let stamped = |node_id, ingress: u64, egress| HopMetadata {
        node_id: Some(node_id),
        ingress_timestamp: Some(ingress),
        egress_timestamp: Some(egress),
        ..HopMetadata::default()
    };
    let packet = MdPacket {
        instructions,
        ..MdPacket::new(&[stamped(1, 1_000, 1_250), stamped(2, u64::MAX - 9, 10), stamped(3, 500, 400)])
    };

    lab.report(3, &sink_report(&packet.bytes()));

    // The second clock wraps around; the third was set back, which gives no latency.
    assert_eq!(lab.path_observations()[0].hop_latency, [Some(250), Some(20), None]);
}

#[test]
fn a_new_path_is_announced_on_its_first_packet_with_the_old_one_beside_it() {
    let mut lab = Lab::new();
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 2])).bytes()));
    lab.wait(Nanos::from_millis(100));

    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 12, 2])).bytes()));

    assert_eq!(lab.paths(), [[1, 11, 2], [1, 12, 2]]);
    let events = lab.events(EventKind::PathChange);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].key, "udp 10.0.0.1:1234 > 10.255.0.1:4321");
    assert_eq!(events[0].confidence, Confidence::Certain);
    assert_eq!((events[0].evidence[0].node_id.0, events[0].evidence[0].sequence), (2, 2));
    let EventDetail::PathChange(change) = &events[0].detail else { panic!("a change of path") };
    assert_eq!(change.flow, flow(1));
    assert_eq!(change.old.to_string(), "1:1:2 > 1:11:2 > 1:2:2");
    assert_eq!(change.new.to_string(), "1:1:2 > 1:12:2 > 1:2:2");
}

#[test]
fn another_interface_of_the_same_nodes_is_another_path() {
    let mut lab = Lab::new();
    lab.report(2, &sink_report(&MdPacket::new(&[hop_via(1, 1, 2, 9, 0), hop(2, 9, 0)]).bytes()));

    lab.report(2, &sink_report(&MdPacket::new(&[hop_via(1, 1, 3, 9, 0), hop(2, 9, 0)]).bytes()));

    assert_eq!(lab.events(EventKind::PathChange).len(), 1);
}

#[test]
fn a_move_is_an_ecmp_move_while_other_flows_use_the_old_links() {
    let mut lab = Lab::new();
    let packet =
        |number, nodes: &[u32]| MdPacket { flow: flow(number), ..MdPacket::new(&hops(nodes)) }.bytes();
    lab.report(2, &sink_report(&packet(1, &[1, 11, 2])));
    lab.report(2, &sink_report(&packet(2, &[1, 11, 2])));

    lab.report(2, &sink_report(&packet(1, &[1, 12, 2])));
    for _ in 0..40 {
        lab.wait(Nanos::from_millis(100));
        lab.report(2, &sink_report(&packet(2, &[1, 11, 2])));
    }

    assert_eq!(changes(&mut lab), [PathChangeKind::EcmpMove]);
}

#[test]
fn a_move_turns_out_a_reroute_when_the_old_links_carry_nothing_for_three_epochs() {
    let mut lab = Lab::new();
    let packet =
        |number, nodes: &[u32]| MdPacket { flow: flow(number), ..MdPacket::new(&hops(nodes)) }.bytes();
    lab.report(2, &sink_report(&packet(1, &[1, 11, 2])));
    lab.report(2, &sink_report(&packet(2, &[1, 11, 2])));
    lab.report(2, &sink_report(&packet(1, &[1, 12, 2])));
    lab.report(2, &sink_report(&packet(2, &[1, 12, 2])));
    assert_eq!(changes(&mut lab), [PathChangeKind::EcmpMove; 2]);

    lab.wait(Nanos(3_221_220_000));
    assert_eq!(changes(&mut lab), []);
    lab.wait(Nanos(10_000));

    assert_eq!(changes(&mut lab), [PathChangeKind::Reroute; 2]);
}

#[test]
fn links_of_both_paths_say_nothing_about_the_kind_of_a_change() {
    let mut lab = Lab::new();
    let packet =
        |number, nodes: &[u32]| MdPacket { flow: flow(number), ..MdPacket::new(&hops(nodes)) }.bytes();
    lab.report(3, &sink_report(&packet(1, &[1, 2, 11, 3])));
    lab.report(3, &sink_report(&packet(1, &[1, 2, 12, 3])));

    // The flow ends, and no other uses the link from 1 to 2; the links it left still carry another flow.
    for _ in 0..40 {
        lab.wait(Nanos::from_millis(100));
        lab.report(3, &sink_report(&packet(2, &[2, 11, 3])));
    }

    assert_eq!(changes(&mut lab), [PathChangeKind::EcmpMove]);
}

#[test]
fn a_second_change_has_three_epochs_of_its_own_to_show_what_it_is() {
    let mut lab = Lab::new();
    for (spine, pause) in [(11, 0), (12, 0), (13, 1_000)] {
        lab.wait(Nanos::from_millis(pause));
        lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, spine, 2])).bytes()));
    }
    assert_eq!(changes(&mut lab), [PathChangeKind::EcmpMove; 2]);

    lab.wait(Nanos(3_221_220_000));
    assert_eq!(changes(&mut lab), []);
    lab.wait(Nanos(10_000));

    let events = lab.events(EventKind::PathChange);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].confidence, Confidence::Probable);
    let EventDetail::PathChange(change) = &events[0].detail else { panic!("a change of path") };
    assert_eq!(
        (change.change, change.new.to_string().as_str()),
        (PathChangeKind::Reroute, "1:1:2 > 1:13:2 > 1:2:2")
    );
}

#[test]
fn three_changes_in_a_minute_are_a_flap_announced_once() {
    let mut lab = Lab::new();
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 2])).bytes()));
    for round in 0..10 {
        lab.wait(Nanos::from_secs(1));
        let spine = if round % 2 == 0 { 12 } else { 11 };
        lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, spine, 2])).bytes()));
    }

    let kinds = changes(&mut lab);

    assert_eq!(kinds, [PathChangeKind::EcmpMove, PathChangeKind::EcmpMove, PathChangeKind::Flap]);
}

#[test]
fn the_paths_of_a_packet_to_several_receivers_are_no_changes() {
    let groups = ["239.1.2.3", "255.255.255.255", "ff02::16"];
    for destination in groups.map(|group| group.parse().unwrap()) {
        let IpAddr::V4(_) = destination else {
            assert!(Flow { destination, ..flow(1) }.is_to_group());
            continue;
        };
        let mut lab = Lab::new();
        for round in 0..10 {
            lab.wait(Nanos::from_millis(100));
            let leaf = 2 + round % 3;
            let copy =
                MdPacket { flow: Flow { destination, ..flow(1) }, ..MdPacket::new(&hops(&[1, 11, leaf])) };
            lab.report(leaf, &sink_report(&copy.bytes()));
        }

        let paths = lab.paths();

        // As often as the path of a flow that flaps.
        assert!(paths.starts_with(&[vec![1, 11, 2], vec![1, 11, 3], vec![1, 11, 4]]), "{paths:?}");
        assert!(paths.len() < 6, "{paths:?}");
        assert_eq!(changes(&mut lab), []);
    }
}

#[test]
fn a_report_that_was_overtaken_changes_no_path() {
    let mut lab = Lab::new();
    let (old, new) = (MdPacket::new(&hops(&[1, 11, 2])).bytes(), MdPacket::new(&hops(&[1, 12, 2])).bytes());
    lab.report(2, &sink_report(&old));

    lab.overtake(2, &sink_report(&new), &sink_report(&old));

    assert_eq!(changes(&mut lab).len(), 1);
    assert_eq!(lab.only_flow().path.unwrap().hops()[1].node_id.0, 12);
}

#[test]
fn a_stack_marked_e_or_m_or_cut_or_of_a_dropped_packet_changes_no_path() {
    // More hops than the known path, so that not only shorter ones are ruled out.
    let short = MdPacket::new(&hops(&[1, 12, 13, 14]));
    let exceeded = MdPacket { max_hop_count_exceeded: true, ..short.clone() }.bytes();
    let too_long = MdPacket { mtu_exceeded: true, ..short.clone() }.bytes();
    let whole = short.bytes();
    let cut = &MdPacket::new(&hops(&[1, 12, 13, 14, 2])).bytes()[..108];
    let dropped = Draft { dropped: true, ..sink_report(&whole) };
    let untracked = Draft { tracked_flow: false, ..sink_report(&whole) };
    let incomplete = [sink_report(&exceeded), sink_report(&too_long), sink_report(cut), dropped, untracked];

    for report in incomplete {
        let mut lab = Lab::new();
        lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 2])).bytes()));
        lab.outputs();

        lab.report(2, &report);

        assert_eq!(lab.outputs(), [], "{report:?}");
        assert!(lab.only_flow().path_is_complete());
    }
}

#[test]
fn an_incomplete_stack_is_shown_until_a_complete_one_comes_and_that_is_no_change() {
    let mut lab = Lab::new();
    let exceeded = MdPacket { max_hop_count_exceeded: true, ..MdPacket::new(&hops(&[1, 11])) };

    lab.report(2, &sink_report(&exceeded.bytes()));
    assert!(!lab.only_flow().path_is_complete());
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 2])).bytes()));

    let expected: Vec<_> =
        lab.path_observations().iter().map(|path| (nodes(path), path.hops_expected)).collect();
    assert_eq!(expected, [(vec![1, 11], None), (vec![1, 11, 2], Some(3))]);
    assert_eq!(changes(&mut lab), []);
}

#[test]
fn an_intermediate_report_and_the_rest_from_the_sink_make_one_path() {
    let mut lab = Lab::new();
    let first_part = MdPacket::new(&hops(&[1, 11])).bytes();
    let rest = MdPacket::new(&hops(&[12, 2])).bytes();
    let intermediate = Draft { intermediate: true, ..sink_report(&first_part) };

    lab.report(11, &intermediate);
    lab.report(2, &sink_report(&rest));
    lab.report(11, &intermediate);
    lab.report(2, &sink_report(&rest));

    assert_eq!(lab.paths(), [vec![1, 11], vec![1, 11, 12, 2]]);
    assert_eq!(changes(&mut lab), []);
    assert!(lab.only_flow().path_is_complete());
}

#[test]
fn a_transit_hop_may_report_the_stack_and_begin_the_next_one_itself() {
    let mut lab = Lab::new();
    let first_part = MdPacket::new(&hops(&[1])).bytes();
    // INT main contents without metadata: a domain unknown to the node.
    let no_metadata = Draft { intermediate: true, domain: Some((7, 0, &[])), ..sink_report(&first_part) };

    lab.report(11, &no_metadata);
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[11, 2])).bytes()));

    assert_eq!(lab.paths(), [vec![1], vec![1, 11, 2]]);
}

#[test]
fn a_whole_stack_behind_an_intermediate_report_is_the_path_by_itself() {
    let mut lab = Lab::new();
    let first_part = MdPacket::new(&hops(&[1, 11])).bytes();
    lab.report(11, &Draft { intermediate: true, ..sink_report(&first_part) });

    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 12, 2])).bytes()));

    assert_eq!(lab.paths(), [vec![1, 11], vec![1, 11, 12, 2]]);
}

#[test]
fn both_parts_of_a_joined_path_keep_their_latest_latencies() {
    let mut lab = Lab::new();
    for latency in [900, 5] {
        let first_part = MdPacket::new(&[hop(1, latency, 0), hop(11, latency, 0)]).bytes();
        lab.report(11, &Draft { intermediate: true, ..sink_report(&first_part) });
        lab.report(
            2,
            &sink_report(&MdPacket::new(&[hop(12, latency + 1, 0), hop(2, latency + 2, 0)]).bytes()),
        );
    }

    let latencies: Vec<_> =
        lab.only_flow().hop_latency.iter().map(|latency| latency.map(|span| span.0)).collect();
    assert_eq!(latencies, [Some(5), Some(5), Some(6), Some(7)]);
}

#[test]
fn where_a_path_was_joined_no_link_is_certain() {
    let mut lab = Lab::new();
    let first_part = MdPacket::new(&hops(&[1, 11])).bytes();
    lab.report(11, &Draft { intermediate: true, ..sink_report(&first_part) });
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[12, 2])).bytes()));
    lab.outputs();

    // Only a link from 11 to 12 could order these two.
    for node_id in [12, 11] {
        lab.report(node_id, &node_report(&plain_packet(&flow(2), 64), hop(node_id, 900, 0)));
    }
    lab.wait(Nanos::from_secs(5));

    assert_eq!(lab.paths(), Vec::<Vec<u32>>::new());
}

#[test]
fn an_intermediate_report_of_all_that_was_the_path_is_followed_by_more() {
    let mut lab = Lab::new();
    let first_part = MdPacket::new(&hops(&[1, 11])).bytes();
    lab.report(11, &sink_report(&first_part));

    lab.report(11, &Draft { intermediate: true, ..sink_report(&first_part) });
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[12, 2])).bytes()));

    assert_eq!(lab.paths(), [vec![1, 11], vec![1, 11, 12, 2]]);
}

#[test]
fn an_intermediate_report_counts_for_two_and_a_half_epochs() {
    let joined_after = |pause| {
        let mut lab = Lab::new();
        let first_part = MdPacket::new(&hops(&[1, 11])).bytes();
        lab.report(11, &Draft { intermediate: true, ..sink_report(&first_part) });
        lab.wait(pause);
        lab.report(2, &sink_report(&MdPacket::new(&hops(&[12, 2])).bytes()));
        lab.only_flow().path.unwrap().hops().len()
    };

    assert_eq!(joined_after(Nanos(2_684_354_560 - 1_000)), 4);
    assert_eq!(joined_after(Nanos(2_684_354_560)), 2);
}

#[test]
fn packets_small_enough_to_keep_their_stack_do_not_change_a_joined_path() {
    let mut lab = Lab::new();
    let first_part = MdPacket::new(&hops(&[1, 11])).bytes();
    let intermediate = Draft { intermediate: true, ..sink_report(&first_part) };
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 12, 2])).bytes()));
    lab.outputs();

    lab.report(11, &intermediate);
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[12, 2])).bytes()));
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 12, 2])).bytes()));

    assert_eq!(lab.outputs(), []);
}

#[test]
fn the_same_node_and_interface_twice_in_a_stack_is_a_loop_for_certain() {
    let mut lab = Lab::new();
    let round = [hop(1, 9, 0), hop_via(5, 3, 4, 9, 0), hop_via(6, 1, 2, 9, 0), hop_via(5, 3, 4, 9, 0)];

    lab.report(2, &sink_report(&MdPacket::new(&round).bytes()));
    lab.report(2, &sink_report(&MdPacket { max_hop_count_exceeded: true, ..MdPacket::new(&round) }.bytes()));

    let events = lab.events(EventKind::Loop);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].confidence, Confidence::Certain);
    let EventDetail::Loop(found) = &events[0].detail else { panic!("a loop") };
    assert_eq!((found.node_id.0, found.ingress_interface), (5, Some(3)));
}

#[test]
fn the_same_node_by_another_interface_is_a_loop_unless_hairpins_are_allowed_there() {
    let hairpin =
        MdPacket::new(&[hop(1, 9, 0), hop_via(5, 3, 4, 9, 0), hop(6, 9, 0), hop_via(5, 7, 8, 9, 0)]);
    let ran_out = MdPacket { max_hop_count_exceeded: true, ..hairpin.clone() };
    let loops = |allow_nodes: &[u32], packet: &MdPacket| {
        let loops = LoopSettings { allow_nodes: allow_nodes.to_vec(), ..LoopSettings::default() };
        let events = EventSettings { loops, ..EventSettings::default() };
        let mut lab = Lab::with(CollectorSettings { events, ..CollectorSettings::default() });
        lab.report(2, &sink_report(&packet.bytes()));
        let events = lab.events(EventKind::Loop);
        events.iter().map(|event| (event.confidence, event.severity)).collect::<Vec<_>>()
    };

    assert_eq!(loops(&[], &hairpin), [(Confidence::Probable, Severity::Warning)]);
    assert_eq!(loops(&[5], &hairpin), []);
    // Exhausted hops indicate a loop wherever it is.
    assert_eq!(loops(&[5], &ran_out), [(Confidence::Probable, Severity::Critical)]);
}

#[test]
fn hops_that_do_not_tell_their_node_id_are_no_loop() {
    let mut lab = Lab::new();
    let silent = HopMetadata { node_id: None, ..hop(0, 900, 0) };
    let packet =
        MdPacket { max_hop_count_exceeded: true, ..MdPacket::new(&[silent, hop(1, 900, 0), silent]) };

    lab.report(2, &sink_report(&packet.bytes()));

    assert_eq!(lab.events(EventKind::Loop), []);
}

#[test]
fn a_hop_that_does_not_tell_its_node_id_is_on_the_path_and_in_no_statistics() {
    let mut lab = Lab::new();
    let silent = HopMetadata { node_id: None, ..hop(0, 900, 7) };

    lab.report(2, &sink_report(&MdPacket::new(&[hop(1, 900, 0), silent, hop(2, 900, 0)]).bytes()));

    assert_eq!(lab.only_flow().path.unwrap().to_string(), "1:1:2 > 1:?:2 > 1:2:2");
    assert_eq!(lab.collector.ports().count(), 2);
    assert_eq!(lab.collector.overflows().unfollowed_ports, 0);
}

#[test]
fn a_packet_marked_as_int_that_cannot_be_is_counted_and_tells_no_path() {
    let mut lab = Lab::new();
    let whole = MdPacket::new(&hops(&[1, 11, 2])).bytes();
    // Byte 29 is the shim's length, byte 34 contains Hop ML: after IPv4, UDP and the shim.
    for (at, wrong) in [(29, 0), (34, 31)] {
        let mut packet = whole.clone();
        packet[at] = wrong;
        lab.report(2, &node_report(&packet, hop(2, 900, 0)));
    }
    lab.wait(Nanos::from_secs(2));

    let ledger = lab.collector.ledger();
    assert_eq!((ledger.accepted, ledger.malformed), (2, 0));
    let mut faults: Vec<_> = lab.collector.unreadable().map(|fault| (fault.header, fault.count)).collect();
    faults.sort_unstable();
    assert_eq!(faults, [("INT shim", 1), ("INT-MD header", 1)]);
    assert_eq!(lab.paths(), Vec::<Vec<u32>>::new());
    assert_eq!(lab.collector.ports().count(), 1);
}

#[test]
fn a_duplicate_is_not_looked_at_again() {
    let mut lab = Lab::new();
    let packet = MdPacket::new(&hops(&[1, 11, 2])).bytes();
    let bytes = datagram(2, 7, &[&sink_report(&packet)]);

    lab.datagram(&bytes);
    lab.datagram(&bytes);

    assert_eq!(lab.collector.ledger().duplicate, 1);
    assert_eq!(lab.only_flow().reports, 1);
}

#[test]
fn each_hop_is_observed_when_that_is_asked_for() {
    let paths = PathSettings { hop_observations: true, ..PathSettings::default() };
    let mut lab = Lab::with(CollectorSettings { paths, ..CollectorSettings::default() });

    lab.report(2, &sink_report(&MdPacket::new(&[hop(1, 900, 3), hop(2, 800, 4)]).bytes()));

    let measured: Vec<_> = lab
        .outputs()
        .into_iter()
        .filter_map(|output| match output {
            inband_collector::Output::Observation(Observation::HopLatency(hop)) => {
                Some((hop.hop.node_id.0, hop.latency.0))
            }
            inband_collector::Output::Observation(Observation::QueueDepth(queue)) => {
                Some((queue.hop.node_id.0, u64::from(queue.occupancy)))
            }
            _ => None,
        })
        .collect();
    assert_eq!(measured, [(1, 900), (1, 3), (2, 800), (2, 4)]);
}

#[test]
fn every_report_of_a_datagram_tells_the_path_of_its_flow() {
    // report-2.0/group-06
    let mut lab = Lab::new();
    let packets: Vec<Vec<u8>> = (1..=3)
        .map(|number| MdPacket { flow: flow(number), ..MdPacket::new(&hops(&[1, 10 + number, 2])) }.bytes())
        .collect();
    let reports: Vec<_> = packets.iter().map(|packet| sink_report(packet)).collect();

    lab.datagram(&datagram(2, 1, &reports.iter().collect::<Vec<_>>()));

    assert_eq!(lab.paths(), [[1, 11, 2], [1, 12, 2], [1, 13, 2]]);
}

#[test]
fn a_path_there_is_no_room_for_is_counted_and_the_flow_keeps_the_one_it_has() {
    let paths = PathSettings { max_paths: 1, ..PathSettings::default() };
    let mut lab = Lab::with(CollectorSettings { paths, ..CollectorSettings::default() });
    lab.report(2, &sink_report(&MdPacket::new(&hops(&[1, 11, 2])).bytes()));

    lab.report(2, &sink_report(&MdPacket::new(&[hop(1, 5, 0), hop(12, 5, 0), hop(2, 5, 0)]).bytes()));

    assert_eq!(lab.paths(), [[1, 11, 2]]);
    assert_eq!(changes(&mut lab), []);
    assert_eq!(lab.only_flow().hop_latency, [Some(Nanos(900)); 3]);
    assert_eq!(lab.collector.overflows().refused_paths, 1);
}

#[test]
fn a_stack_of_more_hops_than_are_followed_is_not_whole() {
    let long = |count: u32| {
        let mut lab = Lab::new();
        let packet = MdPacket {
            instructions: Instructions::NODE_ID,
            ..MdPacket::new(&hops(&Vec::from_iter(1..=count)))
        };
        lab.report(count, &sink_report(&packet.bytes()));
        let view = lab.only_flow();
        (view.path.unwrap().hops().len(), view.path_is_complete())
    };

    assert_eq!(long(32), (32, true));
    assert_eq!(long(33), (32, false));
}

#[test]
fn silent_flows_are_forgotten_and_a_full_table_forgets_the_longest_silent() {
    let paths = PathSettings { max_flows: 2, ..PathSettings::default() };
    let mut lab = Lab::with(CollectorSettings { paths, ..CollectorSettings::default() });
    for number in 1..=3 {
        let packet = MdPacket { flow: flow(number), ..MdPacket::new(&hops(&[number, 2])) };
        lab.report(2, &sink_report(&packet.bytes()));
    }
    let mut flows: Vec<_> = lab.collector.flows().map(|view| view.flow).collect();
    flows.sort();
    assert_eq!(flows, [flow(2), flow(3)]);
    assert_eq!(lab.collector.overflows().evicted_flows, 1);

    lab.wait(Nanos::from_secs(59));
    assert_eq!(lab.collector.flows().count(), 2);
    lab.wait(Nanos::from_secs(5));

    assert_eq!(lab.collector.flows().count(), 0);
    let overflows = lab.collector.overflows();
    assert_eq!((overflows.aged_flows, overflows.flows, overflows.paths), (2, 0, 0));
    assert_eq!(lab.collector.poll_timeout(), None);
}

/// The changes that began, and the reroutes that they turned out to be.
fn changes(lab: &mut Lab) -> Vec<PathChangeKind> {
    let events = lab.events(EventKind::PathChange);
    events
        .into_iter()
        .map(|event| match event.detail {
            EventDetail::PathChange(change) => (event.phase, change.change),
            other => panic!("not a change of path: {other:?}"),
        })
        .filter(|change| *change != (Phase::End, PathChangeKind::EcmpMove))
        .map(|(_, change)| change)
        .collect()
}

#[test]
fn latencies_change_in_packets_with_m_too() {
    let mut lab = Lab::new();
    for latency in [900, 900, 90_000] {
        let packet = MdPacket { mtu_exceeded: true, ..MdPacket::new(&[hop(1, 900, 0), hop(11, latency, 0)]) };
        lab.report(2, &sink_report(&packet.bytes()));
        lab.wait(Nanos::from_secs(1));
    }

    let changes = lab.events(EventKind::LatencyChange);
    assert_eq!(changes.iter().map(|event| event.key.as_str()).collect::<Vec<_>>(), ["node 11 egress 2"]);
}

#[test]
fn a_packet_that_was_overtaken_is_not_the_one_before() {
    let mut lab = Lab::new();
    let stamped = |node_id, latency, at| HopMetadata {
        ingress_timestamp: Some(at),
        egress_timestamp: Some(at + u64::from(latency)),
        ..hop(node_id, latency, 0)
    };
    let step = 100_000;
    for (latency, at) in [(5_000, 1), (5_000, 3), (900, 2), (5_000, 4)] {
        let packet = MdPacket {
            instructions: Instructions(0xfc00),
            ..MdPacket::new(&[stamped(1, 900, at * step), stamped(2, latency, at * step)])
        };
        lab.report(2, &sink_report(&packet.bytes()));
    }

    assert_eq!(lab.events(EventKind::LatencyChange), []);
}

#[test]
fn links_are_timed_behind_a_hop_without_timestamps() {
    let mut lab = Lab::new();
    let stamped = |node_id, ingress, egress| HopMetadata {
        ingress_timestamp: Some(ingress),
        egress_timestamp: Some(egress),
        ..hop(node_id, 900, 0)
    };
    let at = 1_000_000_000;
    for _ in 0..2 {
        let packet = MdPacket {
            instructions: Instructions(0xfc00),
            ..MdPacket::new(&[hop(1, 900, 0), stamped(11, at, at + 900), stamped(2, at + 500, at + 1_400)])
        };
        lab.report(2, &sink_report(&packet.bytes()));
    }

    assert_eq!(lab.events(EventKind::NegativeLinkLatency).len(), 1);
}

#[test]
fn a_sink_whose_own_metadata_is_also_on_a_stack_without_ids_is_no_further_hop() {
    let mut lab = Lab::new();
    let unnamed = |latency| HopMetadata { node_id: None, interfaces: None, ..hop(0, latency, 7) };
    let hops = [unnamed(900), unnamed(800), unnamed(700)];
    let packet = MdPacket { instructions: Instructions(0x3000), ..MdPacket::new(&hops) }.bytes();
    for round in 0..4 {
        let report = sink_report(&packet);
        let with_queue = Draft {
            congested_queue: true,
            own_hop: true,
            metadata: unnamed(700),
            instructions: Instructions(0x3000),
            ..report
        };
        lab.report(2, if round % 2 == 0 { &report } else { &with_queue });
        lab.wait(Nanos::from_secs(1));
    }

    assert_eq!(lab.paths().len(), 1);
    assert_eq!(lab.events(EventKind::PathChange), []);
}
