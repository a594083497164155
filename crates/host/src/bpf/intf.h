/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What do the programs in the kernel and the agent tell each other? `abi.rs` says the same in Rust. */
#pragma once

#include <linux/types.h>

/* Where INT goes: `encapsulation.kind`. */
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

/* INT by way of one device, worked out by the agent. Numbers are in the host's byte order. */
struct config {
	__u32 node_id;
	/* Interface identifiers of level 1: from where and to where a source's packets go. */
	__u16 ingress_interface;
	__u16 egress_interface;
	/* Interface identifiers of level 2, all ones: not available. */
	__u32 ingress_interface_level2;
	__u32 egress_interface_level2;
	/* What is added to the monotonic clock, nanoseconds. */
	__u64 clock_offset;
	/* Utilization of the egress interface, all ones: not available. */
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
	/* Whether the checksum complement makes up for what changed. */
	__u8 complement;
	/* What a source writes. */
	__u8 version;
	/* Where steered packets enter, and where instrumented ones leave: interface indexes. */
	__u32 shim_in;
	__u32 shim_out;
	__u32 device;
	/* Longest time between two events of a flow, microseconds; 0: an event for every packet. */
	__u32 interval_us;
	/* Bytes that INT may add to a segment on its whole way. */
	__u32 room;
	/* Whether one packet of a flow gets INT in each interval; 0: all do. */
	__u32 slices;
};

/* What happened to a packet; each counts once in its program. */
enum outcome {
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
	FOLLOWED,
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
	SHIM_FULL,
	OUTCOMES,
};

/* Most of a packet that an event carries, bytes: headers and INT. */
#define EVENT_BYTES 512

/* What the counters of watched traffic count: all of it, and what of it left with INT. */
enum traffic {
	WATCHED,
	WITH_INT,
	TRAFFICS,
};

/* How much traffic there was, in IP bytes without INT. */
struct volume {
	__u64 packets;
	__u64 bytes;
};

/* Why the agent hears of a packet. */
enum event_kind {
	/* It came with INT and is about to lose it. */
	EVENT_ARRIVED = 0,
	/* It leaves, and this host reports of it. */
	EVENT_LEAVES = 1,
	/* It leaves, and its flow has no proof that the destination removes INT, or one that ends soon. */
	EVENT_UNPROVEN = 2,
	/* It was a probe of another agent; INT is removed from it, and the host does not get it. */
	EVENT_PROBE = 3,
	/* It was the answer of another agent about a flow of a container, and the container does not get it. */
	EVENT_ANSWER = 4,
};

/* A packet that came out of the domain, or into it, and is worth a report. */
struct event {
	/* When it was seen, nanoseconds of the agent's clock. */
	__u64 time;
	/* Bytes in the packet, and of them in `bytes`. */
	__u32 length;
	__u32 captured;
	/* The interface it was seen on. */
	__u32 device;
	/* `enum event_kind`. */
	__u32 kind;
	/* Queue id and occupancy as metadata, of what leaves; all ones: not available. */
	__u32 queue;
	/*
	 * The largest packet that passes to the destination, as far as is known, of what has no proof; of a probe how many
	 * packets with INT were counted of its flow.
	 */
	__u32 mtu;
	__u8 bytes[EVENT_BYTES];
};

/* Most rules of the watchlist: one bit each in the prefix maps. */
#define MAX_RULES 64

/* What a rule asks beside its prefixes. */
struct rule {
	/* IP protocol. */
	__u8 protocol;
	__u8 any_protocol;
	/* Whether ports are asked for, which only TCP and UDP have. */
	__u8 ports;
	/* Whether what matches is as if it were on no list. */
	__u8 except;
	__u16 source_first;
	__u16 source_last;
	__u16 destination_first;
	__u16 destination_last;
};

/* Most collectors whose reports are never watched. */
#define MAX_COLLECTORS 8

/* Where reports go: what is sent there over UDP is not watched. */
struct collector {
	__u8 address[16];
	__be16 port;
	__u16 padding;
};

/* Rules that any address satisfies, and how many rules there are. */
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
	/* Whether they remove INT without being asked, and send it without asking. */
	__u32 is_permanent;
	__u32 padding;
};

/* The proof that the destination of a flow removes INT. Times are of the monotonic clock, nanoseconds. */
struct proof {
	/* INT is started until then. */
	__u64 until;
	/* From then on the agent is told, so that it probes again. */
	__u64 renew_at;
	/* When it was last told. */
	__u64 told;
	/* The largest packet that was proven, bytes of IP. */
	__u32 mtu;
	__u32 padding;
};

/* A flow whose packets the agent waits for at the ingress. */
struct witness {
	struct flow flow;
	/* The device the flow's probe came in by. */
	__u32 device;
	/* Whether a packet of the flow has come in by it since. */
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
