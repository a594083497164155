//! Drop reasons that hosts report and switches do not.
//!
//! A host in a fabric uses the switches' table wherever it has a code for the drop. These codes cover the
//! rest; where a table assigns one of them another meaning, the table takes precedence.

use super::reason::{Reason, reason};

/// Codes 25 to 31 and 180 to 184 are those of SD-Fabric's own hosts; no other table uses the remaining ones.
pub(super) const REASONS: [Reason; 26] = [
    reason(25, "ip-version-invalid", "the IP version is neither 4 nor 6", "what writes the packet"),
    reason(30, "ihl-invalid", "the IP header has a length that cannot be", "what writes the packet"),
    reason(
        31,
        "checksum-invalid",
        "the checksum of IP, TCP, UDP or ICMP is wrong",
        "checksum offloads of both hosts' interfaces; bit errors on the way",
    ),
    reason(
        180,
        "encapsulation-failed",
        "the packet could not be put into its tunnel",
        "the tunnel's device, its MTU and its far end",
    ),
    reason(
        181,
        "decapsulation-failed",
        "the tunnel's headers could not be read, or nobody knows the tunnel",
        "the tunnel's configuration on both ends",
    ),
    reason(182, "tunnel-checksum", "a checksum could not be corrected", "the offloads of the interface"),
    reason(183, "ip-options", "the packet has IP options", "the sender, and who allows options"),
    reason(
        184,
        "unauthorized-source",
        "the source address of a tunnel is not allowed",
        "the list of allowed tunnel ends",
    ),
    reason(
        190,
        "no-socket",
        "no program listens on the packet's port, or its connection is gone",
        "whether the service runs, and on which address and port it listens",
    ),
    reason(
        191,
        "socket-full",
        "the socket's receive buffer was full",
        "whether the program keeps up; net.core.rmem_max, net.ipv4.tcp_rmem and udp_mem",
    ),
    reason(
        192,
        "listen-queue-full",
        "more connections wait to be accepted than the listening socket allows",
        "whether the program accepts in time; its backlog and net.core.somaxconn",
    ),
    reason(
        193,
        "tcp-state",
        "the segment does not fit its connection: flags, sequence number, window or timestamp",
        "retransmissions, resets and address translation on the way",
    ),
    reason(
        194,
        "authentication-failed",
        "a signature is missing, wrong or unexpected, or a policy of IPsec forbids the packet",
        "keys and policies of both hosts",
    ),
    reason(
        195,
        "neighbor-unresolved",
        "the next hop's MAC address is not known",
        "whether the next hop is there and answers ARP or neighbor discovery",
    ),
    reason(196, "device-down", "the device is not up or not ready", "the state of the interface"),
    reason(197, "no-memory", "the kernel had no memory for the packet", "the machine's free memory"),
    reason(198, "malformed", "headers are cut or contradict each other", "what writes the packet"),
    reason(
        199,
        "fragment",
        "not all fragments came in time, or one does not fit",
        "losses on the way; net.ipv4.ipfrag_high_thresh; MTUs, so that nothing is fragmented",
    ),
    reason(200, "mtu-exceeded", "the packet is longer than the MTU", "the MTUs and MSS on the path"),
    reason(
        201,
        "source-invalid",
        "the source address cannot be, or would not be answered by this interface",
        "routes back to the sender; net.ipv4.conf.*.rp_filter",
    ),
    reason(
        202,
        "socket-closed",
        "the socket was closed while packets for it waited",
        "whether the program ends its connections in order",
    ),
    reason(203, "protocol-unknown", "nothing handles the packet's protocol", "the kernel's modules"),
    reason(
        204,
        "destination-invalid",
        "the destination address cannot be",
        "the sender's destination; net.ipv4.conf.*.route_localnet",
    ),
    reason(
        205,
        "recursion",
        "the packet went through too many devices of this machine",
        "tunnels and bridges for a loop",
    ),
    reason(206, "port-blocked", "the spanning tree blocks the port", "the state of spanning tree"),
    reason(207, "route-drop", "the route says to drop", "the route to the destination"),
];
