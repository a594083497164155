/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The structures shared by the programs in the kernel and the agent; `abi.rs` defines them in Rust. */
#pragma once

#include <linux/types.h>

/* The encapsulation of INT: `encapsulation.kind`. */
enum carriage {
	BEHIND_L4_BY_DSCP = 0,
	BEHIND_UDP_BY_PORT = 1,
	BEHIND_NEW_UDP = 2,
};

/* `source.mode`. */
enum mode {
	MODE_MD = 0,
	MODE_MX = 1,
	MODE_XD = 2,
};

/* `node.int_version`. */
enum int_version {
	VERSION_2_1 = 0,
	VERSION_HOST_INT = 1,
};

/* The INT settings of one device, computed by the agent. Numbers are in the host's byte order. */
struct config {
	__u32 node_id;
	/* Level 1 interface identifiers: where a source's packets come from and go to. */
	__u16 ingress_interface;
	__u16 egress_interface;
	/* Level 2 interface identifiers; all ones: not available. */
	__u32 ingress_interface_level2;
	__u32 egress_interface_level2;
	/* What is added to the monotonic clock, nanoseconds. */
	__u64 clock_offset;
	/* Utilization of the egress interface; all ones: not available. */
	__u32 egress_utilization;
	/* The largest IP packet the egress interface sends, bytes. */
	__u32 mtu;
	__u16 instructions;
	__u16 udp_port;
	__u8 carriage;
	__u8 mode;
	__u8 dscp;
	__u8 dscp_mask;
	__u8 before_tcp_options;
	__u8 restore_dscp;
	__u8 own_metadata;
	__u8 discard;
	__u8 hop_words;
	__u8 remaining_hops;
	/* Whether the checksum complement compensates the changes. */
	__u8 complement;
	/* The version that a source writes. */
	__u8 version;
	/* Where steered packets enter the shim, and where packets with INT leave it: interface indexes. */
	__u32 shim_in;
	__u32 shim_out;
	__u32 device;
	/* Minimum time between two events of a flow, microseconds; 0: an event for every packet. */
	__u32 interval_us;
	/* Bytes that INT may add to a segment along the whole path. */
	__u32 room;
	/* Whether one packet of a flow gets INT in each interval; 0: every packet does. */
	__u32 slices;
};

/* The outcome for a packet; each counts once in its program. */
enum outcome {
	/* None yet: the next step goes on with the packet. */
	UNDECIDED,
	NOT_IP,
	NOT_WATCHED,
	STARTED,
	STRIPPED,
	DISCARDED,
	STEERED,
	NO_INT,
	ALREADY_INT,
	REMARKED,
	MALFORMED,
	NOT_CARRIED,
	FRAGMENT,
	EXTENSION_HEADER,
	VLAN_TAG,
	NOT_STARTED_MTU,
	NOT_STARTED_CHECKSUM,
	SEGMENTS,
	NO_ROOM,
	EVENT,
	EVENT_LOST,
	NO_LEASE,
	POSTCARD,
	BETWEEN_SLICES,
	NOT_STARTED_CLASS,
	SHIM_DOWN,
	UNANSWERED,
	AGENT_SILENT,
	PROBE,
	PROBE_SHED,
	STRANGER,
	TIMESTAMPED,
	INT_TOO_BIG,
	TAKEN_APART,
	ANSWER,
	NOT_STEERED,
	OUTCOMES,
};

/* Maximum bytes of a packet that an event carries: headers and INT. */
#define EVENT_BYTES 512

/* The counters of watched traffic: all of it, and the part that left with INT. */
enum traffic {
	WATCHED,
	WITH_INT,
	TRAFFICS,
};

/* A volume of traffic, in IP bytes without INT. */
struct volume {
	__u64 packets;
	__u64 bytes;
};

/* The reason for an event. */
enum event_kind {
	/* It arrived with INT, which is about to be removed. */
	EVENT_ARRIVED = 0,
	/* It leaves, and this host reports it. */
	EVENT_LEAVES = 1,
	/* It leaves, and its flow has no proof that the destination removes INT, or one that expires soon. */
	EVENT_UNPROVEN = 2,
	/* It was another agent's probe; INT is removed from it, and the host does not receive it. */
	EVENT_PROBE = 3,
	/* It was another agent's answer about a flow of a container, which the container does not receive. */
	EVENT_ANSWER = 4,
};

