//! Matching of packets against the flow watchlist.

use std::cell::Cell;

use inband_wire::layers::{Layers, Link, Transport};
use inband_wire::tunnel::{Innermost, behind_labels, carried, innermost};

use crate::config::{Actions, Mode};
use crate::counters::Outcome;
use crate::frame::Frame;
use crate::passage::Hop;
use crate::watchlist::Subject;

use super::Node;
use super::smart::is_report;
use super::visit::Visit;

impl Node {
    /// The watchlist's actions for a packet without INT, after sampling.
    // sd-fabric-1.0/watch-01, sd-fabric-1.0/watch-02, sd-fabric-1.0/watch-03, sd-fabric-1.0/watch-04
    #[inline]
    pub(super) fn watch(&mut self, bytes: &[u8], visit: &Visit<'_>) -> Actions {
        let profile = &*self.profile;
        // sd-fabric-1.0/watch-05
        if profile.watchlist.is_empty() {
            return Actions::NONE;
        }
        // TCP carries no inner packet, and most packets are TCP: they skip the check.
        let may_carry = !matches!(visit.layers.transport, Transport::Tcp { .. });
        if visit.inside.is_some() || (may_carry && carried(bytes, &visit.layers).is_some()) {
            return self.watch_inside(bytes, visit);
        }
        let subject = subject(bytes, &visit.layers, None, visit.hop.ingress.id);
        if is_report(&profile.report.collectors, &subject.flow) {
            return Actions::NONE;
        }
        profile.watchlist.select(&subject, &mut self.sampling).unwrap_or(Actions::NONE)
    }

    /// The actions for a packet that looks like a tunnel, mostly for its content.
    #[inline(never)]
    fn watch_inside(&mut self, bytes: &[u8], visit: &Visit<'_>) -> Actions {
        let inner = match innermost(bytes, visit.outermost()) {
            // INT of another domain in the outer layer hides the inner packet, which this node has already
            // found.
            hidden if visit.inside.is_some() && hidden.layers.l3 != visit.layers.l3 => {
                Innermost { layers: visit.layers, vni: None, in_gtpu: false }
            }
            inner => inner,
        };
        let ingress = visit.hop.ingress.id;
        let subject = subject(bytes, &inner.layers, inner.vni, ingress);
        if is_report(&self.profile.report.collectors, &subject.flow) {
            return Actions::NONE;
        }
        let selected = self.profile.watchlist.select(&subject, &mut self.sampling);
        if inner.layers.l3 == visit.outermost().l3 {
            return selected.unwrap_or(Actions::NONE);
        }
        self.watch_tunnel(bytes, visit, inner.in_gtpu, selected)
    }

    /// The actions for a packet that carries another one, for which `selected` was found.
    ///
    /// If no entry matches the inner packet, the outer one is matched: INT between the ends of a tunnel is
    /// what the specification's examples show. Not so for GTP-U, whose entries refer to the users' packets
    /// only.
    fn watch_tunnel(
        &mut self,
        bytes: &[u8],
        visit: &Visit<'_>,
        in_gtpu: bool,
        selected: Option<Actions>,
    ) -> Actions {
        let subject = subject(bytes, visit.outermost(), None, visit.hop.ingress.id);
        if is_report(&self.profile.report.collectors, &subject.flow) {
            return Actions::NONE;
        }
        let selected = match selected {
            None if !in_gtpu => self.profile.watchlist.select(&subject, &mut self.sampling),
            _ => selected,
        };
        selected.unwrap_or(Actions::NONE)
    }

    /// Handles a packet that is not IP; in mode XD the packet behind MPLS labels is watched.
    #[cold]
    pub(super) fn handle_not_ip(
        &mut self,
        link: Link,
        frame: &Frame<'_>,
        hop: Hop<'_>,
        congested: Option<&Cell<bool>>,
    ) -> Outcome {
        if link == Link::Ethernet
            && self.profile.plan.mode == Mode::Xd
            && let Some(Innermost { layers, .. }) = behind_labels(frame.bytes())
        {
            let visit = Visit { congested, ..Visit::new(link, layers, hop) };
            if self.watch(frame.bytes(), &visit).contain(Actions::REPORT_FLOW) {
                let asked = self.profile.plan.asked();
                self.report(frame.bytes(), &visit, None, &asked);
            }
        }
        Outcome::NotIp
    }
}

/// The packet fields that the watchlist matches.
#[inline]
fn subject(bytes: &[u8], layers: &Layers, vni: Option<u32>, ingress: u16) -> Subject {
    Subject { flow: layers.five_tuple(bytes), dscp: layers.dscp(bytes), vni, ingress }
}
