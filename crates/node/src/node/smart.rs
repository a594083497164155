//! The filter before reports: whether a packet is reported, and why.

use std::cell::Cell;
use std::net::SocketAddr;

use inband_wire::FiveTuple;
use inband_wire::dissect::{carried, flow_before_int};
use inband_wire::int::Location;
use inband_wire::int::earlier::HopByHop;
use inband_wire::layers::{IpVersion, Layers, Link, Strictness};
use inband_wire::tunnel::{behind_labels, follow, innermost};

use crate::config::Layer;
use crate::counters::Outcome;
use crate::domains::NO_VALUES;
use crate::encapsulation::IntSpan;
use crate::frame::Frame;
use crate::indication::{self, Int};
use crate::inside::{Innermost, Inside};
use crate::passage::Hop;
use crate::reported::{Inserted, Reported, Tracking};
use crate::reporter::Asked;
use crate::sessions::Addressed;
use crate::smart::Congestion;

use super::Node;
use super::visit::Visit;

impl Node {
    /// The fate of a packet whose queue may be congested.
    #[inline(never)]
    pub(super) fn fate_with_queue(&mut self, link: Link, frame: &mut Frame<'_>, hop: Hop<'_>) -> Outcome {
        let congested = Cell::new(self.is_congested(link, frame.bytes(), &hop));
        let fate = self.fate(link, frame, hop, Some(&congested));
        if congested.take() && !fate.is_drop() {
            // No flow report mentioned the queue, so it is reported separately.
            let tracking = Tracking { flow: false, queue: true, drop: None };
            let (flow, int) = self.flow_and_int(link, frame.bytes());
            self.report_as(link, frame.bytes(), (&flow, int.unwrap_or_default()), &hop, tracking);
        }
        fate
    }

    /// The reason to report the packet; `None` if the filter suppresses its report.
    pub(super) fn track(
        &mut self,
        packet: &[u8],
        visit: &Visit<'_>,
        location: Option<&Location>,
        asked: &Asked,
    ) -> Option<Tracking> {
        // A combined report of flow and queue bypasses the filter.
        if visit.take_congested() {
            if let (Some(settings), Some(smart)) = (&self.profile.smart, &mut self.smart) {
                let flow = flow_of(packet, &visit.layers, location);
                smart.handle_queue_report(settings, flow, packet, location, &visit.hop);
            }
            return Some(Tracking { queue: true, ..Tracking::FLOW });
        }
        // A stack removed by a transit hop, and a copy, are reported nowhere else.
        if asked.is_intermediate() || is_copy(packet, &visit.layers, location) {
            return Some(Tracking::FLOW);
        }
        let (Some(settings), Some(smart)) = (&self.profile.smart, &mut self.smart) else { return None };
        let flow = flow_of(packet, &visit.layers, location);
        smart.reports_flow(settings, flow, packet, location, &visit.hop).then_some(Tracking::FLOW)
    }

    /// Reports a packet of `flow`, with INT at `int`, unconditionally, with this node's measurements.
    // sd-fabric-1.0/report-03
    pub(super) fn report_as(
        &mut self,
        link: Link,
        packet: &[u8],
        (flow, int): (&FiveTuple, IntSpan),
        hop: &Hop<'_>,
        tracking: Tracking,
    ) {
        let ip = match (link, packet.first().map(|first| first >> 4)) {
            (Link::Ethernet, _) | (Link::Ip, Some(4)) => IpVersion::V4,
            (Link::Ip, Some(6)) => IpVersion::V6,
            (Link::Ip, _) => return,
        };
        let (values, inserted) = (&NO_VALUES, Inserted::default());
        let reported = Reported { link, ip, packet, int, hop, values, inserted, tracking, latency: None };
        let asked = Asked::nothing().and_local();
        let addressed = Addressed { reported: &reported, hash: flow.entropy() };
        let unknown = self.profile.choices.unknown_instructions;
        self.sessions.report(&addressed, &asked, &self.profile.domains, unknown, &mut self.counters);
    }

