//! The role of the node for a packet, and the packet's fate.

use std::cell::Cell;

use inband_wire::error::{ErrorKind, Header, ParseError};
use inband_wire::int::Location;
use inband_wire::int::locate::Encapsulation;
use inband_wire::int::md::MdHeader;
use inband_wire::int::mx::MxHeader;
use inband_wire::layers::{Layers, Link, Strictness};

use crate::carrier;
use crate::config::{Layer, Mode, SinkMetadata, UnknownInstructions};
use crate::counters::Outcome;
use crate::domain_fields;
use crate::domains::{NO_VALUES, ValueContext};
use crate::earlier;
use crate::encapsulation::Stripping;
use crate::frame::Frame;
use crate::indication::{self, Int};
use crate::interfaces::Interface;
use crate::passage::Hop;
use crate::reporter::Asked;
use crate::transit::{self, HopContext};

use super::Node;
use super::visit::Visit;

impl Node {
    #[inline]
    pub(super) fn fate(
        &mut self,
        link: Link,
        frame: &mut Frame<'_>,
        hop: Hop<'_>,
        congested: Option<&Cell<bool>>,
    ) -> Outcome {
        let layers = match Layers::parse(link, frame.bytes(), Strictness::Truncated) {
            Ok(Some(layers)) => layers,
            Ok(None) => return self.handle_not_ip(link, frame, hop, congested),
            Err(_) => return self.handle_malformed(link, frame, hop),
        };
        let mut visit = Visit { congested, ..Visit::new(link, layers, hop) };
        if self.profile.carriage.layer == Layer::Inner {
            return self.act_inside(frame, visit);
        }
        self.act(frame, &mut visit)
    }

    /// Processes the packet of `visit` in the node's role.
    #[inline]
    pub(super) fn act(&mut self, frame: &mut Frame<'_>, visit: &mut Visit<'_>) -> Outcome {
        match indication::find(&self.profile.carriage, frame.bytes(), &visit.layers) {
            // int-2.1/l4-19: without INT, the mark is cleared where the packet enters the domain.
            Ok(Some((location, int)))
                if self.may_be_by_chance(visit) && self.is_by_chance(frame, visit, &location, &int) =>
            {
                self.handle_plain(frame, visit)
            }
            // int-2.1/domain-07: sources and transit hops are trusted; hosts behind an edge are not.
            Ok(Some(_)) if !visit.hop.ingress.accept_int => Outcome::IntFromEdge,
            // A capture truncated the stack, so nothing could be removed.
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
            // int-2.1/modes-01: mode XD changes and drops no user's packet.
            Err(_) if self.profile.plan.mode == Mode::Xd => self.handle_plain(frame, visit),
            // A host may send what only looks like INT; on an interface that accepts INT it is a fault.
            Err(error) => match self.unreadable(frame.bytes(), visit, &error) {
                Outcome::Malformed if visit.hop.ingress.edge => self.handle_plain(frame, visit),
                outcome => outcome,
            },
            Ok(None) => self.handle_plain(frame, visit),
        }
    }

    /// Whether packets may come here that read as INT by chance, as described at [`Self::is_by_chance`].
    #[inline]
    fn may_be_by_chance(&self, visit: &Visit<'_>) -> bool {
        !visit.hop.ingress.accept_int || self.profile.plan.mode == Mode::Xd
    }

    /// Whether what reads as INT may be a user's payload behind a value that marks INT, and is not INT
    /// exactly as sources write it.
    ///
    /// From an edge that refuses INT come packets of hosts, and only a DSCP can be cleared on them. In mode
    /// XD no source of this domain adds INT, and a destination header, which is almost any bytes, does not
    /// count.
    #[cold]
    fn is_by_chance(&self, frame: &Frame<'_>, visit: &Visit<'_>, location: &Location, int: &Int) -> bool {
        let Interface { edge, accept_int, .. } = visit.hop.ingress;
        let is_from_host = edge && !accept_int && location.encapsulation == Encapsulation::Dscp;
        let is_xd = self.profile.plan.mode == Mode::Xd;
        (is_from_host || is_xd)
            && (self.is_by_chance_in_xd(frame.bytes(), location, int)
                || (is_from_host && !indication::is_as_written(frame.bytes(), location, int)))
    }

    /// Whether what reads as INT does not count in mode XD, the node's.
    #[inline]
    pub(super) fn is_by_chance_in_xd(&self, packet: &[u8], location: &Location, int: &Int) -> bool {
        let is_destination = matches!(int, Int::Destination) && !location.version.is_before_2();
        self.profile.plan.mode == Mode::Xd
            && (is_destination || !indication::is_as_written(packet, location, int))
    }