/* A packet into or out of the domain that is worth a report. */
struct event {
	/* When it was seen, nanoseconds of the agent's clock. */
	__u64 time;
	/* Bytes of the packet, and the number of them in `bytes`. */
	__u32 length;
	__u32 captured;
	/* The interface it was seen on. */
	__u32 device;
	/* `enum event_kind`. */
	__u32 kind;
	/* Queue id and occupancy as metadata, of outgoing packets; all ones: not available. */
	__u32 queue;
	/*
	 * For flows without a proof, the largest packet known to pass to the destination;
	 * for probes, the number of the flow's packets with INT counted so far.
	 */
	__u32 mtu;
	__u8 bytes[EVENT_BYTES];
};

/* Maximum number of watchlist rules: one bit each in the prefix maps. */
#define MAX_RULES 64

/* What a rule matches besides its prefixes. */
struct rule {
	/* IP protocol. */
	__u8 protocol;
	__u8 any_protocol;
	/* Whether ports are matched, which only TCP and UDP have. */
	__u8 ports;
	/* Whether a match is an exception, as if on no list. */
	__u8 except;
	__u16 source_first;
	__u16 source_last;
	__u16 destination_first;
	__u16 destination_last;
};

/* Maximum number of collectors whose reports are never watched. */
#define MAX_COLLECTORS 8

/* The destination of reports: UDP to it is not watched. */
struct collector {
	__u8 address[16];
	__be16 port;
	__u16 padding;
};

/* Rules that match any address, and the number of rules. */
struct rules {
	__u64 any_source;
	__u64 any_destination;
	__u32 count;
	__u32 collectors;
	struct rule rule[MAX_RULES];
	struct collector collector[MAX_COLLECTORS];
	/* The agents' own UDP port, 0: none. */
	__be16 control_port;
	__u16 padding;
	__u32 padding2;
};

/* A prefix; IPv4 addresses are mapped into ::ffff:0:0/96. */
struct prefix {
	__u32 length;
	__u8 address[16];
};

/* A flow: addresses as prefixes of their whole length, ports 0 where there are none. */
struct flow {
	struct prefix source;
	struct prefix destination;
	__be16 source_port;
	__be16 destination_port;
	__u32 protocol;
} __attribute__((aligned(8)));

/* The hosts behind a prefix of `[[peer]]`. */
struct peer {
	/* Of `enum peer_flag`. */
	__u32 flags;
	__u32 padding;
};

enum peer_flag {
	/* They may be probed, and may probe. */
	IS_PEER = 1,
	/* They are sent INT without a lease. */
	SENT_ALWAYS = 2,
	/* INT is removed from their packets without a lease. */
	ENDED_ALWAYS = 4,
};

/* The proof that the destination of a flow removes INT. Times are of the monotonic clock, nanoseconds. */
struct proof {
	/* INT is started until this time. */
	__u64 until;
	/* From this time on the flow's packets raise events, so that the agent probes again. */
	__u64 renew_at;
	/* When such an event was last raised. */
	__u64 told;
	/* The largest packet that was proven, bytes of IP. */
	__u32 mtu;
	__u32 padding;
};

/* A flow whose packets the agent awaits at the ingress. */
struct witness {
	struct flow flow;
	/* The device the flow's probe came in by. */
	__u32 device;
	/* Whether a packet of the flow has arrived there since. */
	__u32 seen;
};

/* `abi.rs` asserts the same sizes. */
_Static_assert(sizeof(struct config) == 72, "size of struct config");
_Static_assert(sizeof(struct volume) == 16, "size of struct volume");
_Static_assert(sizeof(struct peer) == 8, "size of struct peer");
_Static_assert(sizeof(struct proof) == 32, "size of struct proof");
_Static_assert(sizeof(struct witness) == 56, "size of struct witness");
_Static_assert(sizeof(struct collector) == 20, "size of struct collector");
_Static_assert(sizeof(struct rule) == 12, "size of struct rule");
_Static_assert(sizeof(struct flow) == 48, "size of struct flow");
_Static_assert(sizeof(struct rules) == 32 + 12 * MAX_RULES + 20 * MAX_COLLECTORS, "size of struct rules");
_Static_assert(sizeof(struct event) == 32 + EVENT_BYTES, "size of struct event");
