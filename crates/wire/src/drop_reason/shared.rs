//! Drop reasons whose code and meaning several tables share.

use super::reason::{Reason, reason};

pub(super) const UNKNOWN: Reason =
    reason(0, "unknown", "the device gives no reason", "the device's own counters and logs");
pub(super) const OUTER_SRC_MAC_ZERO: Reason = reason(
    10,
    "outer-src-mac-zero",
    "the outer source MAC address is zero",
    "the network stack and interface of the sending host",
);
pub(super) const OUTER_SRC_MAC_MULTICAST: Reason = reason(
    11,
    "outer-src-mac-multicast",
    "the outer source MAC address is a group address",
    "the network stack and interface of the sending host",
);
pub(super) const OUTER_DST_MAC_ZERO: Reason = reason(
    12,
    "outer-dst-mac-zero",
    "the outer destination MAC address is zero",
    "the network stack and interface of the sending host",
);
pub(super) const OUTER_ETHERNET_MISS: Reason = reason(
    13,
    "outer-ethernet-miss",
    "the outer Ethernet header is in no table",
    "the interfaces configured on the device",
);
pub(super) const SRC_MAC_ZERO: Reason = reason(
    14,
    "src-mac-zero",
    "the source MAC address is zero",
    "the network stack and interface of the sending host",
);
pub(super) const SRC_MAC_MULTICAST: Reason = reason(
    15,
    "src-mac-multicast",
    "the source MAC address is a group address",
    "the network stack and interface of the sending host",
);
pub(super) const DST_MAC_ZERO: Reason = reason(
    16,
    "dst-mac-zero",
    "the destination MAC address is zero",
    "the network stack and interface of the sending host",
);
pub(super) const TTL_ZERO: Reason =
    reason(26, "ttl-zero", "the IPv4 TTL or IPv6 hop limit is zero", "the route for a forwarding loop");
pub(super) const ROUTE_MISS: Reason = reason(
    29,
    "route-miss",
    "no route in the IPv4 or IPv6 routing table",
    "missing routes; whether the destination has been discovered",
);
pub(super) const INGRESS_PORT_VLAN_MISS: Reason = reason(
    55,
    "ingress-port-vlan-miss",
    "the ingress port does not know the packet's VLAN",
    "the VLANs configured for the interface",
);
pub(super) const TRAFFIC_MANAGER: Reason = reason(
    71,
    "traffic-manager",
    "the queue was full (tail drop) or the port is down",
    "congestion of the egress queue; the state of the port",
);
pub(super) const ACL_DENY: Reason =
    reason(80, "acl-deny", "an access list denies the packet", "the rules of the access list");
pub(super) const BRIDGING_MISS: Reason =
    reason(89, "bridging-miss", "no entry in the bridging table", "the entries of the bridging table");
pub(super) const NEXT_ID_MISS: Reason = reason(
    128,
    "next-id-miss",
    "the next hop is in no hashed or multicast table",
    "the groups behind the route",
);
pub(super) const MPLS_MISS: Reason = reason(
    129,
    "mpls-miss",
    "the label is in no MPLS table",
    "the segment routing configuration of the device",
);
pub(super) const EGRESS_VLAN_MISS: Reason = reason(
    130,
    "egress-vlan-miss",
    "the egress port does not know the packet's VLAN",
    "the VLANs configured for the interface",
);
pub(super) const MPLS_TTL_ZERO: Reason =
    reason(131, "mpls-ttl-zero", "the TTL of the MPLS label is zero", "the route for a forwarding loop");
pub(super) const UE_TO_UE_DENY: Reason = reason(
    150,
    "ue-to-ue-deny",
    "no rule allows traffic between two users' devices",
    "the rules for traffic between users",
);
pub(super) const INGRESS_QOS_METER: Reason = reason(
    160,
    "ingress-qos-meter",
    "a meter at the ingress found the flow over its rate",
    "the rate limits of the flow's QoS class",
);
