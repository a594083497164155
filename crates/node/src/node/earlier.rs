//! A packet with INT of a version before 2.0.

use inband_wire::int::earlier::HopByHop;
use inband_wire::int::{HeaderType, Location, Version};

use crate::config::SinkMetadata;
use crate::counters::Outcome;
use crate::earlier::{self, HopContext};
use crate::frame::Frame;
use crate::latency::Latency;
use crate::reporter::Asked;

use super::Node;
use super::visit::Visit;

impl Node {
    /// Transit hop or sink of a packet with a hop-by-hop header.
    // int-2016/headers-03
    #[cold]
    pub(super) fn handle_earlier(
        &mut self,
        frame: &mut Frame<'_>,
        visit: &mut Visit<'_>,
        mut location: Location,
    ) -> Outcome {
        let is_sink = visit.hop.egress.edge;
        let latency = match self.profile.sink_metadata {
            SinkMetadata::Stack | SinkMetadata::Report if is_sink => {
                self.latency_of(frame.bytes(), visit, &location)
            }
            _ => None,
        };
        if !is_sink || self.profile.sink_metadata == SinkMetadata::Stack {
            let context = HopContext {
                carriage: &self.profile.carriage,
                hop: &visit.hop,
                limits: visit.limits(),
                choices: self.profile.choices,
            };
            let pushed = earlier::push_hop(&context, frame, &mut visit.layers, &mut location);
            if let Some(outcome) = pushed {
                self.counters.count(outcome);
            }
        }
        if !is_sink {
            return Outcome::Transit;
        }
        let visit = Visit { latency: latency.as_ref(), ..*visit };
        self.end_earlier(frame, &visit, &location)
    }

    /// The Host-INT latency report of a packet as received, if this node is its sink.
    fn latency_of(&self, packet: &[u8], visit: &Visit<'_>, location: &Location) -> Option<Latency> {
        if self.profile.carriage.version != Version::HostInt0_5 {
            return None;
        }
        let (mark, sink) = (self.profile.carriage.mark, visit.hop.metadata());
        Latency::of(packet, &visit.layers, location, mark, sink)
    }

    /// Sink of a packet whose stack is complete: reports it, then strips it, or discards it if it is a copy.
    // int-2016/roles-03, int-2016/md-10
    // int-0.5/md-10
    #[cold]
    pub(super) fn end_earlier(
        &mut self,
        frame: &mut Frame<'_>,
        visit: &Visit<'_>,
        location: &Location,
    ) -> Outcome {
        let Ok(int) = HopByHop::parse(frame.bytes(), location) else { return Outcome::Malformed };
        let is_copy = int.copy;
        let instructions = earlier::in_2_1(int.layout(), int.instruction_bitmap);
        let is_hop_by_hop = location.header_type == HeaderType::Md;
        // report-2.0/modes-04: the fragment has the header unchanged, whatever the version of the report.
        let asked = match self.profile.sink_metadata {
            SinkMetadata::Report if is_hop_by_hop => Asked::new(instructions, 0, 0),
            SinkMetadata::Report | SinkMetadata::Stack | SinkMetadata::None => Asked::nothing(),
        };
        if !is_copy {
            self.note_number(frame.bytes(), visit, location);
        }
        if is_hop_by_hop || is_copy {
            self.report(frame.bytes(), visit, Some(location), &asked);
        }
        if is_copy {
            return Outcome::CopyDiscarded;
        }
        self.end(frame, visit, location, false)
    }
}
