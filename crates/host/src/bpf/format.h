/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* INT 2.1 on the wire. */
#pragma once

#include <linux/types.h>
#include <bpf/bpf_endian.h>

/* The shim in front of an INT header. */
struct shim {
	/* Type, 4 bits; Next Protocol Type, 2 bits; reserved. */
	__u8 type_npt;
	/* Words behind the shim. */
	__u8 length;
	/* The original UDP port, IP protocol or DSCP. */
	__be16 original;
};

/* The header of INT-MD and, without the third and fourth byte, of INT-MX. */
struct int_header {
	__u8 version_flags;
	__u8 reserved;
	__u8 hop_ml;
	__u8 remaining_hop_count;
	__be16 instructions;
	__be16 domain_specific_id;
	__be16 ds_instruction;
	__be16 ds_flags;
};

_Static_assert(sizeof(struct shim) == 4, "a shim is one word");
_Static_assert(sizeof(struct int_header) == 12, "an INT header is three words");

/* The reserved bits of `original` where it is a DSCP. */
#define RESERVED_BESIDE_DSCP 0xff03

/* Whether the shim is exactly as a source writes it behind a DSCP: NPT 0, and reserved bits zero. */
static __always_inline int is_exact(const struct shim *shim)
{
	return !(shim->type_npt & 0x0f) && !(shim->original & bpf_htons(RESERVED_BESIDE_DSCP));
}

#define GENEVE_PORT 6081
#define GTPU_PORT 2152

/* Whether the header of the tunnel to this port may begin like a shim, whose mark is copied from inside. */
static __always_inline int may_be_tunnel_header(__be16 port)
{
	return port == bpf_htons(GENEVE_PORT) || port == bpf_htons(GTPU_PORT);
}

#define INT_WORDS ((__u32)sizeof(struct int_header) / 4)
#define INT_VERSION 2

enum header_type {
	TYPE_MD = 1,
	TYPE_DESTINATION = 2,
	TYPE_MX = 3,
};

enum next_protocol_type {
	NPT_PAYLOAD = 0,
	NPT_UDP_PAYLOAD = 1,
	NPT_L4_HEADER = 2,
};

#define FLAG_DISCARD 0x08
#define FLAG_HOPS_EXCEEDED 0x04
#define FLAG_MTU_EXCEEDED 0x02
#define HOP_ML 0x1f

/* The instruction bitmap. */
enum instruction {
	NODE_ID = 0x8000,
	INTERFACES = 0x4000,
	HOP_LATENCY = 0x2000,
	QUEUE_OCCUPANCY = 0x1000,
	INGRESS_TIMESTAMP = 0x0800,
	EGRESS_TIMESTAMP = 0x0400,
	LEVEL2_INTERFACES = 0x0200,
	EGRESS_UTILIZATION = 0x0100,
	BUFFER_OCCUPANCY = 0x0080,
	CHECKSUM_COMPLEMENT = 0x0001,
};

/* Instructions that take two words. */
#define LONG_INSTRUCTIONS (INGRESS_TIMESTAMP | EGRESS_TIMESTAMP | LEVEL2_INTERFACES)
#define NOT_AVAILABLE 0xffffffff
/* Maximum words of one hop: all baseline instructions and the checksum complement. */
#define MAX_HOP_WORDS 13

/* The number of bits that are set: first in pairs, then in fours and eights. */
static __always_inline __u32 count_bits(__u16 bits)
{
	__u32 sum = bits;

	sum = sum - (sum >> 1 & 0x5555);
	sum = (sum & 0x3333) + (sum >> 2 & 0x3333);
	sum = (sum + (sum >> 4)) & 0x0f0f;
	return (sum + (sum >> 8)) & 0x1f;
}

/* The words each hop adds for `instructions`. */
static __always_inline __u32 words_of(__u16 instructions)
{
	return count_bits(instructions) + count_bits(instructions & LONG_INSTRUCTIONS);
}
