//! A frame to forward, and the decision about it.

use std::net::IpAddr;

use inband_wire::layers::Fragment;
use inband_wire::{FiveTuple, Layers};

use super::icmp::Message;
use crate::counts::Cause;

/// The decision about a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It leaves by this port, with these Ethernet addresses.
    Port { port: usize, rewrite: Option<Rewrite> },
    /// It leaves by every port but its ingress.
    Flood,
    /// It is passed to the host's own stack.
    Host,
    /// It is dropped; its sender may be notified.
    Drop(Cause, Option<Message>),
    /// It waits until this neighbour's Ethernet address is known.
    Wait(Neighbour),
}

/// The addresses that a router sets in a frame; it also decrements the time to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rewrite {
    pub(crate) destination: [u8; 6],
    pub(crate) source: [u8; 6],
}

/// A neighbour: interface index and address.
pub(crate) type Neighbour = (u32, IpAddr);

/// A frame to forward.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    pub(crate) frame: &'a [u8],
    /// The headers of the IP packet; `None`: not IP.
    pub(crate) layers: Option<&'a Layers>,
    pub(crate) ingress: usize,
    /// Nanoseconds.
    pub(crate) now: u64,
}

/// A number that is equal for all packets of a flow; different seeds make switches choose independently.
pub(super) fn flow_hash(frame: &[u8], layers: &Layers, seed: u32) -> u32 {
    let mut tuple = layers.five_tuple(frame);
    // Only the first fragment has ports, and the others take the same path.
    if layers.fragment != Fragment::Whole {
        tuple = FiveTuple { source_port: 0, destination_port: 0, ..tuple };
    }
    let mut state = tuple.entropy() ^ seed.wrapping_mul(0x9e37_79b9);
    state = (state ^ (state >> 16)).wrapping_mul(0x85eb_ca6b);
    state = (state ^ (state >> 13)).wrapping_mul(0xc2b2_ae35);
    state ^ (state >> 16)
}
