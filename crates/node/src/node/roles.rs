//! Which role does the node play for a packet, and what becomes of it?

use inband_wire::FiveTuple;
use inband_wire::dissect::flow_before_int;
use inband_wire::int::md::MdHeader;
use inband_wire::int::mx::{Mx, MxHeader};
use inband_wire::int::{HeaderType, Location};
use inband_wire::layers::{Fragment, Layers, Link, Strictness};

use crate::carrier;
use crate::config::{Actions, EncapsulationKind, Layer, Mode, SinkMetadata, UnknownInstructions};
use crate::counters::Outcome;
use crate::domain_fields;
use crate::domains::ValueContext;
use crate::encapsulation::{self, Stripping};
use crate::frame::{Frame, MOST_GROWTH};
use crate::indication::{self, Int};
use crate::inside::Inside;
use crate::passage::{Hop, Passage};
use crate::reporter::{Asked, Inserted, Reported, Tracking};
use crate::sessions::Addressed;
use crate::source::StartContext;
use crate::transit::{self, HopContext};

use super::Node;
use super::smart::flow_of;
use super::too_big::Need;

/// One packet on its way through the node.
#[derive(Clone, Copy)]
pub(super) struct Visit<'a> {
    pub(super) link: Link,
    pub(super) layers: Layers,
    pub(super) hop: Hop<'a>,
    /// The number of a packet this node starts INT in.
    pub(super) sequence_number: Option<u32>,
    /// Where this node started INT without its own metadata, because of the egress MTU.
    pub(super) cut_short: Option<Location>,
    /// Whether the sink is to discard the packet; `None`: as the source is configured.
    pub(super) discard: Option<bool>,
    /// The way into a tunnel, where INT is in the inner layer; `layers` are then those of the innermost packet.
    pub(super) inside: Option<&'a Inside>,
}

impl Node {
    #[inline]
    pub(super) fn fate(&mut self, link: Link, frame: &mut Frame<'_>, passage: &Passage) -> Outcome {
        let (ingress, egress) = (self.interfaces.get(passage.ingress), self.interfaces.get(passage.egress));
        let hop = Hop { identity: self.identity, ingress, egress, device: &passage.metadata };
        let layers = match Layers::parse(link, frame.bytes(), Strictness::Truncated) {
            Ok(Some(layers)) => layers,
            Ok(None) => return self.handle_not_ip(link, frame, hop),
            Err(_) => return Outcome::Malformed,
        };
        let mut visit = Visit::new(link, layers, hop);
        if self.carriage.layer == Layer::Inner {
            return self.act_inside(frame, visit);
        }
        self.act(frame, &mut visit)
    }

    /// Does what the packet of `visit` asks for.
    #[inline]
    pub(super) fn act(&mut self, frame: &mut Frame<'_>, visit: &mut Visit<'_>) -> Outcome {
        match indication::find(&self.carriage, frame.bytes(), &visit.layers) {
            // A capture cut the stack, so nothing could be taken out.
            Ok(Some((location, _))) if visit.hop.egress.edge && location.end > frame.len() => {
                Outcome::Malformed
            }
            Ok(Some((location, Int::Md(header)))) => self.handle_md(frame, visit, location, &header),
            Ok(Some((location, Int::Mx(header)))) => {
                self.change_inserted(frame, visit, &location, &header);
                self.handle_mx(frame, visit, &location, &header)
            }
            Ok(Some((location, Int::Earlier))) => self.handle_earlier(frame, visit, location),
            Ok(Some((location, Int::Destination))) => self.handle_destination(frame, visit, &location),
            // A host may send what only looks like INT; inside the domain it is a fault.
            Err(_) if !visit.hop.ingress.edge => Outcome::Malformed,
            Ok(None) | Err(_) => self.handle_plain(frame, visit),
        }
    }

