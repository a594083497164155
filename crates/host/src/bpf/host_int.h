/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Host-INT on the wire: INT 0.5 with a type of its own and a sequence number for each packet of a flow. */
#pragma once

#include "hop.h"

/* One hop of 0.5 with the instructions of Host-INT. */
struct host_int_hop {
	__be32 node_id;
	__be16 ingress_interface;
	__be16 egress_interface;
	__be32 ingress_timestamp;
	__be32 egress_timestamp;
};

/* The packet's fields before INT; zeros where its own L4 header comes first. */
struct host_int_tail {
	__u8 protocol;
	__u8 destination_port[2];
	__u8 reserved;
};

/* All that a source inserts. */
struct host_int {
	__u8 type;
	__u8 reserved;
	/* Words of all of this, the shim included. */
	__u8 length;
	__u8 reserved2;
	/* Version, 4 bits; replication, 2 bits; C and E. */
	__u8 version_flags;
	/* Reserved, 3 bits; Instruction Count, 5 bits. */
	__u8 instruction_count;
	__u8 max_hop_count;
	__u8 total_hop_count;
	__be16 instructions;
	__be16 reserved3;
	struct host_int_hop hop;
	__be32 sequence;
	struct host_int_tail tail;
};

_Static_assert(sizeof(struct host_int) == 36, "Host-INT is nine words");

#define HOST_INT_TYPE 3
/* The words behind the shim of a source's packet. */
#define HOST_INT_WORDS ((sizeof(struct host_int) - sizeof(struct shim)) / 4)
/* Shim and header. */
#define HOST_INT_FIXED_WORDS 3
/* Node id, interfaces, and both timestamps. */
#define HOST_INT_INSTRUCTIONS (NODE_ID | INTERFACES | INGRESS_TIMESTAMP | EGRESS_TIMESTAMP)
#define HOST_INT_MAX_HOPS 2
#define INSTRUCTION_COUNT 0x1f
#define FLAG_COPY 0x02

/* Writes what a source inserts; its one interface and one time of a packet are written twice. */
static __always_inline void write_host_int(__u8 *out, const struct config *config, const struct hop *hop,
					   __u32 number, __u8 protocol)
{
	struct host_int *host = (struct host_int *)out;

	__builtin_memset(host, 0, sizeof(*host));
	host->type = HOST_INT_TYPE;
	host->length = sizeof(*host) / 4;
	host->instruction_count = sizeof(host->hop) / 4;
	host->max_hop_count = HOST_INT_MAX_HOPS;
	host->total_hop_count = 1;
	host->instructions = bpf_htons(HOST_INT_INSTRUCTIONS);
	host->hop.node_id = bpf_htonl(config->node_id);
	host->hop.ingress_interface = bpf_htons(config->ingress_interface);
	host->hop.egress_interface = host->hop.ingress_interface;
	host->hop.ingress_timestamp = bpf_htonl((__u32)hop->ingress_timestamp);
	host->hop.egress_timestamp = host->hop.ingress_timestamp;
	host->sequence = bpf_htonl(number);
	host->tail.protocol = protocol;
}

/* Whether lengths, counts and bitmap agree; a report's has no tail. Reserved bits are not checked. */
static __always_inline int is_host_int(const struct host_int *host)
{
	__u32 count = host->instruction_count & INSTRUCTION_COUNT;
	__u32 words = HOST_INT_FIXED_WORDS + host->total_hop_count * count + 1;

	if (host->type != HOST_INT_TYPE || host->version_flags >> 4)
		return 0;
	if (!count || count != count_bits(bpf_ntohs(host->instructions)))
		return 0;
	return host->length == words || host->length == words + 1;
}
