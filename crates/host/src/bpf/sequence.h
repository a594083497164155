/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The sequence number of a packet in its flow. */
#pragma once

#include "flow.h"

/* As many flows as Host-INT itself numbers; an evicted flow begins again at 1. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct flow);
	__type(value, __u32);
} SEQUENCES SEC(".maps");

/* The number of the flow's last packet. */
static __always_inline __u32 *latest_number(const struct flow *flow)
{
	__u32 none = 0, *number = bpf_map_lookup_elem(&SEQUENCES, flow);

	if (number)
		return number;
	bpf_map_update_elem(&SEQUENCES, flow, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&SEQUENCES, flow);
}

/* The number of the current packet, from 1 on. */
static __always_inline __u32 take_number(const struct flow *flow)
{
	__u32 *number = latest_number(flow);

	return number ? __sync_fetch_and_add(number, 1) + 1 : 1;
}

/* Returns the number of a packet that does not carry it after all: a missing one would look like a loss. */
static __always_inline void give_back_number(const struct flow *flow)
{
	__u32 *number = bpf_map_lookup_elem(&SEQUENCES, flow);

	if (number)
		__sync_fetch_and_add(number, -1);
}
