//! The flows of a fabric.

use std::collections::HashMap;

use inband_wire::FiveTuple;
use thiserror::Error;

use crate::flow::FlowConfig;
use crate::tcp::receiver::Receiver;
use crate::tcp::sender::Sender;
use crate::time::Nanos;
use crate::udp::Source;

/// The flows of a fabric, by number and by the addresses of their packets.
#[derive(Debug, Default)]
pub(super) struct Flows {
    pub(super) list: Vec<Flow>,
    /// The flow that packets belong to, and the direction they take.
    pub(super) index: HashMap<FiveTuple, (usize, Direction)>,
}

/// A flow that is going on, or will be.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) config: FlowConfig,
    pub(super) ends: Ends,
    /// The earliest timer event that is scheduled; later ones are stale.
    pub(super) timer_at: Option<Nanos>,
    pub(super) received_bytes: u64,
}

/// Which way a packet of a flow goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the host that opened the flow.
    Forth,
    /// To it.
    Back,
}

/// What the two ends of a flow keep.
#[derive(Debug)]
pub(super) enum Ends {
    Tcp { client: Sender, client_initial: u32, server: Receiver, server_initial: u32 },
    Udp { source: Source, key: u64 },
}

/// Why a flow cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FlowError {
    /// A host does not exist.
    #[error("there is no host {0}: hosts are numbered from 0 to {1}")]
    NoSuchHost(usize, usize),
    /// Source and destination are the same.
    #[error("host {0} cannot send to itself through the fabric")]
    ToItself(usize),
    /// A flow with these addresses and ports exists, in this or the other direction.
    #[error("there is already a flow {0}")]
    Exists(FiveTuple),
    /// Datagrams would not fit the MTU.
    #[error("a payload of {0} bytes does not fit an MTU of 1500: 1472 is the most")]
    PayloadTooLong(u16),
    /// The fabric carries as many flows as it can.
    #[error("the fabric carries {MAX_FLOWS} flows, no more are possible")]
    TooMany,
}

/// Flows a fabric carries at most, ended ones included.
pub(super) const MAX_FLOWS: usize = 65_536;

/// An MTU of 1500 less IPv4 and UDP headers.
pub(super) const MAX_PAYLOAD_BYTES: u16 = 1_472;
