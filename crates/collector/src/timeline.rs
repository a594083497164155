//! The conversion of the collector's time to the time of day.

use std::collections::VecDeque;

use inband_model::api::{FlowPathView, FlowView, LinkView, NodeView, PortView, QueueView};
use inband_model::{Event, Nanos, Observation, PathObservation, ReportReference};

/// Converts times of the collector, which neither jump nor go back, to the time of day.
///
/// Silence, gaps and settling are judged by the collector's time, so that setting a clock causes none of
/// them; outputs carry the time of day. The two are the same until the clock is set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timeline {
    /// The latest [`MAX_STEPS`] steps, oldest first.
    steps: VecDeque<Step>,
}

/// From `at` on, the time of day is `ahead` nanoseconds ahead.
#[derive(Debug, Clone, Copy)]
struct Step {
    at: Nanos,
    ahead: i64,
}

impl Timeline {
    /// Records that from `at` on the time of day is `ahead` nanoseconds ahead. Earlier times are not
    /// affected.
    pub(crate) fn step(&mut self, at: Nanos, ahead: i64) {
        // Steps come in order; an earlier one takes effect with the one before it.
        let at = self.steps.back().map_or(at, |last| at.max(last.at));
        if self.steps.len() >= MAX_STEPS {
            self.steps.pop_front();
        }
        self.steps.push_back(Step { at, ahead });
    }

    /// The time of day at a time of the collector.
    #[inline]
    pub(crate) fn time_of_day(&self, at: Nanos) -> Nanos {
        if self.steps.is_empty() { at } else { self.look_up(at) }
    }

    #[cold]
    fn look_up(&self, at: Nanos) -> Nanos {
        let step = self.steps.iter().rev().find(|step| step.at <= at);
        Nanos(at.0.saturating_add_signed(step.map_or(0, |step| step.ahead)))
    }

    /// The reference of a report in history.
    #[inline]
    pub(crate) fn reference(&self, report: ReportReference) -> ReportReference {
        ReportReference { received_at: self.time_of_day(report.received_at), ..report }
    }

    pub(crate) fn event(&self, mut event: Event) -> Event {
        if self.steps.is_empty() {
            return event;
        }
        event.first = self.time_of_day(event.first);
        event.last = self.time_of_day(event.last);
        for report in &mut event.evidence {
            *report = self.reference(*report);
        }
        event
    }

    pub(crate) fn observation(&self, observation: Observation) -> Observation {
        match observation {
            Observation::Path(path) => {
                let received_at = self.time_of_day(path.received_at);
                Observation::Path(PathObservation { received_at, ..path })
            }
            Observation::HopLatency(mut latency) => {
                latency.received_at = self.time_of_day(latency.received_at);
                Observation::HopLatency(latency)
            }
            Observation::QueueDepth(mut depth) => {
                depth.received_at = self.time_of_day(depth.received_at);
                Observation::QueueDepth(depth)
            }
        }
    }

    pub(crate) fn node(&self, mut node: NodeView) -> NodeView {
        self.replace([&mut node.first_seen, &mut node.last_seen]);
        node
    }

    pub(crate) fn link(&self, mut link: LinkView) -> LinkView {
        self.replace([&mut link.first_seen, &mut link.last_seen]);
        link
    }

    pub(crate) fn flow<'a>(&self, mut flow: FlowView<'a>) -> FlowView<'a> {
        let FlowView { path_since, path_seen_at, first_seen, last_seen, .. } = &mut flow;
        self.replace([path_since, path_seen_at, first_seen, last_seen]);
        flow
    }

    pub(crate) fn flow_path<'a>(&self, mut path: FlowPathView<'a>) -> FlowPathView<'a> {
        self.replace([&mut path.since, &mut path.until]);
        path
    }

    pub(crate) fn port(&self, mut port: PortView) -> PortView {
        self.replace([&mut port.last_seen]);
        if let Some(utilization) = &mut port.utilization {
            self.replace([&mut utilization.last_at]);
        }
        port
    }

    pub(crate) fn queue(&self, mut queue: QueueView) -> QueueView {
        self.replace([&mut queue.last_at]);
        queue
    }

    fn replace<const N: usize>(&self, times: [&mut Nanos; N]) {
        for time in times {
            *time = self.time_of_day(*time);
        }
    }
}

/// Maximum number of steps; older times are off by the difference of the removed ones.
const MAX_STEPS: usize = 64;

#[cfg(test)]
mod tests {
    use inband_model::Nanos;

    use super::{MAX_STEPS, Timeline};

    #[test]
    fn what_came_before_a_step_keeps_its_time() {
        let mut timeline = Timeline::default();
        assert_eq!(timeline.time_of_day(Nanos(100)), Nanos(100));
        timeline.step(Nanos(100), 1_000);
        timeline.step(Nanos(200), -150);

        let times = [99, 100, 199, 200, 201].map(|at| timeline.time_of_day(Nanos(at)).0);

        assert_eq!(times, [99, 1_100, 1_199, 50, 51]);
    }

    #[test]
    fn a_clock_that_is_set_all_the_time_takes_no_more_memory() {
        let mut timeline = Timeline::default();
        for at in 0..1_000 {
            timeline.step(Nanos(at), 5);
        }
        timeline.step(Nanos(2_000), i64::MIN);

        assert_eq!(timeline.steps.len(), MAX_STEPS);
        assert_eq!(timeline.time_of_day(Nanos(999)), Nanos(1_004));
        assert_eq!(timeline.time_of_day(Nanos(2_000)), Nanos::ZERO);
    }
}
