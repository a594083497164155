//! INT in the inner layer of a tunnel, alone and together with INT in the outer one.
#![allow(clippy::unwrap_used, reason = "these are the helpers of tests")]

use inband_node::config::Layer;
use inband_node::{Node, Outcome};
use inband_testkit::oracle;
use inband_testkit::path::{DomainPlan, NodePlan, Place, send};
use inband_testkit::strategies::{domain_plan, nested_packet, node_plan};
use inband_wire::int::CodePoints;
use inband_wire::{Dissection, Link, Strictness, dissect};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::journey::{Journey, as_it_came};
use crate::many;

/// A domain of INT 2.1 behind TCP or UDP, with the default marks.
fn inner_plan() -> impl Strategy<Value = DomainPlan> {
    domain_plan().prop_map(|plan| {
        with_default_marks(DomainPlan({
            let mut choices = plan.0;
            choices[0] %= 4;
            choices
        }))
    })
}

/// The same code points on all nodes, without which the nodes of one layer could not read past the other.
fn with_default_marks(plan: DomainPlan) -> DomainPlan {
    let mut choices = plan.0;
    choices[1] %= 200;
    choices[3] &= !0x40;
    choices[5] &= !(32 | 2);
    choices[6] = 0;
    DomainPlan(choices)
}

fn inner_path(domain: &DomainPlan, plans: &[NodePlan]) -> Vec<Node> {
    let config = |index, plan| {
        let mut config = domain.node(u32::try_from(index).unwrap() + 1, Place::of(index, plans.len()), plan);
        config.encapsulation.layer = Layer::Inner;
        config
    };
    plans.iter().enumerate().map(|(index, plan)| Node::new(&config(index, plan)).unwrap()).collect()
}

/// The sums over IP header and L4 of every packet around the innermost one, outermost first.
fn outer_sums(frame: &[u8]) -> Vec<(Option<u16>, Option<u16>)> {
    let found = levels(frame);
    let around = found.levels().count().saturating_sub(1);
    let alone = found.levels().take(around).map(|level| {
        let end = level.layers.end.min(frame.len());
        let ethertype = if frame[level.layers.l3] >> 4 == 4 { [0x08, 0x00] } else { [0x86, 0xdd] };
        [&[0; 12][..], &ethertype, &frame[level.layers.l3..end]].concat()
    });
    alone.map(|packet| (oracle::ipv4_header_sum(&packet), oracle::l4_sum(&packet))).collect()
}

/// The nested packets of a frame without INT in the outer ones.
fn levels(frame: &[u8]) -> Dissection {
    dissect(Link::Ethernet, frame, &CodePoints::NONE, Strictness::Truncated)
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn int_in_the_inner_layer_leaves_no_trace_and_keeps_the_sums_around_it(
        packet in nested_packet(300),
        domain in inner_plan(),
        plans in vec(node_plan(), 2..=6),
    ) {
        // int-2.1/l4-04, int-2.1/domain-03, int-2.1/sink-01, int-2.1/checksum-03
        let frame = packet.build();
        let journey = Journey::run_with(&domain, &plans, &frame, |config| {
            config.encapsulation.layer = Layer::Inner;
        });
        if !journey.any(Outcome::Remarked) {
            prop_assert_eq!(journey.last(), &frame);
        }
        let before = outer_sums(&frame);
        for inside in journey.inside() {
            // A new UDP header hides the innermost packet; the outer packets are before it.
            let after = outer_sums(inside);
            prop_assert_eq!(&after[..before.len().min(after.len())], &before[..before.len().min(after.len())]);
            prop_assert_eq!(oracle::anatomy(inside).unwrap().end, oracle::anatomy(&frame).unwrap().end + inside.len() - frame.len());
        }
    }

    #[test]
    fn int_in_both_layers_comes_back_bit_for_bit_in_whatever_order_its_domains_nest(
        packet in nested_packet(300),
        (outer, inner) in (domain_plan().prop_map(with_default_marks), inner_plan()),
        plans in vec(node_plan(), 4),
        inner_ends_first in any::<bool>(),
    ) {
        // int-2.1/l4-04, int-2.1/domain-03
        let frame = packet.build();
        let mut inner_nodes = inner_path(&inner, &[plans[0], plans[1]]);
        let mut outer_nodes = inband_testkit::path::nodes(&outer, &[plans[2], plans[3]]);
        let mut way: Vec<&mut Node> = Vec::new();
        let [inner_source, inner_sink] = &mut inner_nodes[..] else { unreachable!() };
        let [outer_source, outer_sink] = &mut outer_nodes[..] else { unreachable!() };
        way.extend([inner_source, outer_source]);
        way.extend(if inner_ends_first { [inner_sink, outer_sink] } else { [outer_sink, inner_sink] });
        let mut current = frame.clone();
        for node in way {
            let sent = send(node, &current, &plans[0].passage());
            current = sent.unwrap_or_else(|| as_it_came(node, &current));
        }
        let any = |outcome| {
            inner_nodes.iter().chain(&outer_nodes).any(|node| node.counters().get(outcome) > 0)
        };
        if !any(Outcome::Remarked) {
            prop_assert_eq!(current, frame);
        }
    }
}
