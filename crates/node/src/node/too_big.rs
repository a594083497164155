//! "Too big" messages: when INT exceeds the path MTU, and the MTU that is reported.

use inband_wire::int::Location;
use inband_wire::int::md::MdHeader;
use inband_wire::layers::{Layers, Strictness};

use crate::config::EncapsulationKind;
use crate::counters::Outcome;
use crate::frame::Frame;
use crate::path_mtu::Original;

use super::Node;
use super::visit::Visit;

/// What must fit into the egress MTU in addition to the original packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Need {
    /// The INT added so far, and this many more bytes.
    More(usize),
    /// What this node adds as the source.
    Start,
}

impl Node {
    /// Considers an INT-MD packet after this hop added its metadata or could not.
    #[cold]
    pub(super) fn consider_md(
        &mut self,
        frame: &Frame<'_>,
        visit: &Visit<'_>,
        location: &Location,
        header: &MdHeader,
        pushed: Option<Outcome>,
    ) {
        let is_refused = matches!(pushed, Some(Outcome::MtuExceeded | Outcome::IntermediateReport));
        if header.discard() || !(is_refused || is_too_big(visit)) {
            return;
        }
        let hop = header.hop_ml().bytes();
        // int-2.1/mtu-03, int-2.1/mtu-04
        let more = match (is_refused, self.profile.path_mtu.is_conservative()) {
            (_, true) => hop * usize::from(header.remaining_hop_count()),
            (true, false) => hop,
            (false, false) => 0,
        };
        self.tell_sender(frame.bytes(), visit, Some(location), Need::More(more));
    }

    /// Considers an INT-MX packet, to which no hop adds anything.
    #[cold]
    pub(super) fn consider_mx(&mut self, frame: &Frame<'_>, visit: &Visit<'_>, location: &Location) {
        if is_too_big(visit) {
            self.tell_sender(frame.bytes(), visit, Some(location), Need::More(0));
        }
    }

    /// Reports the usable MTU to the sender of a packet, with INT at `location` or without INT.
    ///
    /// At the source, a packet that would be too big without INT is left to the device that forwards it.
    /// Further on, only an INT node can quote the original packet.
    // int-2.1/mtu-02
    #[cold]
    pub(super) fn tell_sender(
        &mut self,
        packet: &[u8],
        visit: &Visit<'_>,
        location: Option<&Location>,
        need: Need,
    ) {
        let mut buffer = packet.to_vec();
        let range = 0..buffer.len();
        let Some(mut original) = Frame::new(&mut buffer, range) else { return };
        if location.is_some_and(|location| !self.strip(&mut original, visit, location, true)) {
            return;
        }
        let around = visit.inside.map_or(0, |inside| {
            inside.follow(original.bytes_mut());
            inside.around_bytes
        });
        let parsed = Layers::parse(visit.link, original.bytes(), Strictness::Truncated);
        let Ok(Some(layers)) = parsed else { return };
        if let Some(now) = visit.hop.device.ingress_timestamp {
            self.answers.advance(now);
        }
        let mtu = visit.hop.egress.mtu + around;
        let needed = match need {
            Need::More(more) => packet.len().saturating_sub(original.len()) + more,
            Need::Start => {
                let carrier = visit.inside.map_or(&layers, |inside| &inside.layers);
                let all_hops = self.profile.path_mtu.is_conservative();
                let needed =
                    self.profile.plan.growth(&self.profile.carriage, original.bytes(), carrier, all_hops);
                needed.unwrap_or_default()
            }
        };
        if matches!(need, Need::Start) && layers.ip_length() > mtu {
            return;
        }
        let (bytes, layers, ingress) = (original.bytes(), &layers, visit.hop.ingress.id);
        let original = Original { link: visit.link, bytes, layers, ingress };
        let (mtu, dscp) = (mtu.saturating_sub(needed), self.message_dscp());
        let outcome = self.answers.answer(&self.profile.path_mtu, &original, mtu, dscp);
        self.counters.count(outcome);
    }

    /// The DSCP of messages: that of network control, unless it marks INT.
    fn message_dscp(&self) -> u8 {
        let mark = self.profile.carriage.mark;
        let is_int = self.profile.carriage.kind == EncapsulationKind::Dscp && mark.matches(NETWORK_CONTROL);
        if is_int { mark.removed_from(NETWORK_CONTROL) } else { NETWORK_CONTROL }
    }
}

fn is_too_big(visit: &Visit<'_>) -> bool {
    visit.layers.ip_length() > visit.hop.egress.mtu
}

/// RFC 1812, section 4.3.2.5: errors have precedence 6, "internetwork control".
const NETWORK_CONTROL: u8 = 48;
