//! INT of the versions before 2.0: 1.0, 0.5, Host-INT and 2016.
//!
//! They share a metadata header of 8 bytes, an 8-bit type in the shim and a shim length that counts itself, so they
//! share the code. [`support`] says what can be configured, [`instructions`] which bits ask for what, [`read`] when a
//! packet counts as INT at all, [`source`] and [`transit`] act; putting into packets and taking out again is beside
//! that of 2.1, in `encapsulation`.

mod flags;
mod instructions;
mod read;
mod source;
mod support;
mod transit;

pub(crate) use flags::{exempt, mark_copy};
pub(crate) use instructions::in_2_1;
pub(crate) use read::{before_tcp_options, behind_tcp_port, check_header, is_announced, settle};
pub(crate) use source::{EarlierNumbers, EarlierSource};
pub(crate) use support::check;
pub(crate) use transit::push_hop;
