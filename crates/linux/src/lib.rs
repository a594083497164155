//! Linux interfaces for network programs: netlink, ethtool, packet sockets, clocks, BPF links, namespaces.
//!
//! This crate is independent of INT. It contains the system calls without a safe wrapper, so that the crates
//! above it have no `unsafe` of their own. Every function works in the network namespace of the thread that
//! calls it.
#![allow(unsafe_code, reason = "system calls without a safe wrapper")]

pub mod address;
pub mod backlog;
pub mod bpf;
pub mod clock;
pub mod connected;
pub mod device;
pub mod ethtool;
pub mod frames;
pub mod ipsec;
pub mod namespace;
pub mod neighbour;
pub mod netfilter;
pub mod netlink;
pub mod origin;
pub mod packet;
mod precision;
pub mod qdisc;
pub mod rcu;
pub mod route;
pub mod statistics;
pub mod tap;
pub mod tcx;
pub mod tun;
pub mod verification;
pub mod veth;
pub mod xdp;
pub mod xsk;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
