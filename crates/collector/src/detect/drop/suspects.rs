//! The flows that may be blackholed at a place.

use hashbrown::HashMap;
use inband_model::{Flow, ReportReference};

use super::dropped::Dropped;
use super::room::Room;
use super::tally::Tally;

/// The flows of a place whose packets a node could not forward, at most [`MAX_FLOWS`].
#[derive(Debug, Default)]
pub(super) struct Suspects {
    by_flow: HashMap<Flow, Suspect>,
}

/// A flow whose packets a node could not forward.
#[derive(Debug, Clone, Copy)]
pub(super) struct Suspect {
    pub(super) flow: Flow,
    /// TTL of its packets at the node.
    pub(super) ttl: Option<u8>,
    /// Its first and its latest drop report.
    pub(super) first: ReportReference,
    pub(super) last: ReportReference,
    reports: u64,
    packets: u64,
}

impl Suspects {
    pub(super) fn is_empty(&self) -> bool {
        self.by_flow.is_empty()
    }

    /// Adds a drop report of a flow.
    pub(super) fn take(&mut self, flow: Flow, dropped: &Dropped, room: &mut Room) {
        let Dropped { report, ttl, packets, .. } = *dropped;
        self.add(Suspect { flow, ttl, first: report, last: report, reports: 1, packets }, room);
    }

    /// Adds other suspects, whose reports are later ones.
    pub(super) fn merge(&mut self, other: Self, room: &mut Room) {
        room.free(other.by_flow.len());
        other.by_flow.into_values().for_each(|suspect| self.add(suspect, room));
    }

    /// Frees the room of the flows and returns them, in the order of their first reports.
    pub(super) fn release(self, room: &mut Room) -> Vec<Suspect> {
        room.free(self.by_flow.len());
        let mut suspects: Vec<Suspect> = self.by_flow.into_values().collect();
        suspects.sort_unstable_by_key(|suspect| {
            (suspect.first.received_at, suspect.first.sequence, suspect.flow)
        });
        suspects
    }

    fn add(&mut self, suspect: Suspect, room: &mut Room) {
        if let Some(known) = self.by_flow.get_mut(&suspect.flow) {
            known.last = suspect.last;
            known.reports += suspect.reports;
            known.packets += suspect.packets;
        } else if self.by_flow.len() < MAX_FLOWS && room.take(1) {
            self.by_flow.insert(suspect.flow, suspect);
        }
    }
}

impl Suspect {
    /// Adds its drops to a tally.
    pub(super) fn add_to(&self, tally: &mut Tally, ids: &mut Room) {
        tally.reports += self.reports;
        tally.packets += self.packets;
        tally.flows.add(&self.flow, ids);
    }
}

/// Maximum number of flows of a place that are judged together.
const MAX_FLOWS: usize = 1_024;
