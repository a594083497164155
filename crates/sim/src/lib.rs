//! A fabric in virtual time: switches with real queues, hosts with real packets, and the INT of both.
//!
//! [`Fabric`] is a discrete-event simulation of a leaf-spine network. Time is counted in nanoseconds and
//! passes only when [`Fabric::run_until`] is called, so a run is the same on every machine and as fast as the
//! machine allows. Queue occupancies are in bytes.

mod egress_port;
mod egress_queue;
mod event_queue;
mod fabric;
mod flow;
mod frame;
mod host;
mod ledger;
mod link;
mod packet;
mod random;
mod routing;
mod scenario;
mod switch;
mod tcp;
mod time;
mod topology;
mod udp;

pub use fabric::{Fabric, FabricConfig, FabricError, FlowError, Report};
pub use flow::{Bursts, FlowConfig, TcpTraffic, Traffic, UdpTraffic, Writes};
pub use ledger::{DropReason, Ledger, Mismatch};
pub use link::LinkConfig;
pub use packet::TrueHop;
pub use routing::MAX_WEIGHT;
pub use scenario::{Action, Incast};
pub use time::{MICROSECOND, MILLISECOND, Nanos, SECOND};
pub use topology::{LeafSpine, TopologyError};
