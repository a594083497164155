//! What do the drop reasons of SD-Fabric mean?

use super::{Reason, reason};

/// Release 1.0; codes 132 to 134 changed their meaning with 1.1.
pub(super) const V1_0: [Reason; 16] = [
    reason(0, "unknown", "the device gives no reason", "the device's own counters and logs"),
    reason(26, "ttl-zero", "the IPv4 TTL or IPv6 hop limit is zero", "the route for a forwarding loop"),
    reason(
        29,
        "route-miss",
        "no route in the IPv4 or IPv6 routing table",
        "missing routes; whether the destination has been discovered",
    ),
    reason(
        55,
        "ingress-port-vlan-miss",
        "the ingress port does not know the packet's VLAN",
        "the VLANs configured for the interface",
    ),
    reason(
        71,
        "traffic-manager",
        "the queue was full (tail drop) or the port is down",
        "congestion of the egress queue; the state of the port",
    ),
    reason(80, "acl-deny", "an access list denies the packet", "the rules of the access list"),
    reason(89, "bridging-miss", "no entry in the bridging table", "the entries of the bridging table"),
    reason(
        128,
        "next-id-miss",
        "the next hop is in no hashed or multicast table",
        "the groups behind the route",
    ),
    reason(
        129,
        "mpls-miss",
        "the label is in no MPLS table",
        "the segment routing configuration of the device",
    ),
    reason(
        130,
        "egress-vlan-miss",
        "the egress port does not know the packet's VLAN",
        "the VLANs configured for the interface",
    ),
    reason(131, "mpls-ttl-zero", "the TTL of the MPLS label is zero", "the route for a forwarding loop"),
    reason(
        132,
        "downlink-pdr-miss",
        "no downlink packet detection rule for the user's device",
        "the downlink rules of the user plane",
    ),
    reason(
        133,
        "uplink-pdr-miss",
        "no uplink packet detection rule for the packet",
        "the uplink rules of the user plane",
    ),
    reason(
        134,
        "far-miss",
        "no forwarding action rule for the packet",
        "the forwarding rules of the user plane",
    ),
    reason(
        150,
        "ue-to-ue-deny",
        "no rule allows traffic between two users' devices",
        "the rules for traffic between users",
    ),
    reason(
        160,
        "ingress-qos-meter",
        "a meter at the ingress found the flow over its rate",
        "the rate limits of the flow's QoS class",
    ),
];

/// Release 1.1 and later.
pub(super) const V1_1: [Reason; 24] = [
    reason(0, "unknown", "the device gives no reason", "the device's own counters and logs"),
    reason(26, "ttl-zero", "the IPv4 TTL or IPv6 hop limit is zero", "the route for a forwarding loop"),
    reason(
        29,
        "route-miss",
        "no route in the IPv4 or IPv6 routing table",
        "missing routes; whether the destination has been discovered",
    ),
    reason(
        55,
        "ingress-port-vlan-miss",
        "the ingress port does not know the packet's VLAN",
        "the VLANs configured for the interface",
    ),
    reason(
        71,
        "traffic-manager",
        "the queue was full (tail drop) or the port is down",
        "congestion of the egress queue; the state of the port",
    ),
    reason(80, "acl-deny", "an access list denies the packet", "the rules of the access list"),
    reason(89, "bridging-miss", "no entry in the bridging table", "the entries of the bridging table"),
    reason(
        128,
        "next-id-miss",
        "the next hop is in no hashed or multicast table",
        "the groups behind the route",
    ),
    reason(
        129,
        "mpls-miss",
        "the label is in no MPLS table",
        "the segment routing configuration of the device",
    ),
    reason(
        130,
        "egress-vlan-miss",
        "the egress port does not know the packet's VLAN",
        "the VLANs configured for the interface",
    ),
    reason(131, "mpls-ttl-zero", "the TTL of the MPLS label is zero", "the route for a forwarding loop"),
    reason(
        132,
        "upf-downlink-session-miss",
        "no downlink session for the user's device",
        "whether the user's session is installed in the user plane",
    ),
    reason(
        133,
        "upf-downlink-session-drop",
        "the downlink session drops its packets",
        "the rules of the user's session, which ask for the drop",
    ),
    reason(
        134,
        "upf-uplink-session-miss",
        "no uplink session for the tunnel",
        "whether the user's session is installed in the user plane",
    ),
    reason(
        135,
        "upf-uplink-session-drop",
        "the uplink session drops its packets",
        "the rules of the user's session, which ask for the drop",
    ),
    reason(
        136,
        "upf-downlink-session-drop-buffering",
        "the downlink session should buffer, and nothing buffers for it",
        "whether the buffering function runs and is reachable",
    ),
    reason(
        137,
        "upf-downlink-termination-miss",
        "no downlink termination for the user's device",
        "whether the user's session is installed in the user plane",
    ),
    reason(
        138,
        "upf-downlink-termination-drop",
        "the downlink termination drops its packets",
        "the rules of the user's session, which ask for the drop",
    ),
    reason(
        139,
        "upf-uplink-termination-miss",
        "no uplink termination for the user's device",
        "whether the user's session is installed in the user plane",
    ),
    reason(
        140,
        "upf-uplink-termination-drop",
        "the uplink termination drops its packets",
        "the rules of the user's session, which ask for the drop",
    ),
    reason(
        150,
        "ue-to-ue-deny",
        "no rule allows traffic between two users' devices",
        "the rules for traffic between users",
    ),
    reason(
        160,
        "ingress-qos-meter",
        "a meter at the ingress found the flow over its rate",
        "the rate limits of the flow's QoS class",
    ),
    reason(170, "routing-v4-drop", "the IPv4 route says to drop", "the route to the destination"),
    reason(171, "routing-v6-drop", "the IPv6 route says to drop", "the route to the destination"),
];
