/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What does every program need? Counters, and memory for the packet at hand. */
#pragma once

#include "intf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OUTCOMES);
	__type(key, __u32);
	__type(value, __u64);
} COUNTERS SEC(".maps");

/* The start of the packet at hand, too large for the stack. */
#define HEAD_BYTES 256

struct scratch {
	__u8 head[2 * HEAD_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} SCRATCH SEC(".maps");

static __always_inline void count_many(__u32 outcome, __u64 packets)
{
	__u64 *counter = bpf_map_lookup_elem(&COUNTERS, &outcome);

	if (counter)
		*counter += packets;
}

static __always_inline void count(__u32 outcome)
{
	count_many(outcome, 1);
}

static __always_inline __u8 *scratch_head(void)
{
	__u32 zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&SCRATCH, &zero);

	return scratch ? scratch->head : 0;
}
