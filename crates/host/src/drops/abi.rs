//! The maps and structures shared with the drop program; `bpf/drops.h` defines them in C.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::abi::Config;

/// A prefix of its whole length (`struct prefix`).
#[derive(Clone, Copy, Debug, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(super) struct Address {
    pub(super) length: u32,
    pub(super) bytes: [u8; 16],
}

/// A flow (`struct flow`); ports in network byte order.
#[derive(Clone, Copy, Debug, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(super) struct Flow {
    pub(super) source: Address,
    pub(super) destination: Address,
    pub(super) source_port: [u8; 2],
    pub(super) destination_port: [u8; 2],
    pub(super) protocol: u32,
}

/// Policy of a reason: nothing was lost (`NOT_LOST`).
pub(super) const NOT_LOST: u32 = 1;
/// Policy of a reason: a classifier drops packets for it (`BY_CLASSIFIER`).
pub(super) const BY_CLASSIFIER: u32 = 2;
/// Policy of a reason: the kernel gives none (`WITHOUT_REASON`).
pub(super) const WITHOUT_REASON: u32 = 4;
/// Reasons that have a policy (`MAX_REASONS`).
pub(super) const MAX_REASONS: u32 = 512;

/// What the agent asks for (`struct drop_settings`).
#[derive(Clone, Copy, Debug, Default, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(super) struct Settings {
    pub(super) config: Config,
    pub(super) generation: u32,
    /// Whether counting has ended; 0: it continues.
    pub(super) is_over: u32,
}

/// The key that packets are counted by (`struct drop_key`).
#[derive(Clone, Copy, Debug, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(super) struct Key {
    pub(super) flow: Flow,
    pub(super) reason: u32,
    pub(super) device: u32,
    pub(super) generation: u32,
    pub(super) ttl_used_up: u16,
    pub(super) route_error: u16,
    pub(super) namespace: u32,
    pub(super) padding: u32,
}

/// The count of one key (`struct drop_count`).
#[derive(Clone, Copy, Debug, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(super) struct Count {
    pub(super) packets: u64,
    pub(super) segments: u64,
    pub(super) bytes: u64,
    pub(super) first: u64,
    pub(super) last: u64,
}

/// Maximum bytes of a packet that a sample carries.
pub(super) const SAMPLE_BYTES: usize = 240;

/// The first packet of a count (`struct drop_sample`).
#[derive(Clone, Copy, Debug, IntoBytes, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(super) struct Sample {
    pub(super) time: u64,
    pub(super) location: u64,
    pub(super) reason: u32,
    pub(super) device: u32,
    pub(super) ingress_device: u32,
    pub(super) length: u32,
    pub(super) captured: u32,
    pub(super) ttl_used_up: u16,
    pub(super) route_error: u16,
    pub(super) namespace: u32,
    pub(super) padding: u32,
    pub(super) bytes: [u8; SAMPLE_BYTES],
}

// `drops.h` asserts the same sizes.
const _: () = assert!(size_of::<Flow>() == 48);
const _: () = assert!(size_of::<Settings>() == size_of::<Config>() + 8);
const _: () = assert!(size_of::<Key>() == 72);
const _: () = assert!(size_of::<Count>() == 40);
const _: () = assert!(size_of::<Sample>() == 48 + SAMPLE_BYTES);
