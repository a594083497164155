//! The drop reasons of SD-Fabric.

use super::reason::{Reason, reason};
use super::shared::{
    ACL_DENY, BRIDGING_MISS, EGRESS_VLAN_MISS, INGRESS_PORT_VLAN_MISS, INGRESS_QOS_METER, MPLS_MISS,
    MPLS_TTL_ZERO, NEXT_ID_MISS, ROUTE_MISS, TRAFFIC_MANAGER, TTL_ZERO, UE_TO_UE_DENY, UNKNOWN,
};

/// Release 1.0; codes 132 to 134 changed their meaning with 1.1.
// sd-fabric-1.0/drop-03
pub(super) const V1_0: [Reason; 16] = [
    UNKNOWN,
    TTL_ZERO,
    ROUTE_MISS,
    INGRESS_PORT_VLAN_MISS,
    TRAFFIC_MANAGER,
    ACL_DENY,
    BRIDGING_MISS,
    NEXT_ID_MISS,
    MPLS_MISS,
    EGRESS_VLAN_MISS,
    MPLS_TTL_ZERO,
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
    UE_TO_UE_DENY,
    INGRESS_QOS_METER,
];

/// Release 1.1 and later.
pub(super) const V1_1: [Reason; 24] = [
    UNKNOWN,
    TTL_ZERO,
    ROUTE_MISS,
    INGRESS_PORT_VLAN_MISS,
    TRAFFIC_MANAGER,
    ACL_DENY,
    BRIDGING_MISS,
    NEXT_ID_MISS,
    MPLS_MISS,
    EGRESS_VLAN_MISS,
    MPLS_TTL_ZERO,
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
    UE_TO_UE_DENY,
    INGRESS_QOS_METER,
    reason(170, "routing-v4-drop", "the IPv4 route says to drop", "the route to the destination"),
    reason(171, "routing-v6-drop", "the IPv6 route says to drop", "the route to the destination"),
];
