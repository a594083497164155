//! Which system calls has nobody wrapped for us? Each block of `unsafe` is here.
#![allow(unsafe_code, reason = "system calls without a safe wrapper")]

pub(crate) mod bpf;
pub(crate) mod ethtool;
pub(crate) mod packet;
pub(crate) mod precision;
pub(crate) mod rcu;
pub(crate) mod tcx;
