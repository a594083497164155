//! What do timestamps say about links and clocks?

use inband_model::{ClockDrift, Confidence, Event, EventDetail, NegativeLinkLatency, Severity};

use crate::outbox::Outbox;
use crate::paths::{Disagreement, LinkIndex};
use crate::silent::link_key;

use super::{Correlator, Sighting};

impl Correlator {
    /// Takes in when a packet left one end of a link and came in at the other.
    pub(super) fn time_link(
        &mut self,
        link: LinkIndex,
        sighting: &Sighting<'_>,
        (sent_at, came_at): (u64, u64),
        outbox: &mut Outbox,
    ) {
        let Some(found) = self.links.time(sighting.now, link, sent_at, came_at) else { return };
        if !self.settings.synchronous_clocks {
            // Nobody claims that they agree.
            return;
        }
        let link = self.links.ends(link);
        let key = link_key(&link);
        let (detail, confidence) = match found {
            Disagreement::Negative { lowest_ns } => {
                let detail = NegativeLinkLatency { link, lowest_ns };
                (EventDetail::NegativeLinkLatency(detail), Confidence::Certain)
            }
            Disagreement::Drift { ns_per_second } => {
                (EventDetail::ClockDrift(ClockDrift { link, ns_per_second }), Confidence::Probable)
            }
        };
        let event = Event::of_report(detail, Severity::Warning, key, confidence, sighting.report);
        outbox.begin(event, self.clock_course);
    }
}
