//! Packet reports.

use inband_wire::int::Location;

use crate::counters::Outcome;
use crate::domains::NO_VALUES;
use crate::encapsulation::IntSpan;
use crate::reported::{Inserted, Reported, Tracking};
use crate::reporter::Asked;
use crate::sessions::Addressed;

use super::Node;
use super::smart::flow_of;
use super::visit::Visit;

impl Node {
    /// Reports a packet, unless a filter suppresses the report; returns whether a session accepted the
    /// report.
    pub(super) fn report(
        &mut self,
        packet: &[u8],
        visit: &Visit<'_>,
        location: Option<&Location>,
        asked: &Asked,
    ) -> bool {
        let tracking = match self.smart {
            None => Tracking::FLOW,
            Some(_) => match self.track(packet, visit, location, asked) {
                Some(tracking) => tracking,
                None => {
                    self.counters.count(Outcome::ReportWithheld);
                    return false;
                }
            },
        };
        let local = if tracking.queue { Some(asked.and_local()) } else { None };
        let asked = local.as_ref().unwrap_or(asked);
        let own;
        let values = match asked.needs_values() {
            false => &NO_VALUES,
            true => {
                own = match location {
                    Some(location) => visit.values(packet, location),
                    None => visit.values_of(packet, visit.layers.five_tuple(packet)),
                };
                &own
            }
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
        let int = location.map_or_else(IntSpan::default, |location| {
            self.profile.carriage.int_span(packet, &visit.layers, location)
        });
        let reported = Reported {
            link: visit.link,
            ip: visit.outermost().ip,
            packet,
            int,
            hop: &visit.hop,
            values,
            inserted,
            tracking,
            latency: visit.latency,
        };
        let hash = match self.profile.report.want_hashes {
            true => flow_of(packet, &visit.layers, location).entropy(),
            false => 0,
        };
        let addressed = Addressed { reported: &reported, hash };
        let unknown = self.profile.choices.unknown_instructions;
        self.sessions.report(&addressed, asked, &self.profile.domains, unknown, &mut self.counters)
    }
}
