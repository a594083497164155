//! What every detector is: settings, state, and the events of one subject.

use std::marker::PhantomData;

use inband_model::{Flow, Hop, LinkEnds, Nanos, Path, ReportReference, Units};

use crate::flows::{FlowEntry, FlowIndex, RecentChange};
use crate::network::Network;
use crate::outbox::Outbox;
use crate::paths::LinkIndex;
use crate::ports::{PortIndex, Ports, Sample};
use crate::share::Share;
use crate::sighting::Sighting;

use super::congestion::CongestionStep;

/// Looks at what reports show, and announces one kind of event, or some kinds that belong together.
///
/// A detector sees signs of a cause, and announces them by the outbox; when the event begins, goes on and ends is decided
/// there. What a detector does not look at costs nothing.
pub(crate) trait Detector: Sized {
    /// Its table below `[events]`.
    type Settings;

    /// Makes a detector that has seen nothing.
    fn new(settings: &Self::Settings, common: &Common) -> Self;

    /// Takes in a report.
    #[inline(always)]
    fn handle_report(&mut self, sighting: &Sighting<'_>, network: &Network, outbox: &mut Outbox) {
        let _ = (sighting, network, outbox);
    }

    /// Takes in one hop of a report.
    #[inline(always)]
    fn handle_hop(&mut self, hop: &Sample<'_>, ports: &Ports, outbox: &mut Outbox) {
        let _ = (hop, ports, outbox);
    }

    /// Whether it has found steps of congestion.
    #[inline(always)]
    fn has_congestion(&self) -> bool {
        false
    }

    /// The next step of congestion that it has found, for all detectors to take in before the next one is asked for.
    #[inline(always)]
    fn poll_congestion(&mut self, outbox: &mut Outbox) -> Option<CongestionStep> {
        let _ = outbox;
        None
    }

    /// Takes in a step of congestion.
    #[inline(always)]
    fn handle_congestion(&mut self, step: &CongestionStep, outbox: &mut Outbox) {
        let _ = (step, outbox);
    }

    /// Takes in one hop of a report on a flow, and the latency of the flow's packet before at that hop.
    #[inline(always)]
    fn handle_latency(&mut self, hop: &Sample<'_>, before: Nanos, outbox: &mut Outbox) {
        let _ = (hop, before, outbox);
    }

    /// Takes in a report with a metadata stack.
    #[inline(always)]
    fn handle_stack(&mut self, stack: &SeenStack<'_>, network: &Network, outbox: &mut Outbox) {
        let _ = (stack, network, outbox);
    }

    /// Takes in the report of one node in MX or XD mode, before its flow takes it in.
    #[inline(always)]
    fn handle_postcard(&mut self, postcard: &SeenStack<'_>, network: &Network, outbox: &mut Outbox) {
        let _ = (postcard, network, outbox);
    }

    /// Takes in how long a packet was on a link.
    #[inline(always)]
    fn handle_crossing(&mut self, crossing: &Crossing<'_>, network: &Network, outbox: &mut Outbox) {
        let _ = (crossing, network, outbox);
    }

    /// Takes in a path that is new to its flow.
    fn handle_path(&mut self, path: &SeenPath<'_>, network: &Network, outbox: &mut Outbox) {
        let _ = (path, network, outbox);
    }

    /// Takes in a change of path, and later what became of it.
    fn handle_change(&mut self, change: &SeenChange, network: &Network, outbox: &mut Outbox) {
        let _ = (change, network, outbox);
    }

    /// Takes in that a flow gets no further than a link, and that no node reports a drop.
    fn handle_stop(&mut self, stop: &Stop, outbox: &mut Outbox) {
        let _ = (stop, outbox);
    }

    /// Forgets a flow, whose place another one may take.
    fn handle_eviction(&mut self, index: FlowIndex, entry: &FlowEntry, now: Nanos, outbox: &mut Outbox) {
        let _ = (index, entry, now, outbox);
    }

    /// Takes in what keeps history from being written; `None` while it is written.
    fn handle_history(&mut self, now: Nanos, trouble: Option<&str>, outbox: &mut Outbox) {
        let _ = (now, trouble, outbox);
    }

    /// Does what has become due.
    fn handle_timeout(&mut self, now: Nanos, network: &Network, outbox: &mut Outbox) {
        let _ = (now, network, outbox);
    }

    /// When `handle_timeout` has something to do.
    fn next_timeout(&self) -> Option<Nanos> {
        None
    }

    /// How often there was no room for an interface.
    fn unfollowed_ports(&self) -> u64 {
        0
    }
}

/// What is set for all detectors.
#[derive(Debug, Clone)]
pub(crate) struct Common {
    /// How late a report may be.
    pub(crate) settle: Nanos,
    /// The flows and nodes that are followed here.
    pub(crate) share: Share,
    /// Whether the nodes' clocks are said to agree.
    pub(crate) synchronous_clocks: bool,
    /// The units of nodes' metadata.
    pub(crate) units: Units,
}

/// A report with hops on a flow that is followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeenStack<'a> {
    pub(crate) flow: FlowIndex,
    pub(crate) sighting: &'a Sighting<'a>,
    /// Whether the hops are the path that is known, all of it.
    pub(crate) is_known_path: bool,
}

/// A path that is new to its flow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeenPath<'a> {
    pub(crate) flow: FlowIndex,
    pub(crate) now: Nanos,
    /// The report that shows it.
    pub(crate) report: ReportReference,
    pub(crate) path: &'a Path,
    /// The egress port of each hop.
    pub(crate) ports: &'a [Option<PortIndex>],
    /// Whether it is the first path of the flow.
    pub(crate) is_first: bool,
    /// Whether these are all hops, as far as the reports tell.
    pub(crate) is_whole: bool,
}

impl SeenPath<'_> {
    pub(crate) fn hops(&self) -> &[Hop] {
        self.path.hops()
    }
}

/// A change of path from one whole path to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeenChange {
    pub(crate) index: FlowIndex,
    pub(crate) flow: Flow,
    pub(crate) now: Nanos,
    pub(crate) change: RecentChange,
    pub(crate) stage: ChangeStage,
}

/// How much is known of a change of path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeStage {
    /// A report has just shown it.
    Seen {
        /// Whether the path changes so often that nothing else is shown of this change.
        flaps: bool,
    },
    /// The old links have had time to show whether they still carry flows.
    Settled,
    /// The path changes again before that.
    Superseded,
    /// The flow is forgotten before that.
    Forgotten,
}

/// A packet that went over a link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crossing<'a> {
    pub(crate) link: LinkIndex,
    pub(crate) sighting: &'a Sighting<'a>,
    /// When it left the one end, by the clock there.
    pub(crate) sent_at: u64,
    /// When it came in at the other, by the clock there.
    pub(crate) came_at: u64,
}

/// A flow that the node at the end of a link does not report any more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stop {
    pub(crate) link: LinkIndex,
    pub(crate) ends: LinkEnds,
    pub(crate) flow: Flow,
    pub(crate) noticed_at: Nanos,
    /// How long the node has been silent on it.
    pub(crate) silent_for: Nanos,
    /// The latest report of a node before the link.
    pub(crate) report: ReportReference,
}

/// A detector whose state is kept by the streams it looks at.
#[derive(Debug)]
pub(crate) struct Elsewhere<S>(PhantomData<S>);

impl<S> Detector for Elsewhere<S> {
    type Settings = S;

    fn new(_: &S, _: &Common) -> Self {
        Self(PhantomData)
    }
}

/// The settings of a detector of which nothing is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoSettings;
