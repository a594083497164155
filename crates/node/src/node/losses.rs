//! Loss detection and loss reports at the sink.

use inband_wire::dissect::flow_before_int;
use inband_wire::int::earlier::HopByHop;
use inband_wire::int::{HeaderType, HopMetadata, Location, Md, Mx, Version};

use crate::counters::Outcome;
use crate::loss::Source;

use super::Node;
use super::visit::Visit;

impl Node {
    /// Records the number, if any, of a packet that arrived at the sink.
    pub(super) fn note_number(&mut self, packet: &[u8], visit: &Visit<'_>, location: &Location) {
        if self.losses.is_none() || location.version != Version::HostInt0_5 {
            return;
        }
        let Ok(int) = HopByHop::parse(packet, location) else { return };
        let Some(number) = int.sequence else { return };
        // The source is the first hop on the path, and so the last of the stack.
        let hop = int.hops().last().map(|hop| hop.metadata().hop).unwrap_or_default();
        self.take_number(packet, visit, location, source_of(&hop, None), number);
    }

    /// Records the number of a packet of 2.1, whose source wrote it as metadata of `domain`.
    #[cold]
    pub(super) fn note_profile(
        &mut self,
        packet: &[u8],
        visit: &Visit<'_>,
        location: &Location,
        domain: u16,
    ) {
        let Some(known) = self.profile.domains.get(domain) else { return };
        let (instruction, inserted, hop) = match location.header_type {
            HeaderType::Md => {
                let Ok(Md { header, stack }) = Md::parse(packet, location, &[known.wire]) else { return };
                let hop = stack.hops().last().map(|hop| hop.metadata()).unwrap_or_default();
                (header.ds_instruction(), stack.source_only(), hop)
            }
            HeaderType::Mx => {
                let Ok(Mx { header, source_inserted }) = Mx::parse(packet, location) else { return };
                let hop = HopMetadata::default();
                (header.ds_instruction(), source_inserted, hop)
            }
            HeaderType::Destination => return,
        };
        let Some((node_id, number)) = known.numbered(instruction, inserted) else { return };
        self.take_number(packet, visit, location, source_of(&hop, node_id), number);
    }

    fn take_number(
        &mut self,
        packet: &[u8],
        visit: &Visit<'_>,
        location: &Location,
        source: Source,
        number: u32,
    ) {
        let Some(losses) = &mut self.losses else { return };
        losses.clock = visit.hop.device.clock().unwrap_or(losses.clock);
        let egress = match location.version {
            // host-int-0.5/packet-10: a host has one port, and reports it twice.
            Version::HostInt0_5 => visit.hop.ingress.id,
            _ => visit.hop.egress.id,
        };
        let flow = flow_before_int(packet, &visit.layers, location);
        losses.detector.handle_packet(flow, source, egress, number, losses.clock);
        self.report_losses();
    }

    /// Closes gaps that have been open for the hold time at `now`.
    pub(super) fn close_gaps(&mut self, now: u64) {
        if let Some(losses) = &mut self.losses {
            losses.clock = now;
            losses.detector.handle_timeout(now);
            self.report_losses();
        }
    }

    /// Closes all gaps.
    pub(super) fn close_all_gaps(&mut self) {
        if let Some(losses) = &mut self.losses {
            losses.detector.flush();
            self.report_losses();
        }
    }

    fn report_losses(&mut self) {
        let Some(losses) = &mut self.losses else { return };
        while let Some(loss) = losses.detector.poll_loss() {
            self.counters.count(Outcome::LossFound);
            let summary = loss.summary(self.profile.identity.node_id.unwrap_or(u32::MAX));
            let (domain, now) = (self.profile.loss.domain, losses.clock);
            self.sessions.report_loss(&loss, &summary, domain, now, &mut self.counters);
        }
    }
}

/// The source of a packet, from its own hop or its node id in the packet.
fn source_of(hop: &HopMetadata, node_id: Option<u32>) -> Source {
    let ingress = hop.interfaces.map_or(0, |interfaces| interfaces.ingress);
    Source { node_id: hop.node_id.or(node_id).unwrap_or_default(), ingress }
}