    /// The flow of a packet, empty if it is not IP, and its INT bytes, if it carries INT.
    pub(super) fn flow_and_int(&self, link: Link, packet: &[u8]) -> (FiveTuple, Option<IntSpan>) {
        let Ok(Some(layers)) = Layers::parse(link, packet, Strictness::Truncated) else {
            let inner = behind_labels(packet).filter(|_| link == Link::Ethernet);
            return (inner.map_or_else(FiveTuple::default, |inner| inner.layers.five_tuple(packet)), None);
        };
        let layers = match self.profile.carriage.layer {
            Layer::Outer => layers,
            Layer::Inner => match Inside::find(&self.profile.carriage, link, packet) {
                Innermost::Inside(inside) => inside.layers,
                Innermost::Itself | Innermost::OutOfReach => layers,
            },
        };
        let found = indication::find(&self.profile.carriage, packet, &layers).ok().flatten();
        let found = found.filter(|(location, int)| !self.is_by_chance_in_xd(packet, location, int));
        let location = found.as_ref().map(|(location, _)| location);
        let int = location.map(|location| self.profile.carriage.int_span(packet, &layers, location));
        (flow_of(packet, &layers, location), int)
    }

    fn is_congested(&mut self, link: Link, packet: &[u8], hop: &Hop<'_>) -> bool {
        let (Some(settings), Some(smart)) = (&self.profile.smart, &mut self.smart) else { return false };
        if settings.is_over_trigger(hop) && carries_report(&self.profile.report.collectors, link, packet) {
            return false;
        }
        let congestion = smart.congestion(settings, hop);
        if congestion == Congestion::OverQuota {
            self.counters.count(Outcome::QueueOverQuota);
        }
        congestion == Congestion::Reported
    }
}

/// The five-tuple of the innermost packet, as before INT was added.
pub(super) fn flow_of(packet: &[u8], layers: &Layers, location: Option<&Location>) -> FiveTuple {
    let Some(location) = location else {
        return innermost(packet, layers).layers.five_tuple(packet);
    };
    match carried(packet, layers, Some(location)).and_then(|first| follow(packet, first)) {
        Some(inner) => inner.layers.five_tuple(packet),
        None => flow_before_int(packet, layers, location),
    }
}

/// Whether the packet is a report to a collector, directly or in a tunnel.
pub(super) fn carries_report(collectors: &[SocketAddr], link: Link, packet: &[u8]) -> bool {
    let is_report = |layers: &Layers| is_report(collectors, &layers.five_tuple(packet));
    match Layers::parse(link, packet, Strictness::Truncated) {
        Ok(Some(layers)) => is_report(&layers) || is_report(&innermost(packet, &layers).layers),
        Ok(None) if link == Link::Ethernet => {
            behind_labels(packet).is_some_and(|inner| is_report(&inner.layers))
        }
        _ => false,
    }
}

/// Whether the flow carries reports to a collector.
#[inline]
pub(super) fn is_report(collectors: &[SocketAddr], flow: &FiveTuple) -> bool {
    flow.protocol == UDP
        && collectors
            .iter()
            .any(|collector| collector.port() == flow.destination_port && collector.ip() == flow.destination)
}

/// Whether a node created the packet only to have it reported: its D bit is set, or C in a version before
/// 2.0.
fn is_copy(packet: &[u8], layers: &Layers, location: Option<&Location>) -> bool {
    let Some(location) = location else { return false };
    match indication::read(packet, layers, location) {
        Ok(Int::Md(header)) => header.discard(),
        Ok(Int::Mx(header)) => header.discard(),
        Ok(Int::Earlier) => HopByHop::parse(packet, location).is_ok_and(|int| int.copy),
        Ok(Int::Destination) | Err(_) => false,
    }
}

const UDP: u8 = 17;