    /// The fate of a packet whose mark is not followed by readable INT.
    ///
    /// If the shim or option cannot be INT, the packet is unrelated and is forwarded unchanged. If it can be,
    /// INT of an unknown kind may not leave the domain.
    // int-2.1/md-01, int-2.1/sink-01
    #[cold]
    fn unreadable(&self, packet: &[u8], visit: &Visit<'_>, error: &ParseError) -> Outcome {
        let Interface { edge, accept_int, .. } = visit.hop.ingress;
        let is_sink = visit.hop.egress.edge && (accept_int || !edge);
        let is_int = || match error.header {
            Header::IntMd | Header::IntMx => true,
            _ => earlier::is_announced(&self.profile.carriage, packet, error),
        };
        let is_cut = packet.len() < visit.layers.end;
        match error.kind {
            // A capture truncated the header.
            ErrorKind::Short { .. } if is_cut => Outcome::Malformed,
            _ if !is_sink || !is_int() => Outcome::Malformed,
            ErrorKind::Version { .. } => Outcome::UnknownVersion,
            _ => Outcome::NotStripped,
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
        let mut arrived = None;
        if !is_sink && header.domain_specific_id() != 0 {
            arrived = self.set_flags(frame, visit, &location, header.domain_specific_id());
        }
        if !is_sink || self.profile.sink_metadata == SinkMetadata::Stack {
            let own;
            let values = match header.domain_specific_id() {
                0 => &NO_VALUES,
                _ => {
                    own = visit.values(frame.bytes(), &location);
                    &own
                }
            };
            let hop = HopContext {
                hop: &visit.hop,
                domains: &self.profile.domains,
                values,
                limits: visit.limits(),
            };
            let pushed = transit::push_hop(
                frame,
                &mut visit.layers,
                &mut location,
                header,
                &hop,
                self.profile.choices,
            );
            if let Some(outcome) = pushed.filter(|outcome| *outcome != Outcome::IntermediateReport) {
                self.counters.count(outcome);
            }
            if let Some(before) = arrived.filter(|_| pushed == Some(Outcome::Pushed)) {
                let (bytes, choices) = (frame.bytes_mut(), self.profile.choices);
                transit::restore_checksum(bytes, &visit.layers, &location, header, before, choices);
            }
            if self.profile.path_mtu.is_on() && !is_sink {
                self.consider_md(frame, visit, &location, header, pushed);
            }
            if pushed == Some(Outcome::IntermediateReport) {
                self.relieve(frame, visit, &mut location, header, values, arrived);
            }
        }
        if is_sink { self.end_md(frame, visit, &location, header) } else { Outcome::Transit }
    }

    /// Reports the stack collected so far and restarts it with this node's metadata, or sets M if no session
    /// accepts the report: what is not reported stays in the packet.
    ///
    /// `arrived` is the L4 checksum on arrival, `None` if the packet has not changed since.
    // int-2.1/mtu-05, int-2.1/mtu-06, report-2.0/individual-11
    #[cold]
    fn relieve(
        &mut self,
        frame: &mut Frame<'_>,
        visit: &mut Visit<'_>,
        location: &mut Location,
        header: &MdHeader,
        values: &ValueContext,
        arrived: Option<u16>,
    ) {
        if !self.report(frame.bytes(), visit, Some(location), &Asked::nothing_yet()) {
            return self.counters.count(transit::exceed_mtu(frame, &visit.layers, location));
        }
        self.counters.count(Outcome::IntermediateReport);
        let checksum = arrived.or_else(|| carrier::l4_checksum(frame.bytes_mut(), &visit.layers));
        transit::remove_hops(frame, &mut visit.layers, location, header, &self.profile.domains);
        let limits = visit.limits();
        let hop = HopContext { hop: &visit.hop, domains: &self.profile.domains, values, limits };
        let pushed =
            transit::push_hop(frame, &mut visit.layers, location, header, &hop, self.profile.choices);
        if let (Some(Outcome::Pushed), Some(before)) = (pushed, checksum) {
            let bytes = frame.bytes_mut();
            transit::restore_checksum(bytes, &visit.layers, location, header, before, self.profile.choices);
        }
        if let Some(outcome) = pushed {
            self.counters.count(outcome);
        }
    }

    /// Sink of an INT-MD packet whose stack is complete: reports it and strips it.
    // int-2.1/sink-02, int-2.1/md-31
    pub(super) fn end_md(
        &mut self,
        frame: &mut Frame<'_>,
        visit: &Visit<'_>,
        location: &Location,
        header: &MdHeader,
    ) -> Outcome {
        // report-2.0/transport-06: a sink's own metadata goes either onto the stack or into the report.
        let asked = match self.profile.sink_metadata {
            // int-2.1/md-07: no hop left, so a sink that is not the source adds nothing and sets E, which its
            // report shows.
            SinkMetadata::Report if header.remaining_hop_count() == 0 && visit.sequence_number.is_none() => {
                transit::exceed_hops(frame, &visit.layers, location);
                self.counters.count(Outcome::HopsExceeded);
                Asked::nothing()
            }
            SinkMetadata::Report if self.skips(header.domain_specific_id()) => {
                // report-2.0/metadata-08: the stack is reported nevertheless.
                self.counters.count(Outcome::UnknownDomain);
                Asked::nothing()
            }
            SinkMetadata::Report => Asked::of_md(header),
            SinkMetadata::Stack | SinkMetadata::None => Asked::nothing(),
        };
        if self.losses.is_some() && header.domain_specific_id() != 0 {
            self.note_profile(frame.bytes(), visit, location, header.domain_specific_id());
        }
        self.report(frame.bytes(), visit, Some(location), &asked);
        // int-2.1/md-02
        self.end(frame, visit, location, header.discard())
    }

    /// Transit hop or sink of an INT-MX packet.
    // int-2.1/sink-04, int-2.1/headers-06, int-2.1/transit-03, int-2.1/modes-02, int-2.1/modes-03,
    // int-2.1/mx-04
    // int-2.1/mx-35: the instructions are only read.
    pub(super) fn handle_mx(
        &mut self,
        frame: &mut Frame<'_>,
        visit: &Visit<'_>,
        location: &Location,
        header: &MxHeader,
    ) -> Outcome {
        let is_sink = visit.hop.egress.edge;
        if !is_sink || self.profile.sink_metadata != SinkMetadata::None {
            self.report(frame.bytes(), visit, Some(location), &Asked::of_mx(header));
        }
        if self.profile.path_mtu.is_on() && !is_sink && !header.discard() {
            self.consider_mx(frame, visit, location);
        }
        if is_sink && self.losses.is_some() && header.domain_specific_id() != 0 {
            self.note_profile(frame.bytes(), visit, location, header.domain_specific_id());
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
        let Some(domain) = self.profile.domains.get(id) else { return };
        let values = visit.values(frame.bytes(), location);
        let bits = header.ds_instruction();
        domain_fields::accumulate(frame.bytes_mut(), &visit.layers, location, domain, bits, &values);
        if !visit.hop.egress.edge {
            self.set_flags(frame, visit, location, id);
        }
    }

    /// Sets the DS Flags this node sets in packets of domain `id`; returns the L4 checksum before the change,
    /// if it sets any and there is a checksum.
    fn set_flags(
        &self,
        frame: &mut Frame<'_>,
        visit: &Visit<'_>,
        location: &Location,
        id: u16,
    ) -> Option<u16> {
        let domain = self.profile.domains.get(id).filter(|domain| domain.set_flags != 0)?;
        let before = carrier::l4_checksum(frame.bytes_mut(), &visit.layers);
        domain_fields::set_flags(frame.bytes_mut(), &visit.layers, location, domain);
        before
    }

    /// Whether this node does nothing for domain `id`, which it does not know.
    fn skips(&self, id: u16) -> bool {
        self.profile.choices.unknown_instructions == UnknownInstructions::Skip
            && id != 0
            && self.profile.domains.get(id).is_none()
    }

    /// A packet with only a destination header: the sink removes it, other nodes ignore it.
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

    /// Handles a packet at the end of its path through the domain.
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
        // int-2.1/gre-13: what cannot be restored is discarded.
        if self.strip(frame, visit, location, self.profile.restore_dscp) {
            Outcome::Stripped
        } else {
            Outcome::NotStripped
        }
    }

    /// Removes all INT from the packet, every header of a chain; `false` if some would remain, or the
    /// original cannot be determined.
    // int-2.1/sink-01, int-2.1/headers-02
    pub(super) fn strip(
        &self,
        frame: &mut Frame<'_>,
        visit: &Visit<'_>,
        location: &Location,
        restore_dscp: bool,
    ) -> bool {
        let stripping = Stripping { link: visit.carrier_link(), restore_dscp };
        let may_follow = self.profile.carriage.restores_mark(frame.bytes(), location);
        self.profile.carriage.strip(frame, &visit.layers, location, stripping)
            && (!may_follow || self.strip_following(frame, visit, stripping))
    }

    /// Removes the INT headers that followed the one just removed.
    #[cold]
    fn strip_following(&self, frame: &mut Frame<'_>, visit: &Visit<'_>, stripping: Stripping) -> bool {
        let at = if visit.inside.is_some() { visit.layers.l3 } else { 0 };
        for left in (0..MAX_HEADERS).rev() {
            let Ok(Some(layers)) = Layers::parse_at(stripping.link, frame.bytes(), at, Strictness::Truncated)
            else {
                return false;
            };
            let location = match indication::find(&self.profile.carriage, frame.bytes(), &layers) {
                Ok(None) => return true,
                Ok(Some((location, _))) if left > 0 && location.end <= frame.len() => location,
                Ok(Some(_)) | Err(_) => return false,
            };
            let may_follow = self.profile.carriage.restores_mark(frame.bytes(), &location);
            if !self.profile.carriage.strip(frame, &layers, &location, stripping) {
                return false;
            }
            if !may_follow {
                return true;
            }
        }
        false
    }
}

/// Maximum number of INT headers removed from a packet one by one.
const MAX_HEADERS: usize = 8;
