//! A packet whose INT is in the inner layer of a tunnel.

use crate::config::Mode;
use crate::counters::Outcome;
use crate::frame::Frame;
use crate::inside::{Innermost, Inside};

use super::Node;
use super::visit::Visit;

impl Node {
    /// Processes the innermost packet of a frame, then updates the outer packets.
    // int-2.1/l4-04: INT of another layer is left unchanged.
    #[cold]
    pub(super) fn act_inside(&mut self, frame: &mut Frame<'_>, mut visit: Visit<'_>) -> Outcome {
        let inside = match Inside::find(&self.profile.carriage, visit.link, frame.bytes()) {
            Innermost::Itself => return self.act(frame, &mut visit),
            Innermost::Inside(inside) => inside,
            // A report changes nothing, so mode XD reaches every packet.
            Innermost::OutOfReach if self.profile.plan.mode == Mode::Xd => {
                return self.handle_plain(frame, &mut visit);
            }
            Innermost::OutOfReach => return Outcome::NoInt,
        };
        let mut visit = Visit { layers: inside.layers, inside: Some(&inside), ..visit };
        visit.hop.egress.mtu = visit.hop.egress.mtu.saturating_sub(inside.around_bytes);
        let outcome = self.act(frame, &mut visit);
        inside.follow(frame.bytes_mut());
        outcome
    }
}
