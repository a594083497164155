//! Which traffic to an address would get INT, and which would not.

use std::net::IpAddr;

use inband_node::config::{Actions, EncapsulationKind, IntVersion, Mode, WatchEntry};

use super::outcome::{Outlook, PeerAgent, Trial};
use crate::config::HostInt;
use crate::coverage::Coverage;
use crate::headers::{TCP, UDP};
use crate::lease::FlowState;
use crate::plan::Plan;
use crate::settings::HostSettings;

/// The bytes of the headers before a payload.
const IPV4_BYTES: u32 = 20;
const IPV6_BYTES: u32 = 40;
const TCP_BYTES: u32 = 20;
const UDP_BYTES: u32 = 8;

/// The outlooks of all kinds of traffic to the address of `trial`.
pub(super) fn outlooks(trial: &Trial, settings: &HostSettings, plan: &Plan, is_listed: bool) -> Vec<Outlook> {
    if let Some(reason) = obstacle(trial, settings, is_listed) {
        let traffic = "everything".to_owned();
        return vec![Outlook { traffic, gets_int: false, reason }];
    }
    let is_meant = |entry: &&WatchEntry| concerns(entry, trial.source, trial.destination);
    let mut outlooks: Vec<_> =
        settings.watchlist.iter().filter(is_meant).flat_map(|entry| of_entry(entry, trial, plan)).collect();
    if outlooks.is_empty() {
        let reason = "no entry of [[watch]] is about this address".to_owned();
        outlooks.push(Outlook { traffic: "everything".to_owned(), gets_int: false, reason });
    }
    for (traffic, reason) in [
        ("fragments, packets with IPv6 extension headers or a VLAN tag", "they pass as they are"),
        ("flows that are not on the watchlist", "not watched"),
    ] {
        outlooks.push(Outlook { traffic: traffic.to_owned(), gets_int: false, reason: reason.to_owned() });
    }
    outlooks
}

/// What keeps INT from all traffic to the address; `None`: nothing.
fn obstacle(trial: &Trial, settings: &HostSettings, is_listed: bool) -> Option<String> {
    if !is_listed {
        return Some(format!("it leaves by {}, which host.devices does not list", trial.device));
    }
    if settings.source.mode == Mode::Xd {
        return Some("source.mode = \"xd\": packets stay as they are, and both hosts report".to_owned());
    }
    // As in the kernel, the longest prefix decides.
    let peers = settings.peers.iter().filter(|peer| peer.prefix.contains(trial.destination));
    let Some(peer) = peers.max_by_key(|peer| peer.prefix.length()) else {
        return Some("it is no [[peer]]".to_owned());
    };
    if !peer.lease || trial.state == FlowState::Proven {
        return None;
    }
    Some(match &trial.agent {
        PeerAgent::Refuses { reason, .. } => format!("its agent refuses: {reason}"),
        _ => trial.state.meaning().to_owned(),
    })
}

/// Whether packets from `source` to `destination` may match `entry`.
fn concerns(entry: &WatchEntry, source: IpAddr, destination: IpAddr) -> bool {
    let holds = |prefix: &Option<inband_node::config::Prefix>, address| {
        prefix.is_none_or(|prefix| prefix.contains(address))
    };
    let either = entry.either.is_none_or(|prefix| prefix.contains(source) || prefix.contains(destination));
    holds(&entry.source, source) && holds(&entry.destination, destination) && either
}

fn of_entry(entry: &WatchEntry, trial: &Trial, plan: &Plan) -> Vec<Outlook> {
    let protocols = match entry.protocol.map(|protocol| protocol.0) {
        Some(protocol) => vec![protocol],
        None => vec![TCP, UDP],
    };
    protocols.into_iter().map(|protocol| of_protocol(protocol, entry, trial, plan)).collect()
}

fn of_protocol(protocol: u8, entry: &WatchEntry, trial: &Trial, plan: &Plan) -> Outlook {
    let name = match protocol {
        TCP => "TCP".to_owned(),
        UDP => "UDP".to_owned(),
        other => format!("protocol {other}"),
    };
    let ports = |what: &str, range: &Option<inband_node::config::PortRange>| match range {
        Some(range) if range.0.start() == range.0.end() => format!(" {what} port {}", range.0.start()),
        Some(range) => format!(" {what} ports {} to {}", range.0.start(), range.0.end()),
        None => String::new(),
    };
    let traffic = name + &ports("from", &entry.source_port) + &ports("to", &entry.destination_port);
    let without = |reason: String| Outlook { traffic: traffic.clone(), gets_int: false, reason };
    if !entry.action.contain(Actions::START_INT) {
        return without("its entry of [[watch]] does not start INT".to_owned());
    }
    let kind = plan.node.encapsulation.kind();
    let is_carried = protocol == UDP || (protocol == TCP && kind != EncapsulationKind::UdpPort);
    let is_host_int = plan.node.int_version() == IntVersion::Host0_5;
    if !is_carried || (is_host_int && trial.destination.is_ipv6()) {
        return without(format!("\"{}\" does not carry it", kind.name()));
    }
    let largest = trial.configured().and_then(|configured| configured.largest).unwrap_or(trial.mtu);
    let headers = if trial.destination.is_ipv4() { IPV4_BYTES } else { IPV6_BYTES };
    let host = plan.host(0);
    let size = match protocol {
        TCP => {
            let taken = headers + TCP_BYTES + host.room.max(HostInt::room_for(&plan.node, 1));
            format!("segments are cut to {} bytes of payload", largest.saturating_sub(taken))
        }
        _ => format!(
            "datagrams of up to {} bytes; larger ones have no room",
            largest.saturating_sub(headers + UDP_BYTES + HostInt::room_for(&plan.node, 0))
        ),
    };
    let often = match host.coverage {
        Coverage::Slices => format!("one packet in {} us", host.interval_us),
        Coverage::All => "every packet".to_owned(),
    };
    Outlook { traffic, gets_int: true, reason: format!("{often}; {size}") }
}
