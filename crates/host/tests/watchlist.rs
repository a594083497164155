//! The programs take watchlists of the maximum length.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "support/programs.rs"]
mod programs;

use std::net::Ipv4Addr;

use inband_host::HostInt;
use inband_node::config::{NodeConfig, Prefix, WatchEntry};

#[test]
fn a_list_of_64_prefixes_is_replaced_by_another_one() {
    let Some(mut programs) = programs::load(&host(1)) else { return };

    for number in 2..5 {
        programs.configure(&host(number)).unwrap();
    }
}

/// A host that watches 64 prefixes of source addresses, and as many of destinations.
fn host(number: u8) -> HostInt {
    let mut node = NodeConfig::new(12);
    let prefix = |network, subnet| Some(Prefix::new(Ipv4Addr::new(network, number, subnet, 0).into(), 24));
    let entry = |subnet| WatchEntry {
        source: prefix(10, subnet),
        destination: prefix(11, subnet),
        ..WatchEntry::default()
    };
    node.watchlist = (0..64).map(entry).collect();
    HostInt::of(node)
}
