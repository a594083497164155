//! A packet without INT, and the start of INT in it.

use std::num::NonZeroU32;

use inband_wire::FiveTuple;
use inband_wire::layers::{Fragment, Layers, Link, Strictness};

use crate::config::{Actions, EncapsulationKind, Mode};
use crate::counters::Outcome;
use crate::domains::NO_VALUES;
use crate::encapsulation;
use crate::frame::{Frame, with_headroom};
use crate::indication::{self, Int};
use crate::output::OwnPacket;
use crate::passage::Hop;
use crate::reporter::Asked;
use crate::source::{StartContext, Started};

use super::Node;
use super::too_big::Need;
use super::visit::Visit;

impl Node {
    /// Handles a packet without INT, watched or not.
    // Kept out of line: inlining it costs transit hops a sixth.
    #[inline(never)]
    pub(super) fn handle_plain(&mut self, frame: &mut Frame<'_>, visit: &mut Visit<'_>) -> Outcome {
        let mode = self.profile.plan.mode;
        // Only the edge starts INT, and only in packets whose headers can be matched.
        let is_looked_at =
            mode == Mode::Xd || (visit.hop.ingress.edge && visit.layers.fragment != Fragment::Later);
        let wanted = if is_looked_at { self.watch(frame.bytes(), visit) } else { Actions::NONE };
        let started = match mode {
            // int-2.1/modes-01, report-2.0/modes-01, sd-fabric-1.0/report-02: the packet is unchanged.
            Mode::Xd if wanted.contain(Actions::REPORT_FLOW) => {
                let asked = self.profile.plan.asked();
                self.report(frame.bytes(), visit, None, &asked);
                None
            }
            Mode::Md | Mode::Mx if wanted.contain(Actions::START_INT) => self.start_watched(frame, visit),
            Mode::Md | Mode::Mx | Mode::Xd => None,
        };
        match started {
            Some(fate) => fate,
            None => self.pass_plain(frame, visit),
        }
    }

    /// Starts INT in a watched packet, or in a copy of it; `None` if the packet itself gets none.
    #[inline]
    fn start_watched(&mut self, frame: &mut Frame<'_>, visit: &mut Visit<'_>) -> Option<Outcome> {
        if !self.profile.congestion.admits(visit.link, frame.bytes()) {
            self.counters.count(Outcome::NotStartedCongestion);
            return None;
        }
        if let Some(every) = self.profile.clone_every {
            self.clone_packet(frame.bytes(), *visit, every);
            return None;
        }
        let started = self.start(frame, visit);
        let is_too_long = visit.cut_short.is_some() || started == Err(Outcome::NotStartedMtu);
        if is_too_long && self.profile.path_mtu.is_on() {
            self.tell_sender(frame.bytes(), visit, visit.cut_short.as_ref(), Need::Start);
        }
        started.map_err(|reason| self.counters.count(reason)).ok()
    }

    /// Starts INT in a copy of a watched packet, if a copy is due.
    // int-2.1/modes-04, int-2.1/modes-06
    #[cold]
    fn clone_packet(&mut self, packet: &[u8], mut visit: Visit<'_>, every: NonZeroU32) {
        if !self.clones.is_due(every) {
            return;
        }
        let mut buffer = with_headroom(packet);
        let Some(mut copy) = Frame::behind_headroom(&mut buffer) else { return };
        let outcome = match self.start(&mut copy, &mut visit) {
            // A copy whose path ends here was reported and is not sent.
            Ok(Outcome::Discarded) => Outcome::Cloned,
            Ok(_) => {
                if let Some(inside) = visit.inside {
                    inside.follow(copy.bytes_mut());
                }
                let (egress, bytes) = (visit.hop.egress.id, copy.bytes().to_vec());
                if self.clones.waiting.push(OwnPacket { egress, link: visit.link, bytes }) {
                    Outcome::Cloned
                } else {
                    Outcome::CloneShed
                }
            }
            Err(reason) => reason,
        };
        self.counters.count(outcome);
    }