    /// Transit hop or sink of an INT-MD packet.
    // int-2.1/headers-03, int-2.1/md-30
    #[inline]
    fn handle_md(
        &mut self,
        frame: &mut Frame<'_>,
        visit: &mut Visit<'_>,
        mut location: Location,
        header: &MdHeader,
    ) -> Outcome {
        let is_sink = visit.hop.egress.edge;
        if !is_sink && header.domain_specific_id() != 0 {
            self.set_flags(frame, visit, &location, header.domain_specific_id());
        }
        if !is_sink || self.sink_metadata == SinkMetadata::Stack {
            let values = match header.domain_specific_id() {
                0 => ValueContext::default(),
                _ => visit.values(frame.bytes(), &location),
            };
            let hop = HopContext {
                hop: &visit.hop,
                domains: &self.domains,
                values: &values,
                // What is stripped before it leaves cannot exceed the egress MTU.
                mtu: (!is_sink).then_some(visit.hop.egress.mtu),
            };
            let pushed =
                transit::push_hop(frame, &mut visit.layers, &mut location, header, &hop, self.choices);
            if let Some(outcome) = pushed {
                self.counters.count(outcome);
            }
            if self.path_mtu.is_on() && !is_sink {
                self.consider_md(frame, visit, &location, header, pushed);
            }
            if pushed == Some(Outcome::IntermediateReport) {
                self.relieve(frame, visit, &mut location, header, &values);
            }
        }
        if is_sink { self.end_md(frame, visit, &location, header) } else { Outcome::Transit }
    }

    /// Reports the stack collected so far and starts it anew with this node's metadata.
    // int-2.1/mtu-05, int-2.1/mtu-06, report-2.0/individual-11
    #[cold]
    fn relieve(
        &mut self,
        frame: &mut Frame<'_>,
        visit: &mut Visit<'_>,
        location: &mut Location,
        header: &MdHeader,
        values: &ValueContext,
    ) {
        self.report(frame.bytes(), visit, Some(location), &Asked::nothing_yet());
        let checksum = carrier::l4_checksum_mut(frame.bytes_mut(), &visit.layers).map(|field| field.get());
        transit::empty_stack(frame, &mut visit.layers, location);
        let mtu = Some(visit.hop.egress.mtu);
        let hop = HopContext { hop: &visit.hop, domains: &self.domains, values, mtu };
        let pushed = transit::push_hop(frame, &mut visit.layers, location, header, &hop, self.choices);
        if let (Some(Outcome::Pushed), Some(before)) = (pushed, checksum) {
            let bytes = frame.bytes_mut();
            transit::restore_checksum(bytes, &visit.layers, location, header, before, self.choices);
        }
        if let Some(outcome) = pushed {
            self.counters.count(outcome);
        }
    }

    /// Sink of an INT-MD packet whose stack is complete: reports it and strips it.
    // int-2.1/sink-02, int-2.1/md-31
    fn end_md(
        &mut self,
        frame: &mut Frame<'_>,
        visit: &Visit<'_>,
        location: &Location,
        header: &MdHeader,
    ) -> Outcome {
        let asked = match self.sink_metadata {
            SinkMetadata::Report if self.skips(header.domain_specific_id()) => {
                // report-2.0/metadata-08: the stack is reported all the same.
                self.counters.count(Outcome::UnknownDomain);
                Asked::nothing()
            }
            SinkMetadata::Report => Asked::of_md(header),
            SinkMetadata::Stack | SinkMetadata::None => Asked::nothing(),
        };
        self.report(frame.bytes(), visit, Some(location), &asked);
        // int-2.1/md-02
        self.end(frame, visit, location, header.discard())
    }

    /// Transit hop or sink of an INT-MX packet.
    // int-2.1/sink-04, int-2.1/headers-06, int-2.1/transit-03, int-2.1/modes-02, int-2.1/modes-03, int-2.1/mx-04
    // int-2.1/mx-35: the instructions are only read.
    fn handle_mx(
        &mut self,
        frame: &mut Frame<'_>,
        visit: &Visit<'_>,
        location: &Location,
        header: &MxHeader,
    ) -> Outcome {
        let is_sink = visit.hop.egress.edge;
        if !is_sink || self.sink_metadata != SinkMetadata::None {
            self.report(frame.bytes(), visit, Some(location), &Asked::of_mx(header));
        }
        if self.path_mtu.is_on() && !is_sink && !header.discard() {
            self.consider_mx(frame, visit, location);
        }
        // int-2.1/mx-02
        if is_sink { self.end(frame, visit, location, header.discard()) } else { Outcome::Transit }
    }

