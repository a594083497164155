//! The meaning of the kernel's drop reasons in INT.
//!
//! [`CAUSES`] maps the names of `enum skb_drop_reason` to causes, and [`Cause::code`] maps causes to the
//! codes of each table. Names are looked up in the running kernel, because their numbers differ between
//! kernels; a name missing here, as of a later kernel, is reported as `unknown`.

use inband_wire::drop_reason::Table;

/// What the kernel knows of a dropped packet besides its reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hints {
    /// Whether its TTL or hop limit was used up.
    pub(super) ttl_used_up: bool,
    /// The error number of its route; 0: no error.
    pub(super) route_error: u16,
    pub(super) is_ipv6: bool,
}

/// The cause of a drop, in the terms of the drop reason tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// Nothing was lost: the packet was used, was a duplicate, or was a copy.
    NotLost,
    /// The kernel gives no reason.
    Unknown,
    /// The TTL or hop limit is used up.
    TtlZero,
    /// The IP header is invalid, or its TTL is used up: the kernel has one reason for both.
    IpHeader,
    /// A checksum is invalid.
    Checksum,
    /// There is no route.
    RouteMiss,
    /// The route drops it: a blackhole.
    RouteDrop {
        /// Whether it is an IPv6 route.
        is_ipv6: bool,
    },
    /// A rule drops it: netfilter, a BPF program, a security module.
    AclDeny,
    /// The queue of a qdisc, a device or a processor was full.
    TrafficManager,
    /// No entry in a forwarding table of a bridge or tunnel.
    BridgingMiss,
    /// The spanning tree blocks the port.
    SpanningTree,
    /// Longer than the MTU.
    MtuExceeded,
    /// The source address is invalid, or fails the reverse path filter.
    SourceInvalid,
    /// The destination address is invalid.
    DestinationInvalid,
    /// No socket listens.
    NoSocket,
    /// The socket's buffer was full.
    SocketFull,
    /// The accept queue was full.
    ListenQueueFull,
    /// The socket was closed with packets in it.
    SocketClosed,
    /// The TCP segment does not fit its connection.
    TcpState,
    /// An IPsec signature or policy.
    Authentication,
    /// The next hop's MAC address is unknown.
    NeighborUnresolved,
    /// The device is not up.
    DeviceDown,
    /// No memory.
    NoMemory,
    /// Headers that are truncated or contradict each other.
    Malformed,
    /// Fragments that cannot be reassembled.
    Fragment,
    /// No handler for the protocol.
    ProtocolUnknown,
    /// A tunnel's header could not be written.
    Encapsulation,
    /// A tunnel's header could not be read.
    Decapsulation,
    /// Too many nested devices of this machine on the path.
    Recursion,
}

impl Cause {
    /// The meaning of the kernel's reason with this name, given without `SKB_` and `DROP_REASON_`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        CAUSES.iter().find(|(_, names)| names.contains(&name)).map_or(Self::Unknown, |(cause, _)| *cause)
    }

    /// The cause, refined by what else the kernel knows.
    pub(super) const fn with(self, hints: Hints) -> Self {
        match (self, hints.ttl_used_up, hints.route_error) {
            // The kernel reports forwarding with TTL or hop limit 1 as IP_INHDR.
            (Self::IpHeader, true, _) => Self::TtlZero,
            (Self::IpHeader, false, _) => Self::Malformed,
            // The kernel gives no reason for drops by routes of the types blackhole, prohibit and
            // unreachable.
            (Self::Unknown, _, EINVAL) => Self::RouteDrop { is_ipv6: hints.is_ipv6 },
            (Self::Unknown, _, EACCES) => Self::AclDeny,
            (Self::Unknown, _, EHOSTUNREACH | ENETUNREACH) => Self::RouteMiss,
            _ => self,
        }
    }

    /// The code in the table; 0, unknown, for what is not a drop.
    #[must_use]
    pub const fn code(self, table: Table) -> u8 {
        use Table::{P4langSwitch, SdFabric1_0, SdFabric1_1, SwitchP4_16};
        match (self, table) {
            (Self::NotLost | Self::Unknown, _) => 0,
            (Self::TtlZero, P4langSwitch) => 31,
            (Self::TtlZero, _) => 26,
            (Self::RouteMiss, _) => 29,
            (Self::RouteDrop { is_ipv6: false }, SdFabric1_1) => 170,
            (Self::RouteDrop { is_ipv6: true }, SdFabric1_1) => 171,
            (Self::RouteDrop { .. }, SwitchP4_16) => 53,
            (Self::RouteDrop { .. }, _) => 207,
            (Self::AclDeny, P4langSwitch) => 60,
            (Self::AclDeny, _) => 80,
            (Self::TrafficManager, table) => table.tail_drop(),
            (Self::BridgingMiss, SdFabric1_0 | SdFabric1_1 | SwitchP4_16) => 89,
            (Self::BridgingMiss, P4langSwitch) => 0,
            (Self::SpanningTree, SwitchP4_16) => 57,
            (Self::SpanningTree, P4langSwitch) => 42,
            (Self::SpanningTree, _) => 206,
            (Self::Checksum, P4langSwitch) => 182,
            (Self::Checksum, _) => 31,
            (Self::MtuExceeded, SwitchP4_16) => 70,
            (Self::MtuExceeded, P4langSwitch) => 50,
            (Self::SourceInvalid, SwitchP4_16) => 82,
            (Self::SourceInvalid, P4langSwitch) => 62,
            (Self::DeviceDown, SwitchP4_16) => 60,
            (Self::NeighborUnresolved, SwitchP4_16) => 93,
            (Self::Encapsulation, _) => 180,
            (Self::Decapsulation, _) => 181,
            (Self::NoSocket, _) => 190,
            (Self::SocketFull, _) => 191,
            (Self::ListenQueueFull, _) => 192,
            (Self::TcpState, _) => 193,
            (Self::Authentication, _) => 194,
            (Self::NeighborUnresolved, _) => 195,
            (Self::DeviceDown, _) => 196,
            (Self::NoMemory, _) => 197,
            (Self::IpHeader | Self::Malformed, _) => 198,
            (Self::Fragment, _) => 199,
            (Self::MtuExceeded, _) => 200,
            (Self::SourceInvalid, _) => 201,
            (Self::SocketClosed, _) => 202,
            (Self::ProtocolUnknown, _) => 203,
            (Self::DestinationInvalid, _) => 204,
            (Self::Recursion, _) => 205,
        }
    }
}

