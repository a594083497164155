use std::collections::HashMap;

use inband_model::{Flow, HopRecord, Nanos, NodeId};

use super::LinkQuestion;
use crate::batch::Batch;
use crate::history::History;
use crate::question::Limits;
use crate::range::TimeRange;
use crate::sample::{Folder, Numbers, START};
use crate::settings::StoreSettings;
use crate::spread::Spread;
use crate::store::{Offered, Store};

/// The hops of a report over nodes 1 to 4, some missing or without timestamps.
fn report(numbers: &mut Numbers, sequence: u32) -> Vec<HopRecord> {
    let received_at = Nanos(START.0 + numbers.below(100) * 1_000_000_000);
    let flow = Flow { source_port: u16::try_from(numbers.below(3)).unwrap(), ..Flow::default() };
    let mut clock = START.0 + numbers.below(1 << 30);
    let count = 1 + u8::try_from(numbers.below(4)).unwrap();
    let mut hops = Vec::new();
    for index in 0..count {
        let wrong = numbers.below(10) == 0;
        let ingress = clock;
        clock += numbers.below(1_000);
        hops.push(HopRecord {
            received_at,
            sequence,
            flow: Some(flow),
            hop_index: index,
            hop_count: count,
            node_id: NodeId(u32::from(index) + 1),
            egress_interface: Some(u16::try_from(numbers.below(2)).unwrap()),
            queue_id: Some(u8::try_from(numbers.below(2)).unwrap()),
            ingress_timestamp: Some(if wrong { ingress & 0xffff_ffff } else { ingress }),
            egress_timestamp: (numbers.below(10) > 0).then_some(clock),
            ..HopRecord::default()
        });
        clock += numbers.below(1 << 20);
    }
    hops
}

/// The same distribution, computed from a list of hops.
fn of_list(hops: &[HopRecord], question: &LinkQuestion) -> Spread {
    let mut spread = Spread::default();
    let by_place: HashMap<(u32, u8), &HopRecord> =
        hops.iter().map(|hop| ((hop.sequence, hop.hop_index), hop)).collect();
    for left in hops {
        let is_it = left.node_id.0 == question.node
            && left.egress_interface.map(u32::from) == Some(question.interface)
            && question.queue.is_none_or(|queue| left.queue_id.map(u32::from) == Some(queue))
            && question.flow.is_none_or(|flow| left.flow.map(|flow| flow.id()) == Some(flow))
            && (question.range.from..=question.range.to).contains(&left.received_at);
        let Some(came) = by_place.get(&(left.sequence, left.hop_index + 1)).filter(|_| is_it) else {
            continue;
        };
        let wide = |stamp: Option<u64>| stamp.filter(|stamp| *stamp > 0xffff_ffff);
        if let Some((left_at, came_at)) = wide(left.egress_timestamp).zip(wide(came.ingress_timestamp)) {
            let step = (left.received_at.0 - question.range.from.0) / question.step_ns;
            spread.add(u32::try_from(step).unwrap(), came_at.saturating_sub(left_at), 1);
        }
    }
    spread
}

#[test]
fn times_over_a_link_are_those_of_its_two_hops_in_segments_and_in_logs() {
    let (folder, mut numbers) = (Folder::new(), Numbers(3));
    let store = Store::open(StoreSettings { segment_rows: 500, ..folder.settings() }).unwrap();
    let mut all = Vec::new();
    for first in (0..600).step_by(30) {
        let hops: Vec<_> = (first..first + 30).flat_map(|sequence| report(&mut numbers, sequence)).collect();
        let offered = store.offer(Batch { reports: 30, hops: hops[..].into(), ..Batch::default() });
        assert_eq!(offered, Offered::Queued);
        all.extend(hops);
    }
    store.sync();
    let second = |seconds: u64| Nanos(START.0 + seconds * 1_000_000_000);
    let questions = [
        (TimeRange { from: START, to: second(200) }, None, None),
        (TimeRange { from: second(20), to: second(60) }, Some(1), None),
        (TimeRange { from: START, to: second(200) }, None, all[0].flow.map(|flow| flow.id())),
    ];
    for history in [store.history().unwrap(), {
        store.close();
        History::open(folder.path()).unwrap()
    }] {
        for (range, queue, flow) in questions {
            for node in 1..=4 {
                let question =
                    LinkQuestion { range, step_ns: 10_000_000_000, node, interface: 1, queue, flow };
                let found = history.link_spread(&question, Limits::default()).unwrap();
                assert_eq!(found, of_list(&all, &question), "{question:?}");
                assert!(node > 2 || flow.is_some() || found.counts().count() > 3, "{question:?}");
            }
        }
    }
}
