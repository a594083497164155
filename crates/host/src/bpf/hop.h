/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* This host's metadata of a packet. */
#pragma once

#include "int.h"

/* The values of this host for one packet. */
struct hop {
	__u64 ingress_timestamp;
	__u64 egress_timestamp;
	__u32 queue;
	/* Whether the packet may still wait in the host's queue, so that its latency is not known. */
	__u32 may_wait;
};

/* Where the next metadata goes; `at` is an offset below 64. */
struct writer {
	__u8 *out;
	__u32 at;
};

static __always_inline void put32(struct writer *writer, __u32 value)
{
	__u32 at = writer->at;

	asm volatile("" : "+r"(at));
	*(__be32 *)(writer->out + (at & 0x3f)) = bpf_htonl(value);
	writer->at += sizeof(value);
}

static __always_inline void put64(struct writer *writer, __u64 value)
{
	put32(writer, value >> 32);
	put32(writer, value);
}

/* Writes the metadata of one hop in the order of the instructions. */
static __always_inline void write_hop(__u8 *out, const struct config *config, const struct hop *hop)
{
	struct writer writer = { .out = out };
	__u16 asked = config->instructions;

	if (asked & NODE_ID)
		put32(&writer, config->node_id);
	if (asked & INTERFACES)
		put32(&writer, (__u32)config->ingress_interface << 16 | config->egress_interface);
	if (asked & HOP_LATENCY)
		put32(&writer, hop->may_wait ? NOT_AVAILABLE : hop->egress_timestamp - hop->ingress_timestamp);
	if (asked & QUEUE_OCCUPANCY)
		put32(&writer, hop->queue);
	if (asked & INGRESS_TIMESTAMP)
		put64(&writer, hop->ingress_timestamp);
	if (asked & EGRESS_TIMESTAMP)
		put64(&writer, hop->egress_timestamp);
	if (asked & LEVEL2_INTERFACES) {
		put32(&writer, config->ingress_interface_level2);
		put32(&writer, config->egress_interface_level2);
	}
	if (asked & EGRESS_UTILIZATION)
		put32(&writer, config->egress_utilization);
	if (asked & BUFFER_OCCUPANCY)
		put32(&writer, NOT_AVAILABLE);
	if (asked & CHECKSUM_COMPLEMENT)
		put32(&writer, NOT_AVAILABLE);
}
