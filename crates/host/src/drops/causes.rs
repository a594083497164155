//! What do the kernel's reasons to drop a packet mean in INT?
//!
//! [`CAUSES`] is the whole mapping from the names of `enum skb_drop_reason` to what happened, and [`Cause::code`] the
//! mapping from there to the codes of each table. Names are looked up in the running kernel, because their numbers
//! move; a name that is not here, as of a later kernel, is reported as `unknown`.

use inband_wire::drop_reason::Table;

/// What the kernel says of a dropped packet beside its reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hints {
    /// Whether its TTL or hop limit was used up.
    pub(super) ttl_used_up: bool,
    /// The error number of its route; 0: none.
    pub(super) route_error: u16,
    pub(super) is_ipv6: bool,
}

/// What happened to a dropped packet, as the tables of drop reasons tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// Nothing was lost: the packet was used, came for the second time, or was a copy.
    NotLost,
    /// The kernel does not say.
    Unknown,
    /// The TTL or hop limit is used up.
    TtlZero,
    /// The IP header is wrong, or its TTL is used up: the kernel has one reason for both.
    IpHeader,
    /// A checksum is wrong.
    Checksum,
    /// There is no route.
    RouteMiss,
    /// The route says so: a blackhole.
    RouteDrop {
        /// Whether it is a route of IPv6.
        is_ipv6: bool,
    },
    /// A rule says so: netfilter, a BPF program, a security module.
    AclDeny,
    /// A queue was full, of a qdisc, a device or a processor.
    TrafficManager,
    /// No entry in a forwarding table of a bridge or tunnel.
    BridgingMiss,
    /// The spanning tree blocks the port.
    SpanningTree,
    /// Longer than the MTU.
    MtuExceeded,
    /// The source address cannot be, or fails the reverse path filter.
    SourceInvalid,
    /// The destination address cannot be.
    DestinationInvalid,
    /// Nobody listens.
    NoSocket,
    /// The socket's buffer was full.
    SocketFull,
    /// The queue of connections to accept was full.
    ListenQueueFull,
    /// The socket was closed with packets in it.
    SocketClosed,
    /// The TCP segment does not fit its connection.
    TcpState,
    /// A signature or a policy of IPsec.
    Authentication,
    /// The next hop's MAC address is not known.
    NeighborUnresolved,
    /// The device is not up.
    DeviceDown,
    /// No memory.
    NoMemory,
    /// Headers that are cut or contradict each other.
    Malformed,
    /// Fragments that cannot be put together.
    Fragment,
    /// No handler for the protocol.
    ProtocolUnknown,
    /// A tunnel's header could not be written.
    Encapsulation,
    /// A tunnel's header could not be read.
    Decapsulation,
    /// Too many devices of this machine on the way.
    Recursion,
}

impl Cause {
    /// What the kernel's reason of this name means; the name is without `SKB_` and `DROP_REASON_`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        CAUSES.iter().find(|(_, names)| names.contains(&name)).map_or(Self::Unknown, |(cause, _)| *cause)
    }

    /// The cause in view of what else the kernel says.
    pub(super) const fn with(self, hints: Hints) -> Self {
        match (self, hints.ttl_used_up, hints.route_error) {
            // Forwarding with TTL or hop limit 1 is IP_INHDR to the kernel.
            (Self::IpHeader, true, _) => Self::TtlZero,
            (Self::IpHeader, false, _) => Self::Malformed,
            // It gives no reason for what a route of the types blackhole, prohibit and unreachable drops.
            (Self::Unknown, _, EINVAL) => Self::RouteDrop { is_ipv6: hints.is_ipv6 },
            (Self::Unknown, _, EACCES) => Self::AclDeny,
            (Self::Unknown, _, EHOSTUNREACH | ENETUNREACH) => Self::RouteMiss,
            _ => self,
        }
    }

    /// The code in the table; 0, unknown, for what is no drop.
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

// Error numbers that are the same on every machine Linux runs on, but for MIPS, PA-RISC, Alpha and SPARC.
const EACCES: u16 = 13;
const EINVAL: u16 = 22;
const ENETUNREACH: u16 = 101;
const EHOSTUNREACH: u16 = 113;

/// Reasons by which a classifier of traffic control drops packets, as the sink does where the D bit is set.
pub(super) const OF_CLASSIFIERS: [&str; 2] = ["TC_INGRESS", "TC_EGRESS"];

/// The kernel's reasons by what they mean. Each name stands once.
pub(super) const CAUSES: &[(Cause, &[&str])] = &[
    (
        Cause::NotLost,
        &[
            // No reason at all: what delivered or used packets are freed with.
            "NOT_DROPPED_YET",
            "CONSUMED",
            // Data that came before, or was merged with data that did.
            "TCP_OLD_DATA",
            "TCP_OFOMERGE",
            "TCP_OLD_ACK",
            "TCP_OLD_SEQUENCE",
            "DUP_FRAG",
            // A frame for another machine that a promiscuous device saw, and copies for capturing programs.
            "OTHERHOST",
            "PACKET_SOCK_ERROR",
            // A connection's end rather than a packet's.
            "TCP_RESET",
            // What a closed socket had in its queue: of TCP the FIN that every connection ends with.
            "QUEUE_PURGE",
            "UNIX_DISCONNECT",
            "UNIX_SKIP_OOB",
        ],
    ),
    (Cause::Unknown, &["NOT_SPECIFIED", "SKB_UCOPY_FAULT"]),
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
