//! INT of the versions before 2.0: 1.0, 0.5, Host-INT and 2016.
//!
//! They share a metadata header of 8 bytes, an 8-bit type in the shim and a shim length that includes the
//! shim, so they share the code. [`support`] checks the configuration, [`instructions`] maps instructions to
//! bits, [`read`] decides whether a packet carries such INT, [`request`] reads what it asks of a hop,
//! [`source`] and [`transit`] implement the roles; insertion and removal are in `encapsulation`, with those
//! of 2.1.

mod flags;
mod instructions;
mod read;
mod request;
mod source;
mod support;
mod transit;

pub(crate) use flags::{exempt, mark_copy};
pub(crate) use instructions::in_2_1;
pub(crate) use read::{before_tcp_options, behind_tcp_port, check_header, is_announced, settle};
pub(crate) use source::{EarlierNumbers, EarlierSource};
pub(crate) use support::check;
pub(crate) use transit::{HopContext, push_hop};
