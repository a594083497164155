//! The maps and structures shared with the programs in the kernel; `bpf/intf.h` defines them in C.

use std::net::{IpAddr, Ipv6Addr};

use zerocopy::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The INT settings of one device, as the programs read them (`struct config`).
#[derive(Clone, Copy, Debug, Default, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Config {
    pub(crate) node_id: u32,
    pub(crate) ingress_interface: u16,
    pub(crate) egress_interface: u16,
    pub(crate) ingress_interface_level2: u32,
    pub(crate) egress_interface_level2: u32,
    /// What is added to the monotonic clock, nanoseconds.
    pub(crate) clock_offset: u64,
    pub(crate) egress_utilization: u32,
    /// The largest IP packet that may leave, bytes.
    pub(crate) mtu: u32,
    pub(crate) instructions: u16,
    pub(crate) udp_port: u16,
    pub(crate) carriage: u8,
    pub(crate) mode: u8,
    pub(crate) dscp: u8,
    pub(crate) dscp_mask: u8,
    pub(crate) before_tcp_options: u8,
    pub(crate) restore_dscp: u8,
    pub(crate) own_metadata: u8,
    pub(crate) discard: u8,
    pub(crate) hop_words: u8,
    pub(crate) remaining_hops: u8,
    pub(crate) complement: u8,
    pub(crate) version: u8,
    /// Interface index where watched packets enter the shim; 0: no shim.
    pub(crate) shim_in: u32,
    /// Interface index where they leave the shim.
    pub(crate) shim_out: u32,
    /// Interface index of the device that leads into the domain.
    pub(crate) device: u32,
    /// Minimum time between two events of a flow, microseconds; 0: an event for every packet.
    pub(crate) interval_us: u32,
    /// Bytes that INT may add to a segment along the whole path.
    pub(crate) room: u32,
    /// Whether one packet of a flow gets INT in each interval; 0: every packet does.
    pub(crate) slices: u32,
}

/// What a watchlist rule matches besides its prefixes (`struct rule`).
#[derive(Clone, Copy, Debug, Default, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Rule {
    pub(crate) protocol: u8,
    pub(crate) any_protocol: u8,
    pub(crate) ports: u8,
    pub(crate) except: u8,
    pub(crate) source_first: u16,
    pub(crate) source_last: u16,
    pub(crate) destination_first: u16,
    pub(crate) destination_last: u16,
}

/// Maximum number of watchlist rules: one bit each in the prefix maps.
pub(crate) const MAX_RULES: usize = 64;

/// Maximum number of collectors whose reports are never watched.
pub(crate) const MAX_COLLECTORS: usize = 8;

/// The destination of reports (`struct collector`).
#[derive(Clone, Copy, Debug, Default, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Collector {
    /// IPv4 is mapped into ::ffff:0:0/96.
    pub(crate) address: [u8; 16],
    pub(crate) port: U16,
    pub(crate) padding: u16,
}

/// The watchlist without its prefixes (`struct rules`).
#[derive(Clone, Copy, Debug, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Rules {
    /// Rules whose source may be any address, a bit each.
    pub(crate) any_source: u64,
    /// Rules whose destination may be any address, a bit each.
    pub(crate) any_destination: u64,
    pub(crate) count: u32,
    pub(crate) collectors: u32,
    pub(crate) rule: [Rule; MAX_RULES],
    pub(crate) collector: [Collector; MAX_COLLECTORS],
    /// The agents' own UDP port; 0: none.
    pub(crate) control_port: U16,
    pub(crate) padding: [u16; 3],
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            any_source: 0,
            any_destination: 0,
            count: 0,
            collectors: 0,
            rule: [Rule::default(); MAX_RULES],
            collector: [Collector::default(); MAX_COLLECTORS],
            control_port: U16::ZERO,
            padding: [0; 3],
        }
    }
}

/// The hosts behind a prefix of `[[peer]]` (`struct peer`).
#[derive(Clone, Copy, Debug, Default, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Peer {
    /// See [`crate::peers`].
    pub(crate) flags: u32,
    pub(crate) padding: u32,
}

/// An address as a prefix of its whole length (`struct prefix`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Address {
    pub(crate) length: u32,
    pub(crate) bytes: [u8; 16],
}

