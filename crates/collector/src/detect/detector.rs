//! The trait of all detectors: settings, state, and the events of one subject.

use std::marker::PhantomData;

use inband_model::{Flow, Hop, LinkEnds, Nanos, Path, ReportReference, Units};

use crate::flows::{FlowEntry, FlowIndex, RecentChange};
use crate::network::Network;
use crate::outbox::Outbox;
use crate::paths::LinkIndex;
use crate::ports::{PortIndex, Ports, Released, Sample};
use crate::share::Share;
use crate::sighting::Sighting;

use super::congestion::CongestionStep;

/// Examines what reports show, and announces one kind of event, or a few related kinds.
///
/// A detector sees signs of a cause and announces them through the outbox, which decides when the event
/// begins, continues and ends. A detector pays only for the inputs it handles.
pub(crate) trait Detector: Sized {
    /// Its table below `[events]`.
    type Settings;

    /// Creates a detector that has seen nothing.
    fn new(settings: &Self::Settings, common: &Common) -> Self;

    /// Handles a report.
    #[inline(always)]
    fn handle_report(&mut self, sighting: &Sighting<'_>, network: &Network, outbox: &mut Outbox) {
        let _ = (sighting, network, outbox);
    }

    /// Handles one hop of a report.
    #[inline(always)]
    fn handle_hop(&mut self, hop: &Sample<'_>, ports: &Ports, outbox: &mut Outbox) {
        let _ = (hop, ports, outbox);
    }

    /// Whether it has pending steps of congestion.
    #[inline(always)]
    fn has_congestion(&self) -> bool {
        false
    }

    /// The next pending step of congestion; all detectors handle it before the next one is polled.
    #[inline(always)]
    fn poll_congestion(&mut self, outbox: &mut Outbox) -> Option<CongestionStep> {
        let _ = outbox;
        None
    }

    /// Handles a step of congestion.
    #[inline(always)]
    fn handle_congestion(&mut self, step: &CongestionStep, outbox: &mut Outbox) {
        let _ = (step, outbox);
    }

    /// Handles one hop of a report on a flow; `before` is the latency of the flow's previous packet at that
    /// hop.
    #[inline(always)]
    fn handle_latency(&mut self, hop: &Sample<'_>, before: Nanos, outbox: &mut Outbox) {
        let _ = (hop, before, outbox);
    }

    /// Handles a report with a metadata stack.
    #[inline(always)]
    fn handle_stack(&mut self, stack: &SeenStack<'_>, network: &Network, outbox: &mut Outbox) {
        let _ = (stack, network, outbox);
    }

    /// Handles the report of one node in MX or XD mode, before its flow does.
    #[inline(always)]
    fn handle_postcard(&mut self, postcard: &SeenStack<'_>, network: &Network, outbox: &mut Outbox) {
        let _ = (postcard, network, outbox);
    }

    /// Handles the time a packet took over a link.
    #[inline(always)]
    fn handle_crossing(&mut self, crossing: &Crossing<'_>, network: &Network, outbox: &mut Outbox) {
        let _ = (crossing, network, outbox);
    }

    /// Handles a path that is new to its flow.
    fn handle_path(&mut self, path: &SeenPath<'_>, network: &Network, outbox: &mut Outbox) {
        let _ = (path, network, outbox);
    }

    /// Handles a change of path, and later its outcome.
    fn handle_change(&mut self, change: &SeenChange, network: &Network, outbox: &mut Outbox) {
        let _ = (change, network, outbox);
    }

    /// Handles a flow that ends at a link although no node reports a drop, as long as it does.
    fn handle_stop(&mut self, stop: &Stop, outbox: &mut Outbox) {
        let _ = (stop, outbox);
    }

    /// Handles the eviction of a flow, whose place another one may take.
    fn handle_eviction(&mut self, index: FlowIndex, entry: &FlowEntry, now: Nanos, outbox: &mut Outbox) {
        let _ = (index, entry, now, outbox);
    }

    /// Handles the release of a port, whose place and those of its queues others may take.
    fn handle_release(&mut self, released: &Released) {
        let _ = released;
    }

    /// Handles the release of a link, whose place another one may take.
    fn handle_link_release(&mut self, link: LinkIndex) {
        let _ = link;
    }

    /// Handles what keeps history from being written; `None` while it is written.
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

/// The settings shared by all detectors.
#[derive(Debug, Clone)]
pub(crate) struct Common {
    /// How late a report may be.
    pub(crate) settle: Nanos,
    /// The flows and nodes that are followed here.
    pub(crate) share: Share,
    /// Whether the nodes' clocks are configured as synchronous.
    pub(crate) synchronous_clocks: bool,
    /// The units of nodes' metadata.
    pub(crate) units: Units,
}

/// A report with hops on a followed flow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeenStack<'a> {
    pub(crate) flow: FlowIndex,
    pub(crate) sighting: &'a Sighting<'a>,
    /// Whether the hops are the whole known path.
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
    /// Whether these are all hops, as far as the reports show.
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

/// The stage of a change of path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeStage {
    /// A report has just shown it.
    Seen {
        /// Whether the path changes so often that this is the only stage shown.
        flaps: bool,
    },
    /// The old links have had time to show whether they still carry flows.
    Settled,
    /// The path changed again before that.
    Superseded,
    /// The flow was evicted before that.
    Forgotten,
}

/// A packet that crossed a link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crossing<'a> {
    pub(crate) link: LinkIndex,
    pub(crate) sighting: &'a Sighting<'a>,
    /// When it left the first end, by the clock there.
    pub(crate) sent_at: u64,
    /// When it reached the second end, by the clock there.
    pub(crate) came_at: u64,
}

/// A flow that the node at the end of a link has stopped reporting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stop {
    pub(crate) link: LinkIndex,
    pub(crate) ends: LinkEnds,
    pub(crate) flow: Flow,
    pub(crate) noticed_at: Nanos,
    pub(crate) phase: StopPhase,
    /// The latest report of a node before the link.
    pub(crate) report: ReportReference,
}

/// What has happened to a flow that ends at a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopPhase {
    /// The node behind the link has been silent on it since then.
    Begins { silent_since: Nanos },
    /// The node before the link still reports it, and none behind.
    GoesOn,
    /// It passes the link again.
    Over,
}

/// A detector whose state is kept by the streams it examines.
#[derive(Debug)]
pub(crate) struct Elsewhere<S>(PhantomData<S>);

impl<S> Detector for Elsewhere<S> {
    type Settings = S;

    fn new(_: &S, _: &Common) -> Self {
        Self(PhantomData)
    }
}

/// The settings of a detector that has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoSettings;
