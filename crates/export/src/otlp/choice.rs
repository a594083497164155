//! The choice of paths that become traces.

use std::collections::HashMap;

use inband_model::{Flow, HopColumns, Nanos, Observation, Output};

use super::item::Item;
use super::settings::OtlpSettings;
use crate::delivery::{Choice, Chosen};

/// At most one path per flow and interval.
#[derive(Debug)]
pub(crate) struct Sampled {
    is_wanted: bool,
    interval: Nanos,
    /// When a path of the flow was last sent.
    sent: HashMap<Flow, Nanos>,
}

impl Sampled {
    pub(super) fn new(settings: &OtlpSettings) -> Sampled {
        let interval = Nanos::from_secs(settings.interval_seconds);
        Sampled { is_wanted: settings.traces, interval, sent: HashMap::new() }
    }

    fn is_due(&mut self, flow: Flow, now: Nanos) -> bool {
        // A trace that is later than now was sent before the clock was set back.
        let is_due = |sent: Nanos| now.since(sent).max(sent.since(now)) >= self.interval;
        if !self.sent.get(&flow).is_none_or(|sent| is_due(*sent)) {
            return false;
        }
        if self.sent.len() >= MAX_FLOWS {
            self.sent.retain(|_, sent| !is_due(*sent));
        }
        // If there are too many new flows, the rest wait until others expire.
        let has_room = self.sent.len() < MAX_FLOWS || self.sent.contains_key(&flow);
        if has_room {
            self.sent.insert(flow, now);
        }
        has_room
    }
}

impl Choice for Sampled {
    type Item = Item;

    fn choose(&mut self, output: &Output) -> Chosen<Item> {
        match output {
            Output::Observation(Observation::Path(path)) if self.is_wanted => {
                match self.is_due(path.flow, path.received_at) {
                    true => Chosen::Deliver(Item::Path(Box::new(path.clone()))),
                    false => Chosen::KeepBack,
                }
            }
            Output::Observation(_) | Output::Event(_) => Chosen::Nothing,
        }
    }

    fn wants_hops(&self) -> bool {
        self.is_wanted
    }

    fn choose_hops(&mut self, hops: &HopColumns) -> Chosen<Item> {
        if self.is_wanted { Chosen::Deliver(Item::Hops(Box::new(hops.clone()))) } else { Chosen::Nothing }
    }
}

/// Maximum flows whose last trace is remembered.
const MAX_FLOWS: usize = 65_536;

#[cfg(test)]
mod tests {
    use inband_model::{Flow, Nanos};

    use super::{MAX_FLOWS, OtlpSettings, Sampled};

    #[test]
    fn a_flow_is_due_once_in_an_interval() {
        let mut sampled = Sampled::new(&OtlpSettings { interval_seconds: 10, ..OtlpSettings::default() });
        let flow = Flow::default();
        let mut due = |ns| sampled.is_due(flow, Nanos(ns));
        let ten = 10_000_000_000;
        assert_eq!(
            [due(5), due(6), due(ten + 4), due(ten + 5), due(ten + 6)],
            [true, false, false, true, false]
        );
    }

    #[test]
    fn a_clock_that_is_set_back_delays_a_flow_by_at_most_two_intervals() {
        let mut sampled = Sampled::new(&OtlpSettings { interval_seconds: 10, ..OtlpSettings::default() });
        let mut due = |seconds| sampled.is_due(Flow::default(), Nanos::from_secs(seconds));

        assert_eq!([due(5_000), due(1_400), due(1_405), due(1_410)], [true, true, false, true]);
        assert_eq!([due(1_401), due(1_419), due(1_420)], [false, false, true]);
    }

    #[test]
    fn flows_that_are_remembered_have_a_bound_and_the_old_ones_make_room() {
        let mut sampled = Sampled::new(&OtlpSettings::default());
        let flow = |number: usize| {
            let number = u32::try_from(number).unwrap();
            Flow { source: std::net::Ipv4Addr::from(number).into(), ..Flow::default() }
        };
        let at = |seconds: u64| Nanos::from_secs(1_000 + seconds);
        assert!((0..MAX_FLOWS).all(|number| sampled.is_due(flow(number), at(0))));
        assert!(!sampled.is_due(flow(MAX_FLOWS), at(1)));
        assert!(sampled.is_due(flow(MAX_FLOWS), at(10)));
        assert_eq!(sampled.sent.len(), 1);
    }
}