impl Address {
    pub(crate) const fn of(address: IpAddr) -> Self {
        Self { length: 128, bytes: mapped(address) }
    }
}

/// An address in 16 bytes, IPv4 mapped into IPv6.
pub(crate) const fn mapped(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// The address that [`mapped`] gives these bytes.
pub(crate) fn unmapped(bytes: [u8; 16]) -> IpAddr {
    Ipv6Addr::from(bytes).to_canonical()
}

/// A flow (`struct flow`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct FlowKey {
    pub(crate) source: Address,
    pub(crate) destination: Address,
    pub(crate) source_port: U16,
    pub(crate) destination_port: U16,
    pub(crate) protocol: u32,
}

/// The proof that the destination of a flow removes INT (`struct proof`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Proof {
    /// INT is started until this time of the monotonic clock, nanoseconds.
    pub(crate) until: u64,
    /// From this time on the flow's packets raise events, so that the agent probes again.
    pub(crate) renew_at: u64,
    /// When such an event was last raised.
    pub(crate) told: u64,
    /// The largest packet that was proven, bytes of IP.
    pub(crate) mtu: u32,
    pub(crate) padding: u32,
}

/// A flow whose packets the agent awaits at the ingress (`struct witness`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Witness {
    pub(crate) flow: FlowKey,
    /// The device the flow's probe came in by.
    pub(crate) device: u32,
    /// Whether a packet of the flow has arrived there since.
    pub(crate) seen: u32,
}

/// An outgoing flow whose packets with INT the agent counts (`struct sliced_flow`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct SlicedFlow {
    pub(crate) started: u64,
    pub(crate) entered: u64,
    /// How many packets have left with INT.
    pub(crate) with_int: u64,
    pub(crate) quiet_until: u64,
    pub(crate) watched_at: u32,
    pub(crate) is_due: u32,
}

/// Maximum number of flows awaited at the ingress.
pub(crate) const MAX_WITNESSES: u32 = 4096;

/// Maximum bytes of a packet that an event carries.
pub(crate) const EVENT_BYTES: usize = 512;

/// A packet that is worth a report (`struct event`).
#[derive(Clone, Copy, Debug, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Event {
    /// When it was seen, nanoseconds of the agent's clock.
    pub(crate) time: u64,
    pub(crate) length: u32,
    pub(crate) captured: u32,
    pub(crate) device: u32,
    pub(crate) kind: u32,
    /// Queue id and occupancy of an outgoing packet; all ones: not available.
    pub(crate) queue: u32,
    /// For flows without a proof, the largest packet known to reach the destination; for probes, the number
    /// of the flow's packets with INT counted so far.
    pub(crate) mtu: u32,
    pub(crate) bytes: [u8; EVENT_BYTES],
}

/// Values of [`Event::kind`] (`enum event_kind`).
pub(crate) mod event_kind {
    pub(crate) const ARRIVED: u32 = 0;
    pub(crate) const LEAVES: u32 = 1;
    pub(crate) const UNPROVEN: u32 = 2;
    pub(crate) const PROBE: u32 = 3;
    pub(crate) const ANSWER: u32 = 4;
}

/// Index of the kernel's traffic volumes: everything watched.
pub(crate) const WATCHED: u32 = 0;
/// The part of it that left with INT.
pub(crate) const WITH_INT: u32 = 1;

// `intf.h` asserts the same sizes; the tests compare all field offsets with the description in the object.
const _: () = assert!(size_of::<Config>() == 72);
const _: () = assert!(size_of::<Rule>() == 12);
const _: () = assert!(size_of::<Rules>() == 32 + 12 * MAX_RULES + 20 * MAX_COLLECTORS);
const _: () = assert!(size_of::<Peer>() == 8);
const _: () = assert!(size_of::<FlowKey>() == 48);
const _: () = assert!(size_of::<Proof>() == 32);
const _: () = assert!(size_of::<Witness>() == 56);
const _: () = assert!(size_of::<SlicedFlow>() == 40);
const _: () = assert!(size_of::<Collector>() == 20);
const _: () = assert!(size_of::<Event>() == 32 + EVENT_BYTES);

#[cfg(test)]
mod tests;