    /// Starts INT, and removes it again if the packet leaves by an edge interface.
    #[inline]
    pub(super) fn start(&mut self, frame: &mut Frame<'_>, visit: &mut Visit<'_>) -> Result<Outcome, Outcome> {
        let is_sink = visit.hop.egress.edge;
        if visit.inside.is_some_and(|inside| inside.is_ambiguous) {
            return Err(Outcome::NotStartedChecksum);
        }
        let flow = match self.profile.earlier_source.is_some()
            || self.profile.plan.needs_flow(&self.profile.carriage)
        {
            true => visit.layers.five_tuple(frame.bytes()),
            false => FiveTuple::default(),
        };
        let number = self.numbers.packet.wrapping_add(1);
        visit.sequence_number = Some(number);
        visit.flow_sequence = self.profile.numbers_flows.then(|| self.numbers.flows.peek(&flow));
        let own;
        let values = match self.profile.plan.has_domain() {
            true => {
                own = visit.values_of(frame.bytes(), flow);
                &own
            }
            false => &NO_VALUES,
        };
        let context = StartContext {
            link: visit.carrier_link(),
            flow: &flow,
            hop: &visit.hop,
            domains: &self.profile.domains,
            values,
            limits: visit.limits(),
            choices: self.profile.choices,
            discard: visit.discard,
        };
        let Started { location, mtu_exceeded, has_numbers } = match &self.profile.earlier_source {
            None => self.profile.plan.start(&self.profile.carriage, frame, &mut visit.layers, &context)?,
            Some(source) => {
                let (numbers, counters) = (&mut self.numbers.earlier, &mut self.counters);
                let carriage = &self.profile.carriage;
                let location =
                    source.start(numbers, carriage, frame, &mut visit.layers, &context, counters)?;
                Started { location, mtu_exceeded: false, has_numbers: true }
            }
        };
        if has_numbers {
            self.take_numbers(number, &flow);
        }
        if !is_sink && self.profile.plan.mode == Mode::Md {
            if mtu_exceeded {
                visit.cut_short = Some(location);
            }
            return Ok(Outcome::Started);
        }
        let found = indication::read(frame.bytes(), &visit.layers, &location);
        Ok(match found {
            Ok(Int::Md(header)) if is_sink => self.end_md(frame, visit, &location, &header),
            Ok(Int::Earlier) if is_sink => self.end_earlier(frame, visit, &location),
            Ok(Int::Mx(header)) if is_sink => self.handle_mx(frame, visit, &location, &header),
            Ok(Int::Mx(header)) if self.profile.plan.own_metadata => {
                self.report(frame.bytes(), visit, Some(&location), &Asked::of_mx(&header));
                Outcome::Started
            }
            _ => Outcome::Started,
        })
    }

    /// Consumes the numbers written into a packet; a number that is not written leaves no gap at the sink.
    #[inline]
    fn take_numbers(&mut self, number: u32, flow: &FiveTuple) {
        self.numbers.packet = number;
        if self.profile.numbers_flows && self.numbers.flows.next(flow).1 {
            self.counters.count(Outcome::FlowForgotten);
        }
    }

    /// Forwards a packet without INT, but clears a DSCP that marks INT where it enters the domain.
    fn pass_plain(&mut self, frame: &mut Frame<'_>, visit: &Visit<'_>) -> Outcome {
        self.remark(frame, &visit.layers, &visit.hop);
        Outcome::NoInt
    }

    /// A packet with an unreadable header; its IP header decides whether it could be mistaken for one with
    /// INT.
    #[cold]
    pub(super) fn handle_malformed(&mut self, link: Link, frame: &mut Frame<'_>, hop: Hop<'_>) -> Outcome {
        if let Ok(Some(layers)) = Layers::parse_ip(link, frame.bytes(), Strictness::Truncated) {
            self.remark(frame, &layers, &hop);
        }
        Outcome::Malformed
    }

    /// Clears a DSCP that marks INT on a packet without INT that enters the domain.
    // int-2.1/l4-19
    #[inline]
    fn remark(&mut self, frame: &mut Frame<'_>, layers: &Layers, hop: &Hop<'_>) {
        let mark = self.profile.carriage.mark;
        let enters_domain = hop.ingress.edge && !hop.egress.edge && self.profile.plan.mode != Mode::Xd;
        if self.profile.carriage.kind == EncapsulationKind::Dscp && enters_domain {
            let dscp = layers.dscp(frame.bytes());
            if mark.matches(dscp) {
                encapsulation::set_dscp(frame.bytes_mut(), layers, mark.removed_from(dscp));
                self.counters.count(Outcome::Remarked);
            }
        }
    }
}
