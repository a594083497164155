use inband_export::Stage;
use inband_model::api::Window;
use inband_model::{HopColumns, HopRecord, Nanos, NodeId};

use super::Windows;

const START: u64 = 1_700_000_000;

/// Hops of packets through node 1 to node 2 in one second.
fn hops(second: u64, count: u32, latency: u64, depth: u32) -> HopColumns {
    let hop = |sequence: u32, index: u8| HopRecord {
        received_at: Nanos(second * 1_000_000_000 + u64::from(sequence)),
        reporter: NodeId(2),
        sequence,
        hop_index: index,
        hop_count: 2,
        node_id: NodeId(u32::from(index) + 1),
        ingress_interface: Some(7),
        egress_interface: Some(3),
        latency: Some(Nanos(latency)),
        queue_id: Some(0),
        queue_occupancy: Some(depth),
        ingress_timestamp: Some(second * 1_000_000_000 + u64::from(index) * 5_000),
        egress_timestamp: Some(second * 1_000_000_000 + u64::from(index) * 5_000 + 1_000),
        ..HopRecord::default()
    };
    (0..count).flat_map(|sequence| [hop(sequence, 0), hop(sequence, 1)]).collect()
}

fn after(seconds: u64) -> Windows {
    let mut windows = Windows::new(1 << 30);
    windows.handle_hops(&hops(START, 100, 40_000, 900), 100);
    for second in 1..=seconds {
        windows.handle_hops(&hops(START + second, 10, 700, 3), 10);
    }
    windows
}

#[test]
fn a_burst_is_in_each_window_for_as_long_as_it_is_long_and_not_longer() {
    let port = (NodeId(1), Some(3));
    for (seconds, in_ten, in_minute, in_ten_minutes) in [
        (0, true, true, true),
        (9, true, true, true),
        (12, false, true, true),
        (75, false, false, true),
        (670, false, false, false),
    ] {
        let windows = after(seconds);
        let has_burst = |window| {
            let lately = windows.lately(window, START + seconds);
            let values = lately.ports[&port].values().unwrap();
            let depth = lately.queues[&(NodeId(1), Some(3), 0)].values().unwrap();
            assert_eq!(values.max == 40_000, depth.max == 900);
            assert!(values.count >= 10, "{values:?}");
            values.max == 40_000
        };
        let found = [Window::TenSeconds, Window::Minute, Window::TenMinutes].map(has_burst);
        assert_eq!(found, [in_ten, in_minute, in_ten_minutes], "after {seconds} s");
    }
}

#[test]
fn each_report_counts_once_wherever_its_second_has_gone() {
    for seconds in [3, 8, 10, 11, 40, 60, 61, 200] {
        let windows = after(seconds);
        let lately = windows.lately(Window::TenMinutes, START + seconds);
        let values = lately.ports[&(NodeId(2), Some(3))].values().unwrap();
        assert_eq!(values.count, 100 + 10 * seconds, "after {seconds} s");
        let links = lately.links[&(NodeId(1), Some(3), NodeId(2), Some(7))].values().unwrap();
        assert_eq!((links.count, links.max), (100 + 10 * seconds, 4_000));
        let node = lately.node(NodeId(1)).unwrap();
        assert_eq!((node.count, node.max), (100 + 10 * seconds, 40_000));
        assert!(node.p50.abs_diff(700) <= 50 || seconds < 10, "{node:?}");
    }
}

#[test]
fn what_is_quiet_is_not_there_and_a_clock_that_is_set_back_begins_anew() {
    let mut windows = after(20);
    assert!(windows.lately(Window::TenSeconds, START + 100).ports.is_empty());
    assert!(!windows.lately(Window::Minute, START + 70).ports.is_empty());

    windows.handle_hops(&hops(START - 3_600, 5, 800, 1), 5);
    let lately = windows.lately(Window::TenMinutes, START - 3_600);
    assert_eq!(lately.ports[&(NodeId(1), Some(3))].values().unwrap().count, 5);
}

#[test]
fn memory_has_a_bound_and_what_is_longest_ago_goes_first() {
    let mut windows = Windows::new(400_000);
    for second in 0..300 {
        let mut many = HopColumns::default();
        for node in 0..100_u32 {
            let hop = HopRecord {
                received_at: Nanos((START + second) * 1_000_000_000),
                sequence: node,
                node_id: NodeId(node),
                egress_interface: Some(1),
                latency: Some(Nanos(u64::from(node) * 100 + second)),
                ..HopRecord::default()
            };
            many.push(&hop);
        }
        windows.handle_hops(&many, 100);
    }
    assert!(windows.bytes() <= 400_000 + 100_000, "{}", windows.bytes());
    let lately = windows.lately(Window::TenSeconds, START + 299);
    assert_eq!(lately.ports.len(), 100);
}
