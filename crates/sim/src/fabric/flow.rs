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
    /// The flow of a packet, and the packet's direction.
    pub(super) index: HashMap<FiveTuple, (usize, Direction)>,
}

/// A flow that is active or scheduled.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) config: FlowConfig,
    pub(super) ends: Ends,
    /// The earliest timer event that is scheduled; later ones are stale.
    pub(super) timer_at: Option<Nanos>,
    pub(super) received_bytes: u64,
}

/// The direction of a packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the host that opened the flow.
    Forth,
    /// To the host that opened the flow.
    Back,
}

/// The state of a flow's two ends.
#[derive(Debug)]
pub(super) enum Ends {
    Tcp { client: Sender, client_initial: u32, server: Receiver, server_initial: u32 },
    Udp { source: Source, key: u64 },
}

/// The reason a flow cannot be added.
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
    /// The fabric has reached its maximum number of flows.
    #[error("the fabric carries {MAX_FLOWS} flows, no more are possible")]
    TooMany,
}

/// Maximum number of flows of a fabric, including ended ones.
pub(super) const MAX_FLOWS: usize = 65_536;

/// An MTU of 1500 less IPv4 and UDP headers.
pub(super) const MAX_PAYLOAD_BYTES: u16 = 1_472;
