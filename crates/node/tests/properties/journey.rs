//! A frame's journey through all nodes of a domain.
#![allow(clippy::unwrap_used, reason = "these are the helpers of tests")]

use inband_node::config::{EncapsulationKind, IntVersion, NodeConfig};
use inband_node::{Node, Outcome};
use inband_testkit::oracle;
use inband_testkit::path::{DomainPlan, NodePlan, Place, send};
use inband_wire::int::{CodePoints, Domain, HopMetadata, Instructions, Location, Md, MdHeader};
use inband_wire::{Link, Strictness, dissect};

/// A frame's path through the nodes of a domain.
pub(crate) struct Journey {
    /// The nodes, with ids from 1.
    pub(crate) nodes: Vec<Node>,
    /// Their configurations.
    pub(crate) configs: Vec<NodeConfig>,
    /// The frame as received, then as sent by each node.
    pub(crate) frames: Vec<Vec<u8>>,
}

impl Journey {
    /// Sends `frame` through a node for each plan.
    pub(crate) fn run(domain: &DomainPlan, plans: &[NodePlan], frame: &[u8]) -> Self {
        Self::run_with(domain, plans, frame, |_| {})
    }

    /// As [`Journey::run`], with configurations modified by `change`.
    pub(crate) fn run_with(
        domain: &DomainPlan,
        plans: &[NodePlan],
        frame: &[u8],
        change: impl Fn(&mut NodeConfig),
    ) -> Self {
        let mut journey = Self { nodes: Vec::new(), configs: Vec::new(), frames: vec![frame.to_vec()] };
        for ((index, plan), id) in plans.iter().enumerate().zip(1..) {
            let mut config = domain.node(id, Place::of(index, plans.len()), plan);
            change(&mut config);
            let mut node = Node::new(&config).unwrap();
            let sent = send(&mut node, journey.last(), &plan.passage());
            let sent = sent.unwrap_or_else(|| as_it_came(&node, journey.last()));
            journey.nodes.push(node);
            journey.configs.push(config);
            journey.frames.push(sent);
        }
        journey
    }

    /// The frame as sent by the last node.
    pub(crate) fn last(&self) -> &Vec<u8> {
        self.frames.last().unwrap()
    }

    /// Whether any node counted `outcome`.
    pub(crate) fn any(&self, outcome: Outcome) -> bool {
        self.nodes.iter().any(|node| node.counters().get(outcome) > 0)
    }

    /// The expected frame at the end: as received, except that Host-INT clears the DSCP bits of its mark.
    pub(crate) fn restored(&self) -> Vec<u8> {
        let (mut frame, config) = (self.frames[0].clone(), &self.configs[0]);
        let is_marked = config.encapsulation.kind() == EncapsulationKind::Dscp && self.any(Outcome::Stripped);
        if config.int_version() == IntVersion::Host0_5 && is_marked {
            clear_dscp(&mut frame, config.encapsulation.mark().mask);
        }
        frame
    }

    /// The frames between the first and the last node: those that carry INT, if it was started.
    pub(crate) fn inside(&self) -> &[Vec<u8>] {
        &self.frames[1..self.frames.len() - 1]
    }
}

/// The frame that `node` dropped as unknown INT, which some random frames look like: as if it had been
/// forwarded.
pub(crate) fn as_it_came(node: &Node, frame: &[u8]) -> Vec<u8> {
    let dropped = [Outcome::IntFromEdge, Outcome::UnknownVersion, Outcome::NotStripped];
    assert!(dropped.iter().any(|outcome| node.counters().get(*outcome) > 0), "no packet has D set");
    frame.to_vec()
}

/// Clears DSCP bits of an IPv4 packet in Ethernet; a wrong header checksum stays wrong by the same
/// difference.
fn clear_dscp(frame: &mut [u8], mask: u8) {
    let Some(at) = oracle::anatomy(frame) else { return };
    if frame[at.l3 + 1] & mask << 2 == 0 {
        return;
    }
    let sum = oracle::ipv4_header_sum(frame);
    frame[at.l3 + 1] &= !(mask << 2);
    frame[at.l3 + 10..at.l3 + 12].fill(0);
    let rest = oracle::ones_complement_sum(&[&frame[at.l3..at.l3 + at.l3_length]]);
    let wanted = oracle::ones_complement_sum(&[&sum.unwrap().to_be_bytes(), &(!rest).to_be_bytes()]);
    // All ones and zero are the same number; zero is written.
    let wanted = if wanted == u16::MAX { 0 } else { wanted };
    frame[at.l3 + 10..at.l3 + 12].copy_from_slice(&wanted.to_be_bytes());
}

/// The INT-MD header and stack of a frame inside the domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) header: MdHeader,
    /// Bytes after the header.
    pub(crate) stack: Vec<u8>,
    pub(crate) location: Location,
    pub(crate) hops: Vec<HopMetadata>,
}

/// Reads the INT-MD header of `frame` by the code points of `config`; `None` if there is none.
pub(crate) fn md(config: &NodeConfig, domains: &[Domain], frame: &[u8]) -> Option<Seen> {
    let mark = [config.encapsulation.mark()];
    let code_points = CodePoints {
        dscp: if config.encapsulation.kind() == EncapsulationKind::Dscp { &mark } else { &[] },
        udp_ports: &[config.encapsulation.udp_port()],
        tcp_options: config.encapsulation.tcp_options(),
        domains,
        reading: config.encapsulation.reading(),
        ..CodePoints::DEFAULT
    };
    let found = dissect(Link::Ethernet, frame, &code_points, Strictness::Truncated);
    let (_, location) = found.int().next()?;
    let md = Md::parse(frame, location, domains).unwrap();
    Some(Seen {
        header: md.header,
        stack: frame[location.header + 12..location.end].to_vec(),
        location: *location,
        hops: md.stack.hops().map(|hop| hop.metadata()).collect(),
    })
}

/// Length of one hop of the source of `domain`, words.
pub(crate) fn hop_words(domain: &DomainPlan, domains: &[Domain]) -> u8 {
    let own = domains.first().and_then(|domain| domain.hop_words(0x1040)).unwrap_or_default();
    (domain.instructions() | Instructions::default()).words().count() + own.count()
}
