//! A frame that is to be forwarded, and what becomes of it.

use std::net::IpAddr;

use inband_wire::layers::Fragment;
use inband_wire::{FiveTuple, Layers};

use super::icmp::Message;
use crate::counts::Cause;

/// What becomes of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It leaves by this port, with these Ethernet addresses.
    Port { port: usize, rewrite: Option<Rewrite> },
    /// It leaves by every port but the one it came in by.
    Flood,
    /// The switch's own stack has it.
    Host,
    /// It goes nowhere, and its sender may hear why.
    Drop(Cause, Option<Message>),
    /// It waits until this neighbour's Ethernet address is known.
    Wait(Neighbour),
}

/// What a router changes in a frame; the time to live goes down as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rewrite {
    pub(crate) destination: [u8; 6],
    pub(crate) source: [u8; 6],
}

/// A neighbour: interface index and address.
pub(crate) type Neighbour = (u32, IpAddr);

/// A frame that is to be forwarded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    pub(crate) frame: &'a [u8],
    /// The headers of the IP packet, where it is one.
    pub(crate) layers: Option<&'a Layers>,
    pub(crate) ingress: usize,
    /// Nanoseconds.
    pub(crate) now: u64,
}

/// A number that is the same for all packets of a flow; `seed` has switches choose independently.
pub(super) fn flow_hash(frame: &[u8], layers: &Layers, seed: u32) -> u32 {
    let mut tuple = layers.five_tuple(frame);
    // Only the first fragment has ports, and the others go the same way.
    if layers.fragment != Fragment::Whole {
        tuple = FiveTuple { source_port: 0, destination_port: 0, ..tuple };
    }
    let mut state = tuple.entropy() ^ seed.wrapping_mul(0x9e37_79b9);
    state = (state ^ (state >> 16)).wrapping_mul(0x85eb_ca6b);
    state = (state ^ (state >> 13)).wrapping_mul(0xc2b2_ae35);
    state ^ (state >> 16)
}
