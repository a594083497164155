//! A learning bridge.

use std::collections::HashMap;

use super::decision::{Arrival, Decision};
use crate::counts::Cause;

/// The port where each Ethernet address was last seen.
#[derive(Debug, Default)]
pub(crate) struct Learn {
    stations: HashMap<(u16, [u8; 6]), Station>,
    swept_at: u64,
}

#[derive(Clone, Copy, Debug)]
struct Station {
    port: usize,
    seen_at: u64,
}

/// How long an address is kept without frames from it, nanoseconds.
const AGEING_NS: u64 = 300 * 1_000_000_000;
/// How often expired addresses are removed, nanoseconds.
const SWEEP_NS: u64 = 10 * 1_000_000_000;
/// Maximum number of addresses; frames to others are flooded.
const MAX_STATIONS: usize = 16_384;
/// The prefix of addresses that bridges do not forward: those of the protocols between bridges.
const LINK_LOCAL: [u8; 5] = [0x01, 0x80, 0xc2, 0x00, 0x00];

impl Learn {
    pub(super) fn decide(&mut self, arrival: &Arrival<'_>) -> Decision {
        let Some((addresses, _)) = arrival.frame.split_first_chunk::<12>() else {
            return Decision::Drop(Cause::Malformed, None);
        };
        let [a, b, c, d, e, f, source @ ..] = *addresses;
        let destination = [a, b, c, d, e, f];
        let vlan = vlan(arrival.frame);
        self.learn(vlan, source, arrival);
        if is_group(destination) {
            let reserved = destination.starts_with(&LINK_LOCAL) && f & 0xf0 == 0;
            return if reserved { Decision::Drop(Cause::NotForwarded, None) } else { Decision::Flood };
        }
        let known = self.stations.get(&(vlan, destination));
        let fresh = known.filter(|station| arrival.now.saturating_sub(station.seen_at) < AGEING_NS);
        match fresh {
            None => Decision::Flood,
            Some(station) if station.port == arrival.ingress => Decision::Drop(Cause::SameInterface, None),
            Some(station) => Decision::Port { port: station.port, rewrite: None },
        }
    }

    fn learn(&mut self, vlan: u16, source: [u8; 6], arrival: &Arrival<'_>) {
        if is_group(source) {
            return;
        }
        if arrival.now.saturating_sub(self.swept_at) >= SWEEP_NS {
            self.swept_at = arrival.now;
            self.stations.retain(|_, station| arrival.now.saturating_sub(station.seen_at) < AGEING_NS);
        }
        let station = Station { port: arrival.ingress, seen_at: arrival.now };
        if self.stations.len() < MAX_STATIONS || self.stations.contains_key(&(vlan, source)) {
            self.stations.insert((vlan, source), station);
        }
    }
}

fn is_group(address: [u8; 6]) -> bool {
    let [first, ..] = address;
    first & 1 != 0
}

/// The VLAN of a frame; 0: no tag.
fn vlan(frame: &[u8]) -> u16 {
    match frame.get(12..16) {
        Some([0x81, 0x00, high, low] | [0x88, 0xa8, high, low]) => u16::from_be_bytes([*high, *low]) & 0xfff,
        _ => 0,
    }
}
