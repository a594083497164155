//! The drop reasons of p4lang/switch, the example in the report specifications.

use super::reason::{Reason, reason};
use super::shared::{
    DST_MAC_ZERO, OUTER_DST_MAC_ZERO, OUTER_ETHERNET_MISS, OUTER_SRC_MAC_MULTICAST, OUTER_SRC_MAC_ZERO,
    SRC_MAC_MULTICAST, SRC_MAC_ZERO, UNKNOWN,
};

/// The reasons in its `drop_reason_codes.h`.
pub(super) const REASONS: [Reason; 29] = [
    UNKNOWN,
    OUTER_SRC_MAC_ZERO,
    OUTER_SRC_MAC_MULTICAST,
    OUTER_DST_MAC_ZERO,
    OUTER_ETHERNET_MISS,
    SRC_MAC_ZERO,
    SRC_MAC_MULTICAST,
    DST_MAC_ZERO,
    reason(
        25,
        "outer-ip-version-invalid",
        "the outer IP version is not the one announced",
        "the network stack and interface of the sending host",
    ),
    reason(26, "outer-ip-ttl-zero", "the outer TTL or hop limit is zero", "the route for a forwarding loop"),
    reason(
        27,
        "outer-ip-src-multicast",
        "the outer source address is a group address",
        "the addresses that the sending host uses",
    ),
    reason(
        28,
        "outer-ip-src-loopback",
        "the outer source address is a loopback address",
        "the addresses that the sending host uses",
    ),
    reason(
        29,
        "outer-ip-miss",
        "the outer IP header is in no table",
        "the routing configuration of the device",
    ),
    reason(
        30,
        "ip-version-invalid",
        "the IP version is not the one announced",
        "the network stack and interface of the sending host",
    ),
    reason(31, "ip-ttl-zero", "the TTL or hop limit is zero", "the route for a forwarding loop"),
    reason(
        32,
        "ip-src-multicast",
        "the source address is a group address",
        "the addresses that the sending host uses",
    ),
    reason(
        33,
        "ip-src-loopback",
        "the source address is a loopback address",
        "the addresses that the sending host uses",
    ),
    reason(
        40,
        "port-vlan-miss",
        "the ingress port does not know the packet's VLAN",
        "the VLANs configured for the interface",
    ),
    reason(41, "stp-learning", "the port is learning (spanning tree)", "the state of spanning tree"),
    reason(42, "stp-blocking", "the port is blocking (spanning tree)", "the state of spanning tree"),
    reason(
        43,
        "same-interface",
        "the packet would leave by the interface it came in by",
        "the forwarding table for a loop",
    ),
    reason(44, "multicast-snooping", "no receiver is known for the group", "the receivers of the group"),
    reason(50, "mtu", "the packet is longer than the egress MTU", "the MTU along the path"),
    reason(51, "traffic-manager", "the queue was full (tail drop)", "congestion of the egress queue"),
    reason(60, "acl-deny", "an access list denies the packet", "the rules of the access list"),
    reason(61, "racl-deny", "an access list of the router denies the packet", "the rules of the access list"),
    reason(
        62,
        "urpf",
        "the source address is not reached by the ingress interface",
        "the routes back to the source; spoofed addresses",
    ),
    reason(
        63,
        "ip-source-guard",
        "the source address does not belong to the port",
        "the bindings of addresses to ports; spoofed addresses",
    ),
    reason(
        64,
        "interface-index",
        "the interfaces do not go together",
        "the forwarding configuration of the device",
    ),
];
