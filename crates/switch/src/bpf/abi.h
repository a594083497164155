/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The structures shared by the programs and the switch; `kernel/abi.rs` defines them in Rust. */
#pragma once

#include <linux/types.h>

/* The settings of the programs; the only entry of its map. */
struct config {
	/* Nanoseconds from the monotonic clock to the time of day. */
	__u64 clock_offset;
	/* The marker before INT, in domains that use probe markers. */
	__u64 probe_marker;
	__u32 node_id;
	/* The mark on packets from the engine. */
	__u32 engine_mark;
	/* Index of the device that leads to the engine. */
	__u32 engine_device;
	/* Of `enum config_flag`. */
	__u32 flags;
	__u16 udp_port;
	__u16 gre_protocol;
	__u16 geneve_classes[2];
	__u8 dscp;
	__u8 dscp_mask;
	__u8 vxlan_gpe_next_protocols[4];
	/* Of `enum kind`. */
	__u16 kind;
};

enum config_flag {
	/* Packets that come in at an edge may get INT. */
	STARTS_INT = 1,
	/* The engine handles every packet. */
	ALL_TO_ENGINE = 2,
	/* The engine does all INT. */
	INT_TO_ENGINE = 4,
	/* The engine keeps checksums valid by the complement. */
	KEEPS_COMPLEMENT = 8,
	/* INT precedes the TCP options. */
	BEFORE_TCP_OPTIONS = 16,
	/* The engine makes room for INT where the MTU leaves none. */
	RELIEVES = 32,
	/* No interface is an edge. */
	ONLY_TRANSIT = 64,
};

/* How the domain marks packets with INT. */
enum kind {
	KIND_DSCP = 0,
	KIND_UDP = 1,
	KIND_GRE = 2,
	KIND_VXLAN_GPE = 3,
	KIND_GENEVE = 4,
	KIND_PROBE_MARKER = 5,
};

/* An interface, by the index of its device. */
struct port {
	__u32 level2_id;
	__u32 mtu;
	/* Its position among the interfaces. */
	__u32 number;
	__u16 id;
	/* Whether the engine does all INT: at an edge, and where packets may not arrive with it. */
	__u16 is_edge;
	/* Of the device. */
	__u8 address[6];
	/* Of `enum port_flag`. */
	__u16 flags;
	/* Of the device: the longest IP packet that Linux sends by it. */
	__u32 device_mtu;
	/* The smallest `device_mtu` of all interfaces; 0: packets by this device are never longer. */
	__u32 narrowest;
	/* Index of the device. */
	__u32 device;
};

/* Which packets bypass the stack. */
enum port_flag {
	/* Those that come in by the device. */
	FORWARDS_FROM = 1,
	/* Those that leave by it. */
	FORWARDS_TO = 2,
};

/* The header before a frame for the engine, in place of its Ethernet header. */
struct handed {
	__u8 destination[6];
	__u8 source[6];
	__be16 ethertype;
	__u16 magic;
	/* Indexes of the devices; 0: no device of the switch. */
	__u32 ingress;
	__u32 egress;
	/* Nanoseconds since 1970; 0: unknown. */
	__u64 came_at;
	/* Occupancy of the queue it would have entered, bytes; all ones: unknown. */
	__u32 queue;
	/* Whether it may have to wait in that queue. */
	__u32 may_wait;
};

_Static_assert(sizeof(struct config) == 48, "as in abi.rs");
_Static_assert(sizeof(struct port) == 36, "as in abi.rs");
_Static_assert(sizeof(struct handed) == 40, "as in abi.rs");

#define HANDED_ETHERTYPE 0x88b5
#define HANDED_MAGIC 0x4e49

/* The counters of each interface: incoming packets, then outgoing packets. */
enum count {
	RECEIVED_PACKETS,
	RECEIVED_BYTES,
	SENT_PACKETS,
	SENT_BYTES,
	TO_ENGINE,
	FROM_ENGINE,
	/* Not passed to the engine: the packet left unchanged, or, with INT at an edge, did not leave. */
	NOT_HANDED,
	NOT_HANDED_DROPPED,
	PUSHED,
	HOPS_EXCEEDED,
	MTU_EXCEEDED,
	/* The kernel had no room for the metadata: the packet left as it was. */
	NO_HEADROOM,
	/* Packets that bypassed the stack; they are also counted by outcome. */
	FORWARDED,
	/* INT beside these packets could not be put back: they left without
	 * it, or, if they are not whole without INT, were dropped. */
	LEFT_WITHOUT,
	LOST_INT,
	/* These packets are not whole without INT, and with it too long
	 * for an interface that is not an edge: they were dropped. */
	TOO_LONG,
	/* They are marked, but what follows is no INT: they left unchanged. */
	MALFORMED,
	COUNTS = 24,
};

#define MAX_PORTS 1024
/* Devices whose interfaces are found without a hash. */
#define MAX_NEAR 1024

/* Of `enum tcx_action_base`, which older headers of the kernel do not have. */
#define TCX_NEXT -1
#define TCX_DROP 2
