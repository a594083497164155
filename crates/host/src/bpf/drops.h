/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Structures shared by the drop program and the agent; `drops/abi.rs` defines them in Rust. */
#pragma once

#include "intf.h"

/* The policy for a reason of the kernel, a bit each. */
enum policy {
	/* Nothing was lost. */
	NOT_LOST = 1,
	/* A classifier dropped it, as the sink does to a packet whose D bit is set. */
	BY_CLASSIFIER = 2,
	/* The kernel gives no reason. */
	WITHOUT_REASON = 4,
};

/* Reasons of the kernel's core that have a policy. */
#define MAX_REASONS 512

/* The agent's settings. */
struct drop_settings {
	/* How packets of this host carry INT, and the offset of its clock. */
	struct config config;
	/* Drops are counted in the tables of this generation; the agent empties those of earlier ones. */
	__u32 generation;
	/* Whether counting has ended: a copy of the link's descriptor may keep the program attached. */
	__u32 is_over;
};

/* The key of a count. */
struct drop_key {
	struct flow flow;
	/* The kernel's number of the reason, which differs between kernels. */
	__u32 reason;
	/* Interface index of the device the packet was at; 0: none. */
	__u32 device;
	__u32 generation;
	/* Whether the packet's TTL or hop limit was used up, which tells this from an invalid header. */
	__u16 ttl_used_up;
	/* The error number of the packet's route, as of a blackhole; 0: none. */
	__u16 route_error;
	/* Inode of the network namespace that dropped it; interface indexes are those of this namespace. */
	__u32 namespace;
	__u32 padding;
};

/* A count. */
struct drop_count {
	__u64 packets;
	/* As `packets`, with the segments of a packet that is several in one. */
	__u64 segments;
	/* Bytes of IP. */
	__u64 bytes;
	/* Nanoseconds of the agent's clock. */
	__u64 first;
	__u64 last;
};

/* Maximum bytes of a dropped packet that a sample carries. */
#define SAMPLE_BYTES 240

/* The first packet of a count. */
struct drop_sample {
	__u64 time;
	/* The address in the kernel's code where it was dropped. */
	__u64 location;
	__u32 reason;
	/* Interface indexes of the device it was at, and of the one it came in by; 0: none. */
	__u32 device;
	__u32 ingress_device;
	/* Bytes of IP, and how many of them are in `bytes`. */
	__u32 length;
	__u32 captured;
	/* As in the key. */
	__u16 ttl_used_up;
	__u16 route_error;
	__u32 namespace;
	__u32 padding;
	__u8 bytes[SAMPLE_BYTES];
};

/* The outcome for a dropped packet; each packet counts once, and its sample in addition. */
enum drop_outcome {
	DROP_COUNTED,
	DROP_NOT_LOST,
	DROP_ELSEWHERE,
	DROP_NOWHERE,
	DROP_NOT_IP,
	DROP_MALFORMED,
	DROP_NOT_WATCHED,
	DROP_NOT_HELD,
	DROP_SAMPLED,
	DROP_SAMPLE_LOST,
	DROP_STRANGER,
	DROP_OUTCOMES,
};

_Static_assert((int)DROP_OUTCOMES <= (int)OUTCOMES, "both share the counters' map");
_Static_assert(sizeof(struct drop_settings) == sizeof(struct config) + 8, "size of struct drop_settings");
_Static_assert(sizeof(struct drop_key) == 72, "size of struct drop_key");
_Static_assert(sizeof(struct drop_count) == 40, "size of struct drop_count");
_Static_assert(SAMPLE_BYTES <= 256 - 14, "a sample is the head without Ethernet");
_Static_assert(sizeof(struct drop_sample) == 48 + SAMPLE_BYTES, "size of struct drop_sample");