    /// Changes the domain-specific fields of an INT-MX packet that a node behind the source may change.
    fn change_inserted(
        &self,
        frame: &mut Frame<'_>,
        visit: &Visit<'_>,
        location: &Location,
        header: &MxHeader,
    ) {
        let id = header.domain_specific_id();
        let Some(domain) = self.domains.get(id) else { return };
        let values = visit.values(frame.bytes(), location);
        let bits = header.ds_instruction();
        domain_fields::accumulate(frame.bytes_mut(), &visit.layers, location, domain, bits, &values);
        if !visit.hop.egress.edge {
            self.set_flags(frame, visit, location, id);
        }
    }

    /// Sets the DS Flags this node sets in packets of domain `id`.
    fn set_flags(&self, frame: &mut Frame<'_>, visit: &Visit<'_>, location: &Location, id: u16) {
        if let Some(domain) = self.domains.get(id).filter(|domain| domain.set_flags != 0) {
            domain_fields::set_flags(frame.bytes_mut(), &visit.layers, location, domain);
        }
    }

    /// Whether this node does nothing for domain `id`, which it does not know.
    fn skips(&self, id: u16) -> bool {
        self.choices.unknown_instructions == UnknownInstructions::Skip
            && id != 0
            && self.domains.get(id).is_none()
    }

    /// A packet with a destination header alone: the sink takes it out, nobody else looks at it.
    // int-2.1/headers-04, int-2.1/headers-05
    fn handle_destination(
        &mut self,
        frame: &mut Frame<'_>,
        visit: &Visit<'_>,
        location: &Location,
    ) -> Outcome {
        if !visit.hop.egress.edge {
            return Outcome::Transit;
        }
        if location.version.is_before_2() {
            return self.end_earlier(frame, visit, location);
        }
        self.end(frame, visit, location, false)
    }

    /// The end of a packet's way through the domain.
    pub(super) fn end(
        &mut self,
        frame: &mut Frame<'_>,
        visit: &Visit<'_>,
        location: &Location,
        discard: bool,
    ) -> Outcome {
        if discard {
            return Outcome::Discarded;
        }
        let stripping = Stripping { link: visit.carrier_link(), restore_dscp: self.restore_dscp };
        if self.carriage.strip(frame, &visit.layers, location, stripping) {
            Outcome::Stripped
        } else {
            Outcome::Malformed
        }
    }

    /// A packet without INT: watched or not.
    pub(super) fn handle_plain(&mut self, frame: &mut Frame<'_>, visit: &mut Visit<'_>) -> Outcome {
        let mode = self.plan.mode;
        match mode {
            // int-2.1/modes-01, report-2.0/modes-01: the packet stays as it is.
            Mode::Xd if self.watch(frame.bytes(), visit).contain(Actions::REPORT_FLOW) => {
                let asked = self.plan.asked();
                self.report(frame.bytes(), visit, None, &asked);
            }
            Mode::Md | Mode::Mx
                if visit.hop.ingress.edge
                    && visit.layers.fragment != Fragment::Later
                    && self.watch(frame.bytes(), visit).contain(Actions::START_INT) =>
            {
                if !self.congestion.admits(visit.link, frame.bytes()) {
                    self.counters.count(Outcome::NotStartedCongestion);
                    return self.pass_plain(frame, visit);
                }
                if self.clones.are_made() {
                    self.clone_packet(frame.bytes(), *visit);
                    return self.pass_plain(frame, visit);
                }
                match self.start(frame, visit) {
                    Ok(fate) => {
                        if visit.cut_short.is_some() && self.path_mtu.is_on() {
                            self.tell_sender(frame.bytes(), visit, visit.cut_short.as_ref(), Need::Start);
                        }
                        return fate;
                    }
                    Err(reason) => {
                        self.counters.count(reason);
                        if reason == Outcome::NotStartedMtu && self.path_mtu.is_on() {
                            self.tell_sender(frame.bytes(), visit, None, Need::Start);
                        }
                    }
                }
            }
            Mode::Md | Mode::Mx | Mode::Xd => {}
        }
        self.pass_plain(frame, visit)
    }

