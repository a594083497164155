/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The structures shared by the drop program and the switch; `kernel/drops.rs` defines them in Rust. */
#pragma once

#include <linux/types.h>

#define MAX_PORTS 1024
/* Reasons of the kernel's core. */
#define MAX_REASONS 512
/* Combinations of interface and reason. */
#define MAX_COUNTS 8192
/* Maximum bytes of a dropped packet that a sample carries. */
#define SAMPLE_BYTES 240

/* The switch's settings. */
struct drop_settings {
	/* Nanoseconds from the monotonic clock to the time of day. */
	__u64 clock_offset;
	/* Inode of the network namespace. */
	__u32 namespace;
	/* Whether counting has ended: a copy of the link's descriptor may keep the program attached. */
	__u32 is_over;
};

/* The key of a count. */
struct drop_key {
	/* Index of the device the packet came in by; of the host's own packets, where it was dropped. */
	__u32 device;
	/* The kernel's number of the reason. */
	__u32 reason;
};

/* A dropped packet, from its IP header on. */
struct drop_sample {
	__u64 time;
	__u32 reason;
	/* Indexes of the device it came in by, and of the one where it was dropped; 0: none. */
	__u32 ingress;
	__u32 device;
	/* The error number of its route, as of a blackhole; 0: none. */
	__u32 route_error;
	__u32 captured;
	__u32 padding;
	__u8 bytes[SAMPLE_BYTES];
};

/* Failures that are counted. */
enum drop_fault {
	DROP_NOT_TOLD,
	DROP_NOT_COUNTED,
	DROP_FAULTS,
};

_Static_assert(sizeof(struct drop_settings) == 16, "as in drops.rs");
_Static_assert(sizeof(struct drop_key) == 8, "as in drops.rs");
_Static_assert(sizeof(struct drop_sample) == 32 + SAMPLE_BYTES, "as in drops.rs");
