//! Packets waiting for a neighbour's Ethernet address.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};

use crate::follow::Tables;
use crate::forward::Neighbour;
use crate::packet::Packet;

/// Packets waiting for a neighbour's Ethernet address.
#[derive(Debug, Default)]
pub(crate) struct Waiting(HashMap<Neighbour, Line>);

/// The packets waiting for one neighbour.
#[derive(Debug)]
struct Line {
    packets: VecDeque<Packet>,
    /// Nanoseconds.
    since: u64,
}

/// The result of queueing a packet.
#[derive(Debug)]
pub(crate) enum Wait {
    /// It is the first packet for its neighbour, which has to be resolved.
    First,
    /// It was queued behind others.
    Queued,
    /// There is no room for it.
    Refused(Packet),
}

impl Waiting {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Holds a packet until `neighbour` is known.
    pub(crate) fn push(&mut self, neighbour: Neighbour, packet: Packet, now: u64) -> Wait {
        let lines = self.0.len();
        match self.0.entry(neighbour) {
            Entry::Occupied(mut known) if known.get().packets.len() < MAX_IN_LINE => {
                known.get_mut().packets.push_back(packet);
                Wait::Queued
            }
            Entry::Vacant(new) if lines < MAX_LINES => {
                new.insert(Line { packets: VecDeque::from([packet]), since: now });
                Wait::First
            }
            Entry::Occupied(_) | Entry::Vacant(_) => Wait::Refused(packet),
        }
    }

    /// Takes the packets whose neighbour is in `tables`.
    pub(crate) fn take_resolved(&mut self, tables: &Tables) -> Vec<Packet> {
        self.take(|neighbour, _| tables.neighbour(neighbour).is_some())
    }

    /// Takes the packets that have waited too long at `now`.
    pub(crate) fn take_expired(&mut self, now: u64) -> Vec<Packet> {
        self.take(|_, line| now.saturating_sub(line.since) >= PATIENCE_NS)
    }

    /// Takes all packets.
    pub(crate) fn take_all(&mut self) -> Vec<Packet> {
        self.take(|_, _| true)
    }

    /// The number of packets that came in by a port.
    pub(crate) fn count(&self, ingress: usize) -> usize {
        let packets = self.0.values().flat_map(|line| &line.packets);
        packets.filter(|packet| packet.ingress == Some(ingress)).count()
    }

    fn take(&mut self, is_over: impl Fn(Neighbour, &Line) -> bool) -> Vec<Packet> {
        let over = self.0.extract_if(|neighbour, line| is_over(*neighbour, line));
        over.flat_map(|(_, line)| line.packets).collect()
    }
}

/// Maximum number of unresolved neighbours, and of packets for each.
const MAX_LINES: usize = 256;
const MAX_IN_LINE: usize = 64;
/// How long packets wait for a neighbour: as long as the kernel tries to resolve it.
const PATIENCE_NS: u64 = 3_000_000_000;
