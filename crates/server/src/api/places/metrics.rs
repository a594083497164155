//! Metrics of the API's callers.

use std::sync::atomic::Ordering;

use super::{Phase, Places, Reason};
use inband_export::{Family, Sample};

impl Places {
    /// Current and accepted callers, and callers that were evicted or refused, by reason.
    pub(in crate::api) fn families(&self) -> Vec<Family> {
        let taken = self.taken();
        let streams = taken.iter().filter(|place| place.phase() == Phase::Stream).count();
        let connected = taken.len();
        drop(taken);
        let accepted = self.counts.accepted.load(Ordering::Relaxed);
        let closed = Reason::ALL
            .map(|reason| Sample::new([("reason", reason.name().to_owned())], self.closed(reason)));
        vec![
            Family::gauge("inband_api_connections", "Open connections to the API.").of(connected),
            Family::gauge("inband_api_streams", "Connections that follow the stream of events.").of(streams),
            Family::counter("inband_api_connections_accepted_total", "Accepted connections to the API.")
                .of(accepted),
            Family::counter(
                "inband_api_connections_closed_total",
                "Connections to the API that were closed or refused, by reason.",
            )
            .with(closed),
        ]
    }
}
