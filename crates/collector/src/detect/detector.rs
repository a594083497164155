//! What every detector is: settings, state, and the events of one subject.

use std::net::{IpAddr, SocketAddr};

use inband_model::{Flow, Hop, Nanos, ReportReference};

use crate::outbox::Outbox;
use crate::ports::{PortIndex, Ports, Sample};
use crate::report::HopReading;

/// Looks at what reports show, and announces one kind of event, or some kinds that belong together.
///
/// A detector sees signs of a cause, and announces them by the outbox; when the event begins, goes on and ends is decided
/// there. What a detector does not look at costs nothing.
pub(crate) trait Detector: Sized {
    /// Its table below `[events]`.
    type Settings;

    /// Makes a detector that has seen nothing.
    fn new(settings: &Self::Settings) -> Self;

    /// Takes in a report.
    #[inline(always)]
    fn handle_report(&mut self, report: &SeenReport<'_>, outbox: &mut Outbox) {
        let _ = (report, outbox);
    }

    /// Takes in one hop of a report.
    #[inline(always)]
    fn handle_hop(&mut self, hop: &Sample<'_>, outbox: &mut Outbox) {
        let _ = (hop, outbox);
    }

    /// Takes in a path that is new to its flow, with all its hops.
    fn handle_path(&mut self, path: &SeenPath<'_>) {
        let _ = path;
    }

    /// Does what has become due.
    fn handle_timeout(&mut self, now: Nanos, fabric: &Fabric<'_>, outbox: &mut Outbox) {
        let _ = (now, fabric, outbox);
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

/// A report as detectors see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeenReport<'a> {
    pub(crate) report: ReportReference,
    /// Where it came from, and where it was sent to.
    pub(crate) from: IpAddr,
    pub(crate) session: SocketAddr,
    /// The flow of the reported packet, where it is known.
    pub(crate) flow: Option<Flow>,
    /// First hop first.
    pub(crate) hops: &'a [HopReading],
}

/// A path as detectors see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeenPath<'a> {
    pub(crate) now: Nanos,
    /// The report that shows it.
    pub(crate) report: ReportReference,
    pub(crate) hops: &'a [Hop],
    /// The egress port of each hop.
    pub(crate) ports: &'a [Option<PortIndex>],
}

/// What is known of the whole network.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fabric<'a> {
    pub(crate) ports: &'a Ports,
    /// A link without a report since then is out of service.
    pub(crate) alive_since: Nanos,
}