    /// Starts INT in a copy of a watched packet, if it is this packet's turn.
    // int-2.1/modes-04, int-2.1/modes-06
    #[cold]
    fn clone_packet(&mut self, packet: &[u8], mut visit: Visit<'_>) {
        if !self.clones.is_due() {
            return;
        }
        let mut buffer = vec![0; MOST_GROWTH];
        buffer.extend_from_slice(packet);
        let range = MOST_GROWTH..buffer.len();
        let Some(mut copy) = Frame::new(&mut buffer, range) else { return };
        let outcome = match self.start(&mut copy, &mut visit) {
            // A copy that ends where it began was reported and goes nowhere.
            Ok(Outcome::Discarded) => Outcome::Cloned,
            Ok(_) => {
                if let Some(inside) = visit.inside {
                    inside.follow(copy.bytes_mut());
                }
                if self.clones.push(copy.bytes().to_vec()) { Outcome::Cloned } else { Outcome::CloneShed }
            }
            Err(reason) => reason,
        };
        self.counters.count(outcome);
    }

    /// Starts INT, and ends it again where the packet leaves by an edge interface.
    pub(super) fn start(&mut self, frame: &mut Frame<'_>, visit: &mut Visit<'_>) -> Result<Outcome, Outcome> {
        let is_sink = visit.hop.egress.edge;
        if visit.inside.is_some_and(|inside| inside.is_ambiguous) {
            return Err(Outcome::NotStartedChecksum);
        }
        let flow = visit.layers.five_tuple(frame.bytes());
        let number = self.sequence_number.wrapping_add(1);
        visit.sequence_number = Some(number);
        let values = visit.values_of(frame.bytes(), flow);
        let context = StartContext {
            link: visit.carrier_link(),
            flow: &flow,
            hop: &visit.hop,
            domains: &self.domains,
            values: &values,
            mtu: (!is_sink).then_some(visit.hop.egress.mtu),
            choices: self.choices,
            discard: visit.discard,
        };
        let location = match &mut self.earlier_source {
            None => self.plan.start(&self.carriage, frame, &mut visit.layers, &context)?,
            Some(source) => {
                source.start(&self.carriage, frame, &mut visit.layers, &context, &mut self.counters)?
            }
        };
        self.sequence_number = number;
        let found = indication::read(frame.bytes(), &visit.layers, &location);
        Ok(match found {
            Ok(Int::Md(header)) if is_sink => self.end_md(frame, visit, &location, &header),
            Ok(Int::Earlier) if is_sink => self.end_earlier(frame, visit, &location),
            Ok(Int::Mx(header)) if is_sink => self.handle_mx(frame, visit, &location, &header),
            Ok(Int::Md(header)) => {
                visit.cut_short = header.mtu_exceeded().then_some(location);
                Outcome::Started
            }
            Ok(Int::Mx(header)) if self.plan.own_metadata => {
                self.report(frame.bytes(), visit, Some(&location), &Asked::of_mx(&header));
                Outcome::Started
            }
            _ => Outcome::Started,
        })
    }

    /// Lets a packet without INT go, but not into the domain with a DSCP that marks INT.
    // int-2.1/l4-19
    fn pass_plain(&mut self, frame: &mut Frame<'_>, visit: &Visit<'_>) -> Outcome {
        let mark = self.carriage.mark;
        let enters_domain = visit.hop.ingress.edge && !visit.hop.egress.edge && self.plan.mode != Mode::Xd;
        if self.carriage.kind == EncapsulationKind::Dscp && enters_domain {
            let dscp = visit.layers.dscp(frame.bytes());
            if mark.matches(dscp) {
                encapsulation::set_dscp(frame.bytes_mut(), &visit.layers, mark.removed_from(dscp));
                self.counters.count(Outcome::Remarked);
            }
        }
        Outcome::NoInt
    }