// Error numbers that are the same on all architectures of Linux but MIPS, PA-RISC, Alpha and SPARC.
const EACCES: u16 = 13;
const EINVAL: u16 = 22;
const ENETUNREACH: u16 = 101;
const EHOSTUNREACH: u16 = 113;

/// Reasons for which a traffic control classifier drops packets, as the sink does where the D bit is set.
pub(super) const OF_CLASSIFIERS: [&str; 2] = ["TC_INGRESS", "TC_EGRESS"];

/// The name of the reason of drops for which the kernel gives none.
pub(super) const NOT_SPECIFIED: &str = "NOT_SPECIFIED";

/// The kernel's reasons by meaning. Each name occurs once.
pub(super) const CAUSES: &[(Cause, &[&str])] = &[
    (
        Cause::NotLost,
        &[
            // No reason at all: delivered or used packets are freed with it.
            "NOT_DROPPED_YET",
            "CONSUMED",
            // Data that was received before, or was merged with such data.
            "TCP_OLD_DATA",
            "TCP_OFOMERGE",
            "TCP_OLD_ACK",
            "TCP_OLD_SEQUENCE",
            "DUP_FRAG",
            // A frame for another machine that a promiscuous device saw, and copies for capturing programs.
            "OTHERHOST",
            "PACKET_SOCK_ERROR",
            // The end of a connection rather than of a packet.
            "TCP_RESET",
            // The queue of a closed socket: for TCP the FIN that ends every connection.
            "QUEUE_PURGE",
            "UNIX_DISCONNECT",
            "UNIX_SKIP_OOB",
        ],
    ),
    (Cause::Unknown, &[NOT_SPECIFIED, "SKB_UCOPY_FAULT"]),
    (Cause::TtlZero, &["IPV6_NDISC_HOP_LIMIT", "TCP_MINTTL"]),
    (Cause::IpHeader, &["IP_INHDR"]),
    (Cause::Checksum, &["IP_CSUM", "TCP_CSUM", "UDP_CSUM", "ICMP_CSUM", "SKB_CSUM"]),
    (Cause::RouteMiss, &["IP_INNOROUTES", "IP_OUTNOROUTES", "IP_INADDRERRORS"]),
    (
        Cause::AclDeny,
        &[
            "NETFILTER_DROP",
            "SOCKET_FILTER",
            "BPF_CGROUP_EGRESS",
            "SECURITY_HOOK",
            "TC_INGRESS",
            "TC_EGRESS",
            "TC_COOKIE_ERROR",
            "TC_CHAIN_NOTFOUND",
            "TC_RECLASSIFY_LOOP",
            "XDP",
            "TAP_FILTER",
            "TAP_TXFILTER",
            "IPV6DISABLED",
            "ARP_PVLAN_DISABLE",
            "UNICAST_IN_L2_MULTICAST",
            "MAC_IEEE_MAC_CONTROL",
        ],
    ),
    (
        Cause::TrafficManager,
        &[
            "QDISC_DROP",
            "QDISC_OVERLIMIT",
            "QDISC_CONGESTED",
            "QDISC_BURST_DROP",
            "CAKE_FLOOD",
            "FQ_BAND_LIMIT",
            "FQ_HORIZON_LIMIT",
            "FQ_FLOW_LIMIT",
            "DUALPI2_STEP_DROP",
            "CPU_BACKLOG",
            "FULL_RING",
        ],
    ),
    (Cause::BridgingMiss, &["NO_TX_TARGET", "VXLAN_NO_REMOTE", "VXLAN_ENTRY_EXISTS", "LOCAL_MAC"]),
    (Cause::SpanningTree, &["BRIDGE_INGRESS_STP_STATE"]),
    (Cause::MtuExceeded, &["PKT_TOO_BIG"]),
    (Cause::SourceInvalid, &["IP_RPFILTER", "IP_LOCAL_SOURCE", "IP_INVALID_SOURCE", "MAC_INVALID_SOURCE"]),
    (Cause::DestinationInvalid, &["IP_LOCALNET", "IP_INVALID_DEST"]),
    (Cause::NoSocket, &["NO_SOCKET"]),
    (Cause::SocketFull, &["SOCKET_RCVBUFF", "SOCKET_BACKLOG", "PROTO_MEM", "TCP_OFO_QUEUE_PRUNE"]),
    (Cause::ListenQueueFull, &["TCP_LISTEN_OVERFLOW"]),
    (Cause::SocketClosed, &["SOCKET_CLOSE", "TCP_CLOSE", "TCP_ABORT_ON_DATA"]),
    (
        Cause::TcpState,
        &[
            "TCP_FLAGS",
            "TCP_ZEROWINDOW",
            "TCP_OVERWINDOW",
            "TCP_RFC7323_PAWS",
            "TCP_RFC7323_PAWS_ACK",
            "TCP_RFC7323_TW_PAWS",
            "TCP_RFC7323_TSECR",
            "TCP_INVALID_SEQUENCE",
            "TCP_INVALID_END_SEQUENCE",
            "TCP_INVALID_ACK_SEQUENCE",
            "TCP_INVALID_SYN",
            "TCP_FASTOPEN",
            "TCP_TOO_OLD_ACK",
            "TCP_ACK_UNSENT_DATA",
            "TCP_OFO_DROP",
        ],
    ),
    (
        Cause::Authentication,
        &[
            "XFRM_POLICY",
            "TCP_AUTH_HDR",
            "TCP_MD5NOTFOUND",
            "TCP_MD5UNEXPECTED",
            "TCP_MD5FAILURE",
            "TCP_AONOTFOUND",
            "TCP_AOUNEXPECTED",
            "TCP_AOKEYNOTFOUND",
            "TCP_AOFAILURE",
            "PSP_INPUT",
            "PSP_OUTPUT",
        ],
    ),
    (
        Cause::NeighborUnresolved,
        &["NEIGH_CREATEFAIL", "NEIGH_FAILED", "NEIGH_QUEUEFULL", "NEIGH_DEAD", "NEIGH_HH_FILLFAIL"],
    ),
    (Cause::DeviceDown, &["DEV_READY"]),
    (Cause::NoMemory, &["NOMEM", "PFMEMALLOC"]),
    (
        Cause::Malformed,
        &[
            "PKT_TOO_SMALL",
            "HDR_TRUNC",
            "DEV_HDR",
            "SKB_GSO_SEG",
            "IPV6_BAD_EXTHDR",
            "IPV6_NDISC_FRAG",
            "IPV6_NDISC_BAD_CODE",
            "IPV6_NDISC_BAD_OPTIONS",
            "IPV6_NDISC_NS_OTHERHOST",
            "CAN_RX_INVALID_FRAME",
            "CANFD_RX_INVALID_FRAME",
            "CANXL_RX_INVALID_FRAME",
        ],
    ),
    (Cause::Fragment, &["FRAG_REASM_TIMEOUT", "FRAG_TOO_FAR"]),
    (Cause::ProtocolUnknown, &["IP_NOPROTO", "UNHANDLED_PROTO", "PTYPE_ABSENT", "INVALID_PROTO"]),
    (Cause::Encapsulation, &["TUNNEL_TXINFO"]),
    (Cause::Decapsulation, &["VXLAN_INVALID_HDR", "VXLAN_VNI_NOT_FOUND", "IP_TUNNEL_ECN"]),
    (Cause::Recursion, &["RECURSION_LIMIT"]),
];

#[cfg(test)]
mod tests;
