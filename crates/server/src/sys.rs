//! System calls for reception that no safe crate offers.
//!
//! `recvmmsg` of the `nix` crate leaves the lengths of the last call in the headers, so the segment size is
//! missing from the second call on; `SO_MEMINFO`, `UDP_GRO` and `sched_setscheduler` are in none.
#![allow(unsafe_code)]

mod messages;
mod options;
mod priority;
mod steering;

pub(crate) use self::messages::{Message, Messages};
#[cfg(test)]
pub(crate) use self::options::send_in_segments;
pub(crate) use self::options::{dropped, force_receive_buffer, name_destinations, offload_segments};
pub(crate) use self::priority::run_first;
pub(crate) use self::steering::steer;