    pub(super) fn report(
        &mut self,
        packet: &[u8],
        visit: &Visit<'_>,
        location: Option<&Location>,
        asked: &Asked,
    ) {
        let tracking = match self.smart {
            None => Tracking::FLOW,
            Some(_) => match self.track(packet, visit, location, asked) {
                Some(tracking) => tracking,
                None => return self.counters.count(Outcome::ReportWithheld),
            },
        };
        let local = if tracking.queue { Some(asked.and_local()) } else { None };
        let asked = local.as_ref().unwrap_or(asked);
        let values = match (asked.needs_values(), location) {
            (false, _) => ValueContext::default(),
            (true, Some(location)) => visit.values(packet, location),
            (true, None) => visit.values_of(packet, visit.layers.five_tuple(packet)),
        };
        let inserted = match location {
            Some(location) if asked.needs_values() => visit.inserted(packet, location),
            _ => Inserted::default(),
        };
        let mut followed = Vec::new();
        let packet = match visit.inside {
            Some(inside) => {
                followed.extend_from_slice(packet);
                inside.follow(&mut followed);
                followed.as_slice()
            }
            None => packet,
        };
        let reported = Reported {
            link: visit.link,
            ip: visit.outermost().ip,
            packet,
            hop: &visit.hop,
            values: &values,
            inserted,
            tracking,
        };
        let hash = match self.sessions.want_hashes() {
            true => flow_of(packet, &visit.layers, location).entropy(),
            false => 0,
        };
        let addressed = Addressed { reported: &reported, hash };
        let unknown = self.choices.unknown_instructions;
        self.sessions.report(&addressed, asked, &self.domains, unknown, &mut self.counters);
    }
}

impl<'a> Visit<'a> {
    /// Creates the visit of a packet at which nothing has happened yet.
    #[inline]
    pub(super) const fn new(link: Link, layers: Layers, hop: Hop<'a>) -> Self {
        Self { link, layers, hop, sequence_number: None, cut_short: None, discard: None, inside: None }
    }

    /// What domain-specific values of an INT packet may depend on.
    fn values(&self, bytes: &[u8], location: &Location) -> ValueContext {
        self.values_of(bytes, flow_before_int(bytes, &self.layers, location))
    }

    /// The source-inserted metadata of an INT-MX packet.
    fn inserted<'b>(&self, bytes: &'b [u8], location: &Location) -> Inserted<'b> {
        let metadata = match (location.header_type, Mx::parse(bytes, location)) {
            (HeaderType::Mx, Ok(mx)) => mx.source_inserted,
            _ => return Inserted::default(),
        };
        Inserted { metadata, end: location.end, is_sink: self.hop.egress.edge }
    }

    /// The headers of the outermost packet, as it came.
    pub(super) fn outermost(&self) -> &Layers {
        self.inside.map_or(&self.layers, |inside| &inside.outermost)
    }

    /// What the packet that carries INT starts with: inside of a tunnel never with the frame's Ethernet header.
    pub(super) const fn carrier_link(&self) -> Link {
        if self.inside.is_some() { Link::Ip } else { self.link }
    }

    fn values_of(&self, bytes: &[u8], flow: FiveTuple) -> ValueContext {
        let ethernet = match (self.inside, self.link) {
            (Some(inside), _) => inside.ethernet,
            (None, Link::Ethernet) => Some(0),
            (None, Link::Ip) => None,
        };
        let address = ethernet.and_then(|at| bytes.get(at + 6..at + 12));
        let ethernet_source = address.and_then(<[u8]>::first_chunk).copied();
        ValueContext { ethernet_source, sequence_number: self.sequence_number, flow }
    }
}
