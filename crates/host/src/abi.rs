//! What do the agent and the programs in the kernel tell each other? `bpf/intf.h` says the same in C.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// One host's INT, as the programs read it (`struct config`).
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
    /// The largest IP packet that leaves, bytes.
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
    pub(crate) padding: u8,
    /// Interface index where watched packets enter the shim; 0: there is none.
    pub(crate) shim_in: u32,
    /// Interface index where they come out of it.
    pub(crate) shim_out: u32,
    /// Interface index of the device that leads into the domain.
    pub(crate) device: u32,
    /// Longest time between two events of a flow, microseconds; 0: an event for every packet.
    pub(crate) interval_us: u32,
}

/// What a rule of the watchlist asks beside its prefixes (`struct rule`).
#[derive(Clone, Copy, Debug, Default, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Rule {
    pub(crate) protocol: u8,
    pub(crate) any_protocol: u8,
    pub(crate) ports: u8,
    pub(crate) padding: u8,
    pub(crate) source_first: u16,
    pub(crate) source_last: u16,
    pub(crate) destination_first: u16,
    pub(crate) destination_last: u16,
}

/// Most rules of the watchlist: one bit each in the prefix maps.
pub(crate) const MOST_RULES: usize = 64;

/// The watchlist beside its prefixes (`struct rules`).
#[derive(Clone, Copy, Debug, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Rules {
    /// Rules whose source may be any address, a bit each.
    pub(crate) any_source: u64,
    /// Rules whose destination may be any address, a bit each.
    pub(crate) any_destination: u64,
    pub(crate) count: u32,
    pub(crate) padding: u32,
    pub(crate) rule: [Rule; MOST_RULES],
}

impl Default for Rules {
    fn default() -> Self {
        Self { any_source: 0, any_destination: 0, count: 0, padding: 0, rule: [Rule::default(); MOST_RULES] }
    }
}

/// Most of a packet that an event carries, bytes.
pub(crate) const EVENT_BYTES: usize = 256;

/// A packet that is worth a report (`struct event`).
#[derive(Clone, Copy, Debug, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Event {
    /// When it was seen, nanoseconds of the agent's clock.
    pub(crate) time: u64,
    pub(crate) length: u32,
    pub(crate) captured: u32,
    pub(crate) device: u32,
    pub(crate) padding: u32,
    pub(crate) bytes: [u8; EVENT_BYTES],
}

// `intf.h` asserts the same sizes.
const _: () = assert!(size_of::<Config>() == 64);
const _: () = assert!(size_of::<Rule>() == 12);
const _: () = assert!(size_of::<Rules>() == 24 + 12 * MOST_RULES);
const _: () = assert!(size_of::<Event>() == 24 + EVENT_BYTES);
