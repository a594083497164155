//! The time of the flow watchlist to decide about a packet.

use std::hint::black_box;
use std::net::Ipv4Addr;

use anyhow::{Result, ensure};
use inband_node::config::{Actions, PortRange, Prefix, Protocol, WatchEntry};
use inband_node::watchlist::{Subject as Packet, Watchlist};
use inband_wire::FiveTuple;

use crate::measure::Subject;

/// Packets of flows that are watched by entries all over the list, in an order without a pattern.
pub(crate) struct Watching {
    watchlist: Watchlist,
    packets: Vec<Packet>,
    watched: usize,
}

impl Watching {
    /// A list of `entries`: subnets, services inside subnets, single flows, a few ports.
    pub(crate) fn new(entries: u32) -> Self {
        let list: Vec<_> = (0..entries).map(entry).collect();
        let packets = (0..PACKETS).map(|number| packet(scatter(number) % entries)).collect();
        Self { watchlist: Watchlist::new(&list), packets, watched: 0 }
    }
}

impl Subject for Watching {
    fn items(&self) -> usize {
        self.packets.len()
    }

    fn prepare(&mut self) {
        self.watched = 0;
    }

    fn run(&mut self) {
        for packet in &self.packets {
            self.watched += usize::from(self.watchlist.actions(black_box(packet)) == Actions::ALL);
        }
    }

    fn verify(&mut self) -> Result<()> {
        ensure!(self.watched == self.packets.len(), "{} of {} are watched", self.watched, self.packets.len());
        Ok(())
    }
}

fn entry(number: u32) -> WatchEntry {
    let subnet = Prefix::new(subnet(number).into(), 24);
    let none = WatchEntry::default();
    match number % 4 {
        0 => WatchEntry { either: Some(subnet), ..none },
        1 => WatchEntry {
            destination: Some(subnet),
            protocol: Some(Protocol(6)),
            destination_port: Some(PortRange(SERVICE..=SERVICE)),
            ..none
        },
        2 => WatchEntry { source: Some(subnet), destination_port: Some(PortRange(1..=1023)), ..none },
        _ => WatchEntry {
            source: Some(Prefix::new(CLIENT.into(), 32)),
            destination: Some(Prefix::new(host(number).into(), 32)),
            protocol: Some(Protocol(6)),
            destination_port: Some(PortRange(SERVICE..=SERVICE)),
            ..none
        },
    }
}

/// A packet that is watched by the entry with this number.
fn packet(number: u32) -> Packet {
    let (client, server) = (CLIENT, host(number));
    let (source, destination) = if number % 4 == 2 { (server, client) } else { (client, server) };
    let flow = FiveTuple {
        source: source.into(),
        destination: destination.into(),
        protocol: 6,
        source_port: 40_000,
        destination_port: SERVICE,
    };
    Packet { flow, ..Packet::default() }
}

fn subnet(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(0x0a00_0000 + (number << 8))
}

fn host(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(subnet(number).to_bits() + 1)
}

/// Spreads small numbers over 32 bits.
fn scatter(number: u32) -> u32 {
    number.wrapping_mul(0x9e37_79b1).rotate_left(15).wrapping_mul(0x85eb_ca6b)
}

const PACKETS: u32 = 4096;
const SERVICE: u16 = 443;
const CLIENT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
