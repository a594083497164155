//! The detectors, one file or folder for each subject of events, and the settings of all events.

pub(crate) mod congestion;
pub(crate) mod detector;
mod slots;

use inband_model::{Nanos, Silence, Units};
use serde::{Deserialize, Serialize};

use crate::book::Book;
use crate::flows::{FlowEntry, FlowIndex};
use crate::network::Network;
use crate::outbox::Outbox;
use crate::paths::LinkIndex;
use crate::ports::{Ports, Released, Sample};
use crate::sighting::Sighting;

pub use self::detector::NoSettings;

use self::congestion::CongestionStep;
use self::detector::{Common, Crossing, Detector, SeenChange, SeenPath, SeenStack, Stop};

/// Builds the settings of all events and the list of detectors from the register of events: each detector has
/// a module of its name with a type `State`, the detector, and a type `Settings`, its table below `[events]`.
macro_rules! detectors {
    ($($(#[$setting:meta])+ $detector:ident { $($kinds:tt)+ })+) => {
        $(
            pub(crate) mod $detector;
            #[allow(unused_imports, unreachable_pub, reason = "some have no settings to name")]
            pub use self::$detector::*;
        )+

        /// What is announced, and when: `[events]`.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct EventSettings {
            /// Events active at the same time; more are announced but not tracked. Default 4096: about 5 MB.
            pub max_active: usize,
            /// Past events that are shown without querying the store. Default 4096: about 5 MB.
            pub max_past: usize,
            /// Silenced events: `[[events.silence]]`. Default: none.
            pub silence: Vec<Silence>,
            $($(#[$setting])+ pub $detector: self::$detector::Settings,)+
            /// The units of nodes' metadata, from the names file. Default: unknown.
            #[serde(skip)]
            pub units: Units,
        }

        impl Default for EventSettings {
            fn default() -> Self {
                Self {
                    max_active: 4_096,
                    max_past: 4_096,
                    silence: Vec::new(),
                    $($detector: Default::default(),)+
                    units: Units::default(),
                }
            }
        }

        /// The state of all detectors.
        #[derive(Debug)]
        pub(crate) struct Detectors {
            $(pub(crate) $detector: self::$detector::State,)+
        }

        impl Detectors {
            pub(crate) fn new(settings: &EventSettings, common: &Common) -> Self {
                Self { $($detector: Detector::new(&settings.$detector, common),)+ }
            }

            /// Handles a report.
            #[inline]
            pub(crate) fn handle_report(
                &mut self,
                sighting: &Sighting<'_>,
                network: &Network,
                outbox: &mut Outbox,
            ) {
                $(self.$detector.handle_report(sighting, network, outbox);)+
            }

            /// Handles one hop of a report.
            #[inline(always)]
            pub(crate) fn handle_hop(&mut self, hop: &Sample<'_>, ports: &Ports, outbox: &mut Outbox) {
                $(self.$detector.handle_hop(hop, ports, outbox);)+
            }

            /// Whether a detector has pending steps of congestion.
            #[inline]
            pub(crate) fn has_congestion(&self) -> bool {
                $(self.$detector.has_congestion())||+
            }

            /// The next pending step of congestion of a detector.
            #[inline]
            pub(crate) fn poll_congestion(&mut self, outbox: &mut Outbox) -> Option<CongestionStep> {
                $(if let Some(step) = self.$detector.poll_congestion(outbox) {
                    return Some(step);
                })+
                None
            }

            /// Handles a step of congestion.
            pub(crate) fn handle_congestion(&mut self, step: &CongestionStep, outbox: &mut Outbox) {
                $(self.$detector.handle_congestion(step, outbox);)+
            }

            /// Handles one hop of a report on a flow; `before` is the latency of the flow's previous packet
            /// at that hop.
            #[inline]
            pub(crate) fn handle_latency(&mut self, hop: &Sample<'_>, before: Option<Nanos>, outbox: &mut Outbox) {
                if let Some(before) = before {
                    $(self.$detector.handle_latency(hop, before, outbox);)+
                }
            }

            /// Handles a report with a metadata stack.
            #[inline]
            pub(crate) fn handle_stack(
                &mut self,
                stack: &SeenStack<'_>,
                network: &Network,
                outbox: &mut Outbox,
            ) {
                $(self.$detector.handle_stack(stack, network, outbox);)+
            }

            /// Handles the report of one node in MX or XD mode, before its flow does.
            #[inline]
            pub(crate) fn handle_postcard(
                &mut self,
                postcard: &SeenStack<'_>,
                network: &Network,
                outbox: &mut Outbox,
            ) {
                $(self.$detector.handle_postcard(postcard, network, outbox);)+
            }

            /// Handles the time a packet took over a link.
            #[inline]
            pub(crate) fn handle_crossing(
                &mut self,
                crossing: &Crossing<'_>,
                network: &Network,
                outbox: &mut Outbox,
            ) {
                $(self.$detector.handle_crossing(crossing, network, outbox);)+
            }

            /// Handles a path that is new to its flow.
            pub(crate) fn handle_path(&mut self, path: &SeenPath<'_>, network: &Network, outbox: &mut Outbox) {
                $(self.$detector.handle_path(path, network, outbox);)+
            }

            /// Handles a change of path, and later its outcome.
            pub(crate) fn handle_change(&mut self, change: &SeenChange, network: &Network, outbox: &mut Outbox) {
                $(self.$detector.handle_change(change, network, outbox);)+
            }

            /// Handles a flow that ends at a link although no node reports a drop, as long as it does.
            pub(crate) fn handle_stop(&mut self, stop: &Stop, outbox: &mut Outbox) {
                $(self.$detector.handle_stop(stop, outbox);)+
            }

            /// Handles the eviction of a flow, whose place another one may take.
            pub(crate) fn handle_eviction(
                &mut self,
                index: FlowIndex,
                entry: &FlowEntry,
                now: Nanos,
                outbox: &mut Outbox,
            ) {
                $(self.$detector.handle_eviction(index, entry, now, outbox);)+
            }

            /// Handles the release of a port, whose place and those of its queues others may take.
            pub(crate) fn handle_release(&mut self, released: &Released) {
                $(self.$detector.handle_release(released);)+
            }

            /// Handles the release of a link, whose place another one may take.
            pub(crate) fn handle_link_release(&mut self, link: LinkIndex) {
                $(self.$detector.handle_link_release(link);)+
            }

            /// Handles what keeps history from being written; `None` while it is written.
            pub(crate) fn handle_history(&mut self, now: Nanos, trouble: Option<&str>, outbox: &mut Outbox) {
                $(self.$detector.handle_history(now, trouble, outbox);)+
            }

            /// Does what has become due.
            pub(crate) fn handle_timeout(&mut self, now: Nanos, network: &Network, outbox: &mut Outbox) {
                $(self.$detector.handle_timeout(now, network, outbox);)+
            }

            /// When `handle_timeout` has something to do.
            pub(crate) fn next_timeout(&self) -> Option<Nanos> {
                [$(self.$detector.next_timeout()),+].into_iter().flatten().min()
            }

            /// How often there was no room for an interface.
            pub(crate) fn unfollowed_ports(&self) -> u64 {
                [$(self.$detector.unfollowed_ports()),+].into_iter().sum()
            }
        }
    };
}

inband_model::event_kinds!(detectors);

impl EventSettings {
    /// The book of the active and past events.
    pub(crate) fn book(&self) -> Book {
        Book::new(self.max_active, self.max_past, &self.silence)
    }
}
