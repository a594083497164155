//! Copies of packets for alternative paths, as requested by INT of a version before 2.0.
//!
//! Rep requests a copy on every port of a port channel, on every next hop of the same cost, or both. A copy
//! has C set and takes its own path; the sink reports it and forwards only the original. A follow-up packet
//! is a copy as well: it carries what a device's slow path determined about a packet forwarded earlier, in a
//! header that further nodes leave unfilled.

use inband_wire::int::Location;
use inband_wire::int::earlier::HopByHop;
use inband_wire::layers::{Layers, Link, Strictness};

use crate::copies::Branch;
use crate::counters::Outcome;
use crate::earlier::{self, HopContext};
use crate::frame::{Frame, with_headroom};
use crate::indication::{self, Int};
use crate::output::OwnPacket;
use crate::passage::Passage;

use super::visit::Visit;
use super::{Node, Verdict};

impl Node {
    /// Performs this node's INT processing on one frame that has alternative paths: as
    /// [`Node::handle_frame`], and on a copy for each of the `branches` if the packet requests replication.
    ///
    /// The copies are returned by polling, as [`Output::Copy`](crate::Output::Copy).
    pub fn handle_frame_among(
        &mut self,
        link: Link,
        frame: &mut Frame<'_>,
        passage: &Passage,
        branches: &[Branch],
    ) -> Verdict {
        if !branches.is_empty() {
            self.replicate(link, frame.bytes(), branches);
        }
        self.handle_frame(link, frame, passage)
    }

    /// Creates the follow-up of a `packet` that the device has forwarded unchanged, without INT processing.
    ///
    /// The follow-up has all metadata of the packet and this node's, under the packet's instructions, and is
    /// returned by polling, as [`Output::Copy`](crate::Output::Copy). Returns whether it was created: only
    /// INT of the versions before 2.0 has follow-ups, they need room for this node's metadata, and a sink has
    /// no node to send one to.
    // int-2016/handling-01
    pub fn follow_up(&mut self, link: Link, packet: &[u8], passage: &Passage) -> bool {
        let Some((mut layers, mut location)) = self.find_earlier(link, packet) else { return false };
        let mut buffer = with_headroom(packet);
        let Some(mut frame) = Frame::behind_headroom(&mut buffer) else { return false };
        let visit = self.visit(link, layers, passage);
        if visit.hop.egress.edge || !visit.hop.ingress.accept_int {
            return false;
        }
        let context = HopContext {
            carriage: &self.profile.carriage,
            hop: &visit.hop,
            limits: visit.limits(),
            choices: self.profile.choices,
        };
        let pushed = earlier::push_hop(&context, &mut frame, &mut layers, &mut location);
        if pushed != Some(Outcome::Pushed)
            || !earlier::exempt(&self.profile.carriage, &mut frame, &layers, &location)
        {
            return false;
        }
        earlier::mark_copy(&self.profile.carriage, &mut frame, &layers, &location);
        self.keep(passage.egress, link, frame.bytes(), Outcome::FollowedUp)
    }

    /// Creates a copy of `packet` for each of the `branches` that it requests.
    // int-2016/md-08
    #[cold]
    fn replicate(&mut self, link: Link, packet: &[u8], branches: &[Branch]) {
        let Some((layers, location)) = self.find_earlier(link, packet) else { return };
        let replication = HopByHop::parse(packet, &location).map_or(0, |int| int.replication);
        for branch in branches.iter().filter(|branch| branch.level.is_asked(replication)) {
            if !self.copies.has_room() {
                self.counters.count(Outcome::CopyShed);
                continue;
            }
            let mut buffer = with_headroom(packet);
            let Some(mut frame) = Frame::behind_headroom(&mut buffer) else { return };
            earlier::mark_copy(&self.profile.carriage, &mut frame, &layers, &location);
            let mut visit = self.visit(link, layers, &branch.passage);
            if !visit.hop.ingress.accept_int {
                continue;
            }
            match self.handle_earlier(&mut frame, &mut visit, location) {
                Outcome::Transit => {
                    self.keep(branch.passage.egress, link, frame.bytes(), Outcome::Replicated);
                }
                // A copy that leaves the domain here was reported, and is not sent.
                _ => self.counters.count(Outcome::Replicated),
            }
        }
    }

    fn find_earlier(&self, link: Link, packet: &[u8]) -> Option<(Layers, Location)> {
        let layers = Layers::parse(link, packet, Strictness::Truncated).ok().flatten()?;
        match indication::find(&self.profile.carriage, packet, &layers) {
            Ok(Some((location, Int::Earlier))) => Some((layers, location)),
            _ => None,
        }
    }

    fn visit<'a>(&self, link: Link, layers: Layers, passage: &'a Passage) -> Visit<'a> {
        Visit::new(link, layers, self.profile.hop(passage))
    }

    /// Queues a copy for the caller and counts it as `outcome`, or as shed.
    fn keep(&mut self, egress: u16, link: Link, bytes: &[u8], outcome: Outcome) -> bool {
        let is_kept = self.copies.push(OwnPacket { egress, link, bytes: bytes.to_vec() });
        self.counters.count(if is_kept { outcome } else { Outcome::CopyShed });
        is_kept
    }
}
